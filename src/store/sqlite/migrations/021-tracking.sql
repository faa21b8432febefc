-- When a bulk was made. at_once: 1 for one of many messages that were sent at once, whose row is there only to be listed (commands/bulks.ts).
ALTER TABLE bulk ADD COLUMN made_at_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE bulk ADD COLUMN at_once INTEGER NOT NULL DEFAULT 0;
UPDATE bulk SET made_at_ms = coalesce((SELECT received_at_ms FROM message
  WHERE message.account_id = bulk.account_id AND message.bulk_id = bulk.bulk_id ORDER BY message.key LIMIT 1), send_at_ms);
CREATE INDEX bulk_by_time ON bulk (account_id, made_at_ms, bulk_id);
CREATE INDEX bulk_without_time ON bulk (account_id, bulk_id) WHERE made_at_ms = 0;
CREATE INDEX bulk_at_once_by_age ON bulk (made_at_ms) WHERE at_once = 1;

-- The host of a report's URL (scheme, name and port), from its first failure on: what never fails pays nothing for it. Reports that failed before have
-- none. SQL cannot read a URL, so they get theirs later, by report_without_host (commands/upgraded.ts).
ALTER TABLE report ADD COLUMN host TEXT;
CREATE INDEX report_failing ON report (account_id, host, id, due_at_ms) WHERE host IS NOT NULL AND dead_at_ms IS NULL;
CREATE INDEX report_dead_of_host ON report (account_id, host, id) WHERE dead_at_ms IS NOT NULL;
CREATE INDEX report_without_host ON report (id) WHERE host IS NULL AND (attempts > 0 OR dead_at_ms IS NOT NULL);
CREATE INDEX report_dead_of_account ON report (account_id, id) WHERE dead_at_ms IS NOT NULL;

-- Where a message from a phone was pushed to, and what its keyword asked for: 'stop', 'start' or nothing.
ALTER TABLE incoming_message ADD COLUMN forward_url TEXT;
ALTER TABLE incoming_message ADD COLUMN wish TEXT;
CREATE INDEX incoming_of_account ON incoming_message (account_id, key) WHERE account_id IS NOT NULL;
