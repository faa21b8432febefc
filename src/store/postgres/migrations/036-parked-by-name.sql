-- Parked receipts are looked up newest first, and only these indexes have that order: others have NULLs elsewhere. Those of phones have only receipts
-- with one. So no statistics lead the planner to another index, of which it would read everything.
DROP INDEX parked_receipt_by_carrier_id, parked_receipt_by_phone, parked_receipt_by_other;
CREATE INDEX parked_receipt_by_carrier_id ON parked_receipt (carrier_id, carrier_message_id, id DESC NULLS LAST);
CREATE INDEX parked_receipt_by_phone ON parked_receipt (carrier_id, recipient, id DESC NULLS LAST) WHERE recipient IS NOT NULL;
CREATE INDEX parked_receipt_by_other ON parked_receipt (carrier_id, other_address, id DESC NULLS LAST) WHERE other_address IS NOT NULL;
