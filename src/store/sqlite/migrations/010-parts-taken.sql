-- What a carrier has of a long message that stopped in the middle: its reference, and the carrier's ids of its parts, as JSON.
ALTER TABLE message ADD COLUMN taken TEXT;
