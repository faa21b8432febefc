-- What carriers call the messages from phones that they gave us: one that comes again is no second message. Kept for some days (commands/incoming.ts).
CREATE TABLE incoming_id (
  carrier_id TEXT NOT NULL,
  id TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (carrier_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX incoming_id_by_age ON incoming_id (at_ms);
