-- What a client wrote where it is not what goes: the text before it was transliterated, and how that was asked for, as JSON.
ALTER TABLE message ADD COLUMN written TEXT;
-- What its number adds to a message from a phone.
ALTER TABLE incoming_message ADD COLUMN callback_data TEXT;
ALTER TABLE incoming_message ADD COLUMN entity_id TEXT;
ALTER TABLE incoming_message ADD COLUMN application_id TEXT;
ALTER TABLE incoming_message ADD COLUMN campaign_reference_id TEXT;
