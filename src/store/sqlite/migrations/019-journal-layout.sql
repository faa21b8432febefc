-- Which columns the rows of an entry have, and in which order, as JSON by table. Entries of before have 0, and one order (sqlite/journal.ts).
CREATE TABLE journal_layout (
  id INTEGER PRIMARY KEY,
  columns TEXT NOT NULL UNIQUE
) STRICT;
ALTER TABLE journal ADD COLUMN layout INTEGER NOT NULL DEFAULT 0;
