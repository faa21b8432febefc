-- Tokens for programs: sessions with a fixed end, good for some things only where scopes are named.
ALTER TABLE session ADD COLUMN expires_at_ms bigint;
ALTER TABLE session ADD COLUMN scopes text;
