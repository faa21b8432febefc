-- The receipts that a commit has applied, as short names, so that one that comes again is known (commands/receipts/repeats.ts).
CREATE TABLE settled_receipt (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  name_count INTEGER NOT NULL,
  names TEXT NOT NULL
) STRICT;
