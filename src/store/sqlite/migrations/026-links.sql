-- Short links in texts. Each message has codes of its own, so that a click says which. number: which link of the text it is.
CREATE TABLE link (
  code TEXT PRIMARY KEY,
  message_key INTEGER NOT NULL,
  number INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  target TEXT NOT NULL,
  tracking_url TEXT, -- where clicks are told
  clicks INTEGER NOT NULL DEFAULT 0,
  first_click_at_ms INTEGER,
  last_click_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX link_of_message ON link (message_key, number);

-- JSON: the conversion that the client will tell of.
ALTER TABLE message ADD COLUMN conversion TEXT;

-- Reports may be clicks now. SQLite has no way to change a check but to make the table anew.
CREATE TABLE report_with_clicks (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('delivery', 'incoming', 'alert', 'click')),
  account_id INTEGER NOT NULL,
  url TEXT NOT NULL,
  content_type TEXT NOT NULL,
  items TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  due_at_ms INTEGER NOT NULL,
  held_by INTEGER,
  -- Goes out only after this batch, which has an earlier item of one of its messages, is settled.
  after_id INTEGER,
  dead_at_ms INTEGER,
  reason TEXT,
  history TEXT NOT NULL DEFAULT '[]', -- JSON: the last tries
  tried INTEGER NOT NULL DEFAULT 0, -- it may have been sent without a trace: by a process that died, or as a dead letter
  host TEXT -- scheme, name and port of the URL, from its first failure on
) STRICT;
INSERT INTO report_with_clicks (id, kind, account_id, url, content_type, items, attempts, due_at_ms, held_by, after_id, dead_at_ms, reason, history, tried, host)
  SELECT id, kind, account_id, url, content_type, items, attempts, due_at_ms, held_by, after_id, dead_at_ms, reason, history, tried, host FROM report;
DROP TABLE report;
ALTER TABLE report_with_clicks RENAME TO report;
CREATE INDEX report_due ON report (due_at_ms, id) WHERE held_by IS NULL AND after_id IS NULL AND dead_at_ms IS NULL;
CREATE INDEX report_dead ON report (id) WHERE dead_at_ms IS NOT NULL;
CREATE INDEX report_held ON report (held_by) WHERE held_by IS NOT NULL;
CREATE INDEX report_after ON report (after_id) WHERE after_id IS NOT NULL;
CREATE INDEX report_failing ON report (account_id, host, id, due_at_ms) WHERE host IS NOT NULL AND dead_at_ms IS NULL;
CREATE INDEX report_dead_of_host ON report (account_id, host, id) WHERE dead_at_ms IS NOT NULL;
CREATE INDEX report_without_host ON report (id) WHERE host IS NULL AND (attempts > 0 OR dead_at_ms IS NOT NULL);
CREATE INDEX report_dead_of_account ON report (account_id, id) WHERE dead_at_ms IS NOT NULL;
