-- Up to where ids are promised (store/id-mark.ts), by the number in them; -1 counts for all numbers.
CREATE TABLE id_mark (
  node INTEGER PRIMARY KEY,
  highest INTEGER NOT NULL
) STRICT;
-- Until now the highest id that is still there was all that was known: an hour (of 2^21 a millisecond) beyond it.
INSERT INTO id_mark (node, highest)
  SELECT -1, max(id) + 3600000 * 2097152
  FROM (SELECT max(key) AS id FROM message UNION ALL SELECT max(id) FROM report UNION ALL SELECT max(key) FROM incoming_message)
  HAVING max(id) IS NOT NULL;

-- 1: this is a backup on which no service has started yet. It knows nothing of the ids that were handed out after it was made.
ALTER TABLE counter ADD COLUMN is_backup INTEGER NOT NULL DEFAULT 0;
