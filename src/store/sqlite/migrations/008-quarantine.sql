-- What could not be recorded as it was said, kept aside so that it stops nothing else. The oldest rows go (commands/quarantine.ts).
CREATE TABLE quarantine (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  command TEXT NOT NULL,
  subject TEXT NOT NULL, -- a message's key, or whatever else names it
  reason TEXT NOT NULL,
  detail TEXT NOT NULL -- JSON, cut off at a bound
);

-- The other address of a receipt: some carriers swap them.
ALTER TABLE parked_receipt ADD COLUMN other_address TEXT;
