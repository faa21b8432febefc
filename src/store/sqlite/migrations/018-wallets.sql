-- A wallet is a place where money can be: one for each account, and those of the service. It was called a purse until now.
ALTER TABLE purse RENAME TO wallet;
ALTER TABLE posting RENAME COLUMN from_purse TO from_wallet;
ALTER TABLE posting RENAME COLUMN to_purse TO to_wallet;
DROP INDEX purse_of_service;
CREATE UNIQUE INDEX wallet_of_service ON wallet (name, currency, shard) WHERE account_id IS NULL;
