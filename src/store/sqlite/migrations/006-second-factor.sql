-- A session belongs to one of the account's users. Of an account with several nobody knows whose it was: they log in again.
ALTER TABLE session ADD COLUMN username TEXT;
UPDATE session SET username = (SELECT username FROM login WHERE login.account_id = session.account_id)
  WHERE (SELECT count(*) FROM login WHERE login.account_id = session.account_id) = 1;
DELETE FROM session WHERE username IS NULL;
-- 1: opened with a second factor. Once one is in force, other sessions are good for nothing.
ALTER TABLE session ADD COLUMN with_factor INTEGER NOT NULL DEFAULT 0;
CREATE INDEX session_of_user ON session (username);

-- A user's second factor. It is in force once the user has shown a first code.
CREATE TABLE second_factor (
  username TEXT PRIMARY KEY REFERENCES login (username),
  secret TEXT NOT NULL,
  begun_at_ms INTEGER NOT NULL,
  confirmed_at_ms INTEGER, -- NULL: not in force yet
  last_step INTEGER NOT NULL DEFAULT 0 -- the last time step of which a code was taken: none is taken twice
) STRICT, WITHOUT ROWID;
-- One row for each recovery code that was not used yet.
CREATE TABLE recovery_code (
  username TEXT NOT NULL REFERENCES login (username),
  code_hash TEXT NOT NULL,
  PRIMARY KEY (username, code_hash)
) STRICT, WITHOUT ROWID;

-- Logins, which come much more often than changes, and leave after a while: the audit itself never does.
CREATE TABLE login_event (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  actor TEXT NOT NULL,
  address TEXT,
  action TEXT NOT NULL CHECK (action IN ('open', 'wrongCode', 'wait')),
  subject TEXT NOT NULL,
  parent_id INTEGER, -- the reseller whose client it is about, who may read it too
  after TEXT
) STRICT;
CREATE INDEX login_event_by_age ON login_event (at_ms);
CREATE INDEX login_event_of_subject ON login_event (subject, id);
CREATE INDEX login_event_of_actor ON login_event (actor, id);
CREATE INDEX login_event_of_parent ON login_event (parent_id, id) WHERE parent_id IS NOT NULL;
