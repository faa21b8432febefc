-- A part whose id was never learnt may be in either address of a parked receipt.
CREATE INDEX parked_receipt_by_other ON parked_receipt (carrier_id, other_address);
