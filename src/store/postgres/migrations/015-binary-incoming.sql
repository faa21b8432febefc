-- A message from a phone that is no text has its hex for a body, and says here how: "octets 4 64", data coding and esm class. NULL for a text.
ALTER TABLE incoming_message ADD COLUMN encoding text;
