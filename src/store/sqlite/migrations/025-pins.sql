-- PINs: applications with their rules, templates with their texts, and the PINs that were sent. No PIN is stored: it is worked out of its
-- application's secret and its id.
CREATE TABLE pin_application (
  id TEXT PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES account (id),
  name TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  configuration TEXT NOT NULL, -- JSON
  secret TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX pin_application_of_account ON pin_application (account_id, created_at_ms, id);

CREATE TABLE pin_template (
  id TEXT PRIMARY KEY,
  application_id TEXT NOT NULL REFERENCES pin_application (id),
  body TEXT NOT NULL,
  pin_type TEXT NOT NULL,
  pin_length INTEGER NOT NULL,
  sender TEXT,
  kept TEXT NOT NULL, -- JSON: what the client gets back as it is
  created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX pin_template_of_application ON pin_template (application_id, created_at_ms, id);

CREATE TABLE pin (
  id TEXT PRIMARY KEY,
  application_id TEXT NOT NULL REFERENCES pin_application (id),
  template_id TEXT NOT NULL REFERENCES pin_template (id),
  number TEXT NOT NULL,
  pin_type TEXT NOT NULL,
  pin_length INTEGER NOT NULL,
  sender TEXT,
  placeholders TEXT NOT NULL, -- JSON
  attempts INTEGER NOT NULL DEFAULT 0, -- how often it was looked at
  created_at_ms INTEGER NOT NULL,
  sent_at_ms INTEGER,
  expires_at_ms INTEGER NOT NULL,
  verified_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX pin_of_number ON pin (application_id, number, created_at_ms);
CREATE INDEX pin_by_end ON pin (expires_at_ms);

-- How often something was done lately: PINs sent by an application (with no number) and to a number, and verifications of a number.
CREATE TABLE pin_count (
  application_id TEXT NOT NULL REFERENCES pin_application (id),
  kind TEXT NOT NULL CHECK (kind IN ('send', 'verify')),
  number TEXT NOT NULL,
  events TEXT NOT NULL, -- JSON (pins/rate.ts)
  until_ms INTEGER NOT NULL, -- from when on it counts no more
  PRIMARY KEY (application_id, kind, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX pin_count_by_end ON pin_count (until_ms);

-- What the carrier gets of a message whose text must not be read, until its end: `body` has it masked.
ALTER TABLE message ADD COLUMN secret_body TEXT;
