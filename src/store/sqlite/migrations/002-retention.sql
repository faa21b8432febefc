-- What the messages that have left were charged, so that the ledger can still be checked against the messages.
CREATE TABLE retired_charge (
  account_id INTEGER PRIMARY KEY,
  charged_micros INTEGER NOT NULL
) STRICT;
