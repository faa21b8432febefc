-- What happened on the way, for people: an explanation, not the truth. Rows are appended and leave by their age.
CREATE TABLE trace (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  subject TEXT NOT NULL, -- what it is about: a message, a report, a request (runtime/trace.ts)
  at_ms INTEGER NOT NULL,
  kind TEXT NOT NULL,
  detail TEXT NOT NULL -- JSON
) STRICT;
CREATE INDEX trace_of_subject ON trace (subject, at_ms);
-- Ids do not follow time: a clock may have been ahead.
CREATE INDEX trace_by_time ON trace (at_ms);
