-- What carriers call the messages from phones that they gave us: one that comes again is no second message. Kept for some days (commands/incoming.ts).
CREATE TABLE incoming_id (
  carrier_id text NOT NULL,
  id text NOT NULL,
  at_ms bigint NOT NULL,
  PRIMARY KEY (carrier_id, id)
);
CREATE INDEX incoming_id_by_age ON incoming_id (at_ms);
