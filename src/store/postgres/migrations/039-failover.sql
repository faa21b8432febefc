-- A standby that takes over may have missed that a node began, so that another is given the same epoch: the word tells the two apart.
ALTER TABLE node ADD COLUMN word text NOT NULL DEFAULT '';
ALTER TABLE node_writer ADD COLUMN word text NOT NULL DEFAULT '';
-- What nodes had committed, and a database that took over had not: told to people.
CREATE TABLE lost_commit (
  at_ms bigint NOT NULL,
  node text NOT NULL,
  groups integer NOT NULL,
  from_ms bigint NOT NULL,
  until_ms bigint NOT NULL
);
