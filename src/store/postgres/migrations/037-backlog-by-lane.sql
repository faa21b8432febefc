-- What nobody has in memory, lane by lane and in each the oldest first. The planner knows no order of an index behind a column that is NULL, so
-- message_queued had to be read and sorted whole. Nobody else has this order of keys, so that nothing leads the planner to another index.
CREATE INDEX message_backlog ON message (carrier_id, account_id, key NULLS FIRST) WHERE state = 1 AND owner IS NULL;
-- For those alone who ask for what is expired: whoever asks for a lane was led to read all of it.
DROP INDEX message_backlog_by_expiry;
CREATE INDEX message_backlog_by_expiry ON message (expires_at_ms) WHERE state = 1 AND owner IS NULL AND expires_at_ms >= 0;
