-- How each node stands with its carriers, as it last said (JSON).
CREATE TABLE carrier_state (
  epoch INTEGER PRIMARY KEY,
  node TEXT NOT NULL, -- for people: host and process
  body TEXT NOT NULL,
  seen_ms INTEGER NOT NULL
) STRICT;
-- How often operators have asked that a carrier's connections are tried at once. Whoever serves it and finds the number grown does so.
CREATE TABLE carrier_reconnect (
  carrier_id TEXT PRIMARY KEY,
  times INTEGER NOT NULL
) STRICT;
