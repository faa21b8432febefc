-- PINs: applications with their rules, templates with their texts, and the PINs that were sent. No PIN is stored: it is worked out of its
-- application's secret and its id.
CREATE TABLE pin_application (
  id text PRIMARY KEY,
  account_id bigint NOT NULL REFERENCES account (id),
  name text NOT NULL,
  enabled integer NOT NULL,
  configuration text NOT NULL, -- JSON
  secret text NOT NULL,
  created_at_ms bigint NOT NULL
);
CREATE INDEX pin_application_of_account ON pin_application (account_id, created_at_ms, id);

CREATE TABLE pin_template (
  id text PRIMARY KEY,
  application_id text NOT NULL REFERENCES pin_application (id),
  body text NOT NULL,
  pin_type text NOT NULL,
  pin_length integer NOT NULL,
  sender text,
  kept text NOT NULL, -- JSON: what the client gets back as it is
  created_at_ms bigint NOT NULL
);
CREATE INDEX pin_template_of_application ON pin_template (application_id, created_at_ms, id);

CREATE TABLE pin (
  id text PRIMARY KEY,
  application_id text NOT NULL REFERENCES pin_application (id),
  template_id text NOT NULL REFERENCES pin_template (id),
  number text NOT NULL,
  pin_type text NOT NULL,
  pin_length integer NOT NULL,
  sender text,
  placeholders text NOT NULL, -- JSON
  attempts integer NOT NULL DEFAULT 0, -- how often it was looked at
  created_at_ms bigint NOT NULL,
  sent_at_ms bigint,
  expires_at_ms bigint NOT NULL,
  verified_at_ms bigint
);
CREATE INDEX pin_of_number ON pin (application_id, number, created_at_ms);
CREATE INDEX pin_by_end ON pin (expires_at_ms);

-- How often something was done lately: PINs sent by an application (with no number) and to a number, and verifications of a number.
CREATE TABLE pin_count (
  application_id text NOT NULL REFERENCES pin_application (id),
  kind text NOT NULL CHECK (kind IN ('send', 'verify')),
  number text NOT NULL,
  events text NOT NULL, -- JSON (pins/rate.ts)
  until_ms bigint NOT NULL, -- from when on it counts no more
  PRIMARY KEY (application_id, kind, number)
);
CREATE INDEX pin_count_by_end ON pin_count (until_ms);

-- What the carrier gets of a message whose text must not be read, until its end: `body` has it masked.
ALTER TABLE message ADD COLUMN secret_body text;
