-- A password that a reseller has set for its client, and that the client has not changed since.
ALTER TABLE login ADD COLUMN set_by_reseller INTEGER NOT NULL DEFAULT 0;
-- An API key may end by itself, and be for use from some networks only.
ALTER TABLE api_key ADD COLUMN expires_at_ms INTEGER;
ALTER TABLE api_key ADD COLUMN allowed_addresses TEXT; -- JSON; NULL: any
-- Every new account's names are compared with the resellers' keys.
CREATE INDEX account_reseller ON account (key) WHERE kind = 'reseller';
