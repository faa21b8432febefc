-- Nodes that are fenced off and still own messages or reports: whoever lives frees them a page at a time, and then deletes the row.
CREATE TABLE gone_node (
  epoch bigint PRIMARY KEY,
  name text NOT NULL
);
