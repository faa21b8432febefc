-- These rows live for a moment, and to compress them takes the database longer than to write them.
ALTER TABLE report ALTER COLUMN items SET STORAGE EXTERNAL;
ALTER TABLE settled_receipt SET (toast_tuple_target = 8160);
ALTER TABLE settled_receipt ALTER COLUMN names SET STORAGE EXTERNAL;
