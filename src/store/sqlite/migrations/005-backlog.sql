-- Messages that nobody has in memory, by when they are too old to be sent.
CREATE INDEX message_backlog_by_expiry ON message (expires_at_ms) WHERE state = 1 AND owner IS NULL;
