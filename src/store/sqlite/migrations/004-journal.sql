-- What a commit has changed of messages, their parts, reports and postings, as JSON, until it is in their tables (sqlite/tables.ts).
CREATE TABLE journal (
  seq INTEGER PRIMARY KEY,
  changes TEXT NOT NULL
) STRICT;
