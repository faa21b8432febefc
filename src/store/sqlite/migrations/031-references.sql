-- By what a phone knows that the parts of a long message belong together: the same also when the message is sent again.
ALTER TABLE message ADD COLUMN reference INTEGER;
