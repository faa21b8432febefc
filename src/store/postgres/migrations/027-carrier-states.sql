-- How each node stands with its carriers, as it last said (JSON).
CREATE TABLE carrier_state (
  epoch bigint PRIMARY KEY,
  node text NOT NULL, -- for people: host and process
  body text NOT NULL,
  seen_ms bigint NOT NULL
);
-- How often operators have asked that a carrier's connections are tried at once. Whoever serves it and finds the number grown does so.
CREATE TABLE carrier_reconnect (
  carrier_id text PRIMARY KEY,
  times bigint NOT NULL
);
