-- What the client calls the campaign that a message is part of; told in reports and logs.
ALTER TABLE message ADD COLUMN campaign_reference_id text;
