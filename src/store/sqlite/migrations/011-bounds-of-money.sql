-- The version of an entry's format; 0 is that of entries from before there were versions (sqlite/journal.ts).
ALTER TABLE journal ADD COLUMN version INTEGER NOT NULL DEFAULT 0;

-- The service's own purses have no bound: one that is full gets another shard, and the next posting opens a new one in shard 0.
ALTER TABLE purse ADD COLUMN shard INTEGER NOT NULL DEFAULT 0;
DROP INDEX purse_of_service;
CREATE UNIQUE INDEX purse_of_service ON purse (name, currency, shard) WHERE account_id IS NULL;

-- How often charged_micros has come to 2^62, and began anew.
ALTER TABLE retired_charge ADD COLUMN carried INTEGER NOT NULL DEFAULT 0;
