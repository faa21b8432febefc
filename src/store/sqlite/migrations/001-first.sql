-- The first schema. Times are milliseconds since 1970; amounts are millionths of a currency's unit; an unset owner is NULL.

CREATE TABLE account (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('client', 'reseller', 'operator')),
  parent_id INTEGER REFERENCES account (id),
  currency TEXT NOT NULL,
  rate_plan_id TEXT NOT NULL,
  default_sender TEXT,
  credit_limit_micros INTEGER NOT NULL DEFAULT 0 CHECK (credit_limit_micros >= 0),
  callback_secret TEXT NOT NULL,
  old_callback_secret TEXT, -- while one is being changed
  retry_minutes TEXT, -- JSON: how long each retry of a report waits
  suspended INTEGER NOT NULL DEFAULT 0,
  created_at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE login (
  username TEXT PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES account (id),
  password_hash TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
  token_hash TEXT PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES account (id),
  created_at_ms INTEGER NOT NULL,
  used_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_by_age ON session (created_at_ms);

CREATE TABLE api_key (
  key_hash TEXT PRIMARY KEY,
  id TEXT NOT NULL UNIQUE, -- the part of the key that may be seen
  account_id INTEGER NOT NULL REFERENCES account (id),
  name TEXT,
  created_at_ms INTEGER NOT NULL,
  used_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX api_key_of_account ON api_key (account_id, id);

-- Money. A purse is a place where money can be: one for each account, and for each currency 'payments' (the world outside) and
-- 'revenue' (what messages cost). A posting moves an amount from one purse to another, so the purses of a currency always sum to 0.
CREATE TABLE purse (
  id INTEGER PRIMARY KEY,
  account_id INTEGER UNIQUE REFERENCES account (id),
  name TEXT NOT NULL,
  currency TEXT NOT NULL,
  balance_micros INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX purse_of_service ON purse (name, currency) WHERE account_id IS NULL;

CREATE TABLE posting (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('charge', 'refund', 'funds')),
  from_purse INTEGER NOT NULL REFERENCES purse (id),
  to_purse INTEGER NOT NULL REFERENCES purse (id),
  amount_micros INTEGER NOT NULL CHECK (amount_micros > 0),
  -- A charge names the first message and how many parts it pays for; a refund names its message.
  message_key INTEGER,
  part_count INTEGER,
  description TEXT,
  actor_id INTEGER
) STRICT;
CREATE TRIGGER posting_is_not_changed BEFORE UPDATE ON posting BEGIN SELECT RAISE(ABORT, 'postings are append-only'); END;
CREATE TRIGGER posting_is_not_deleted BEFORE DELETE ON posting BEGIN SELECT RAISE(ABORT, 'postings are append-only'); END;

-- What was answered to a request that may come again: by Idempotency-Key ('key') or by the client's own bulkId ('bulk').
CREATE TABLE replay (
  account_id INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('key', 'bulk')),
  token TEXT NOT NULL,
  body_hash TEXT NOT NULL,
  answer TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (account_id, kind, token, body_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX replay_by_age ON replay (at_ms) WHERE kind = 'key';

-- Account 0 is the service's own list.
CREATE TABLE opt_out (
  account_id INTEGER NOT NULL,
  number TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (account_id, number)
) STRICT, WITHOUT ROWID;

-- state: 0 scheduled, 1 queued, 3 submitted, 4 done (2, submitting, is never stored).
CREATE TABLE message (
  key INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL,
  bulk_id TEXT NOT NULL,
  client_message_id TEXT,
  state INTEGER NOT NULL,
  status_id INTEGER NOT NULL,
  error_id INTEGER NOT NULL DEFAULT 0,
  owner INTEGER,
  carrier_id TEXT,
  unknown_count INTEGER NOT NULL DEFAULT 0,
  sender TEXT NOT NULL,
  recipient TEXT NOT NULL,
  body TEXT NOT NULL,
  encoding TEXT NOT NULL,
  part_count INTEGER NOT NULL,
  flash INTEGER NOT NULL,
  price_micros INTEGER NOT NULL, -- for one part
  charged_micros INTEGER NOT NULL, -- for the whole message; 0 when rejected or given back
  currency TEXT NOT NULL,
  notify_url TEXT,
  notify_type TEXT,
  callback_data TEXT,
  intermediate INTEGER NOT NULL,
  due_at_ms INTEGER NOT NULL,
  delivery_window TEXT,
  expires_at_ms INTEGER NOT NULL,
  validity_ms INTEGER NOT NULL, -- from when it may first be sent to its expiry
  received_at_ms INTEGER NOT NULL,
  sent_at_ms INTEGER,
  done_at_ms INTEGER,
  mcc_mnc TEXT,
  -- While submitted: parts without a last word, and the worst word so far (an event of the message's life).
  parts_pending INTEGER NOT NULL DEFAULT 0,
  worst_event TEXT,
  -- The newest report batch with an item of this message; kept only where one message has several reports.
  last_report_id INTEGER,
  -- Where its bulk has a row: the version of the bulk that it has followed.
  bulk_version INTEGER,
  -- Its last report, where it is fetched and not pushed: 0 it waits since pull_at_ms, 1 it was handed out and comes again at pull_at_ms
  -- unless it is confirmed before. NULL: there is none yet, none any more, or it is pushed.
  pull INTEGER,
  pull_at_ms INTEGER,
  -- Its time in the logs, which the client reads as sentAt.
  log_at_ms INTEGER GENERATED ALWAYS AS (coalesce(sent_at_ms, received_at_ms)) VIRTUAL
) STRICT;
CREATE INDEX message_by_time ON message (account_id, log_at_ms);
CREATE INDEX message_of_bulk_by_time ON message (account_id, bulk_id, log_at_ms);
CREATE INDEX message_to_pull ON message (account_id, pull, pull_at_ms) WHERE pull IS NOT NULL;
CREATE INDEX message_to_pull_of_bulk ON message (account_id, bulk_id, pull, pull_at_ms) WHERE pull IS NOT NULL;
-- A message that was rejected does not use up its name: after a top-up it may be sent again.
CREATE UNIQUE INDEX message_named_by_client ON message (account_id, client_message_id)
  WHERE client_message_id IS NOT NULL AND status_id NOT IN (11, 12, 14, 19, 23, 24, 25, 52);
CREATE INDEX message_rejected_by_name ON message (account_id, client_message_id, log_at_ms)
  WHERE client_message_id IS NOT NULL AND status_id IN (11, 12, 14, 19, 23, 24, 25, 52);
CREATE INDEX message_scheduled ON message (due_at_ms, key) WHERE state = 0;
CREATE INDEX message_of_bulk ON message (account_id, bulk_id);
CREATE INDEX message_following_bulk ON message (account_id, bulk_id, state, bulk_version) WHERE bulk_version IS NOT NULL;
CREATE INDEX message_queued ON message (owner, carrier_id, account_id, key) WHERE state = 1;

-- A bulk with messages that wait for their time. store/commands/bulks.ts says how changes of it reach its messages.
CREATE TABLE bulk (
  account_id INTEGER NOT NULL,
  bulk_id TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'paused', 'canceled')),
  send_at_ms INTEGER NOT NULL,
  version INTEGER NOT NULL DEFAULT 0, -- grows with every change that its messages must follow
  moved_version INTEGER NOT NULL DEFAULT 0, -- the one in which send_at_ms was last changed
  holds INTEGER NOT NULL DEFAULT 0, -- 1 when messages came due while it was paused
  sent INTEGER NOT NULL DEFAULT 0, -- 1 when a carrier has taken one of its messages
  turn INTEGER, -- its place among the bulks whose messages have yet to follow
  PRIMARY KEY (account_id, bulk_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX bulk_turn ON bulk (turn) WHERE turn IS NOT NULL;

-- A row for each part that a carrier holds; it goes when the last word about it has come.
CREATE TABLE part (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  carrier_id TEXT NOT NULL,
  carrier_message_id TEXT NOT NULL,
  message_key INTEGER NOT NULL,
  counts INTEGER NOT NULL, -- whether the message waits for this part's receipt
  submitted_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX part_by_carrier_id ON part (carrier_id, carrier_message_id);

-- Receipts that matched no message when they came.
CREATE TABLE parked_receipt (
  id INTEGER PRIMARY KEY,
  carrier_id TEXT NOT NULL,
  carrier_message_id TEXT NOT NULL,
  outcome TEXT NOT NULL,
  error_id INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  mcc_mnc TEXT,
  recipient TEXT
) STRICT;
CREATE INDEX parked_receipt_by_carrier_id ON parked_receipt (carrier_id, carrier_message_id);
CREATE INDEX parked_receipt_by_phone ON parked_receipt (carrier_id, recipient);

-- Report batches that still have to be taken by their receiver. held_by: the node that has it in memory.
CREATE TABLE report (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('delivery', 'incoming')),
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
CREATE INDEX report_due ON report (due_at_ms, id) WHERE held_by IS NULL AND after_id IS NULL AND dead_at_ms IS NULL;
CREATE INDEX report_dead ON report (id) WHERE dead_at_ms IS NOT NULL;
CREATE INDEX report_held ON report (held_by) WHERE held_by IS NOT NULL;
CREATE INDEX report_after ON report (after_id) WHERE after_id IS NOT NULL;

-- Messages that phones sent. account_id: NULL where no number of the catalogue, or no account, has a claim to it.
CREATE TABLE incoming_message (
  key INTEGER PRIMARY KEY,
  carrier_id TEXT NOT NULL,
  account_id INTEGER,
  sender TEXT NOT NULL,
  recipient TEXT NOT NULL,
  body TEXT NOT NULL,
  keyword TEXT,
  part_count INTEGER NOT NULL,
  received_at_ms INTEGER NOT NULL,
  to_fetch INTEGER NOT NULL, -- 1 until whoever fetched it has it for good; what is pushed never waits for that
  fetch_after_ms INTEGER NOT NULL DEFAULT 0 -- until then it is handed out to someone
) STRICT;
CREATE INDEX incoming_to_fetch ON incoming_message (account_id, key) WHERE to_fetch = 1;
CREATE INDEX incoming_unmatched ON incoming_message (key) WHERE account_id IS NULL;

-- The parts of one long message from a phone. 'open': some are missing. 'done': made into a message, and remembered for a while, so that
-- a part that comes again is known for one. 'echo': it has only such parts so far.
CREATE TABLE incoming_set (
  id INTEGER PRIMARY KEY,
  carrier_id TEXT NOT NULL,
  sender TEXT NOT NULL,
  recipient TEXT NOT NULL,
  reference INTEGER NOT NULL,
  total INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('echo', 'open', 'done')),
  touched_at_ms INTEGER NOT NULL -- when its newest part came, or when it was done
) STRICT;
CREATE INDEX incoming_set_by_name ON incoming_set (carrier_id, sender, recipient, reference, total);
CREATE INDEX incoming_set_by_age ON incoming_set (touched_at_ms, id);

CREATE TABLE incoming_part (
  set_id INTEGER NOT NULL REFERENCES incoming_set (id) ON DELETE CASCADE,
  sequence INTEGER NOT NULL,
  body TEXT NOT NULL, -- as JSON: a part may end in the middle of a surrogate pair, which UTF-8 cannot hold
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (set_id, sequence)
) STRICT, WITHOUT ROWID;

CREATE TABLE catalogue_item (
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

-- One row: how often accounts or catalogue were changed, how often a service has started, and what the data is for.
CREATE TABLE counter (
  changes INTEGER NOT NULL,
  starts INTEGER NOT NULL,
  purpose TEXT CHECK (purpose IN ('sandbox', 'production'))
) STRICT;
INSERT INTO counter (changes, starts) VALUES (0, 0);
