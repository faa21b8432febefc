-- New messages leave out columns that nearly all of them have the default of.
ALTER TABLE message ALTER COLUMN flash SET DEFAULT 0;
ALTER TABLE message ALTER COLUMN intermediate SET DEFAULT 0;
