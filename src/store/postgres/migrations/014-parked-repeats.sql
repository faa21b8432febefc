-- A receipt that came again may be the first of a new message whose answer it has overtaken: it waits for that a short while (commands/receipts/repeats.ts).
ALTER TABLE parked_receipt ADD COLUMN repeated integer NOT NULL DEFAULT 0;
CREATE INDEX parked_receipt_repeated ON parked_receipt (id) WHERE repeated = 1;
