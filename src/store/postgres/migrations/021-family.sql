-- What the client says of the sender's business and of its application, told in reports and logs, and what some countries ask for, told to carriers.
ALTER TABLE message ADD COLUMN entity_id text;
ALTER TABLE message ADD COLUMN application_id text;
ALTER TABLE message ADD COLUMN regional text;
