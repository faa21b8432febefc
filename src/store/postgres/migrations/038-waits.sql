-- What becomes of a message after its submit changes no index: only then can PostgreSQL write the row anew beside itself (HOT), at half the cost. The state
-- changes with each receipt, so no index may have it, in its condition neither. This column is NULL from the submit on, but for the
-- messages of a bulk, which is asked whether any of them waits for its receipt.
ALTER TABLE message ADD COLUMN waits integer GENERATED ALWAYS AS (CASE WHEN state < 2 OR state = 3 AND bulk_version IS NOT NULL THEN state END) STORED;
DROP INDEX message_scheduled, message_following_bulk, message_queued, message_backlog, message_backlog_by_expiry;
CREATE INDEX message_scheduled ON message (due_at_ms, key) WHERE waits = 0;
CREATE INDEX message_following_bulk ON message (account_id, bulk_id, waits, bulk_version) WHERE bulk_version IS NOT NULL;
CREATE INDEX message_queued ON message (owner, carrier_id, account_id, key) WHERE waits = 1;
CREATE INDEX message_backlog ON message (carrier_id, account_id, key NULLS FIRST) WHERE waits = 1 AND owner IS NULL;
CREATE INDEX message_backlog_by_expiry ON message (expires_at_ms) WHERE waits = 1 AND owner IS NULL AND expires_at_ms >= 0;
