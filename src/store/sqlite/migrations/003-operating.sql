-- What an operator sets of an account beyond what it began with. `version` grows with every change, so that two operators do not overwrite
-- each other without knowing.
ALTER TABLE account ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE account ADD COLUMN allowed_senders TEXT; -- JSON; NULL: any
ALTER TABLE account ADD COLUMN allowed_addresses TEXT; -- JSON: networks from which it may be used; NULL: any
ALTER TABLE account ADD COLUMN limits TEXT NOT NULL DEFAULT '{}'; -- JSON: its own, where they differ from the service's
ALTER TABLE account ADD COLUMN alert_below_micros INTEGER;
ALTER TABLE account ADD COLUMN alert_url TEXT;
ALTER TABLE account ADD COLUMN retired_at_ms INTEGER;
CREATE INDEX account_of_parent ON account (parent_id, key);
CREATE INDEX login_of_account ON login (account_id);
CREATE INDEX session_of_account ON session (account_id);
ALTER TABLE api_key ADD COLUMN scopes TEXT; -- JSON; NULL: all that the account may do
ALTER TABLE catalogue_item ADD COLUMN version INTEGER NOT NULL DEFAULT 1;

-- For statements: a charge comes from an account's purse, a refund goes to one, funds do either.
CREATE INDEX posting_from ON posting (from_purse, at_ms, id) WHERE kind <> 'refund';
CREATE INDEX posting_to ON posting (to_purse, at_ms, id) WHERE kind <> 'charge';

-- Every change that somebody made: who, when, from where, and what was there before and after, as JSON.
CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  actor TEXT NOT NULL,
  address TEXT,
  action TEXT NOT NULL,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  parent_id INTEGER, -- the reseller whose client it is about, who may read it too
  before TEXT,
  after TEXT
) STRICT;
CREATE INDEX audit_of_subject ON audit (kind, subject, id);
CREATE INDEX audit_of_actor ON audit (actor, id);
CREATE INDEX audit_of_parent ON audit (parent_id, id) WHERE parent_id IS NOT NULL;
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;

-- Reports may be alerts now: that an account's money runs out. SQLite has no way to change a check but to make the table anew.
CREATE TABLE report_with_alerts (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('delivery', 'incoming', 'alert')),
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
  tried INTEGER NOT NULL DEFAULT 0 -- it may have been sent without a trace: by a process that died, or as a dead letter
) STRICT;
INSERT INTO report_with_alerts (id, kind, account_id, url, content_type, items, attempts, due_at_ms, held_by, after_id, dead_at_ms, reason, history, tried)
  SELECT id, kind, account_id, url, content_type, items, attempts, due_at_ms, held_by, after_id, dead_at_ms, reason, history, tried FROM report;
DROP TABLE report;
ALTER TABLE report_with_alerts RENAME TO report;
CREATE INDEX report_due ON report (due_at_ms, id) WHERE held_by IS NULL AND after_id IS NULL AND dead_at_ms IS NULL;
CREATE INDEX report_dead ON report (id) WHERE dead_at_ms IS NOT NULL;
CREATE INDEX report_held ON report (held_by) WHERE held_by IS NOT NULL;
CREATE INDEX report_after ON report (after_id) WHERE after_id IS NOT NULL;
