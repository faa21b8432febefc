-- Of a user with too many sessions the oldest end.
CREATE INDEX session_of_user_by_age ON session (username, created_at_ms);
DROP INDEX session_of_user;
