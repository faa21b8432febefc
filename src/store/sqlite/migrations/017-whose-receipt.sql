-- Why a receipt is parked: unmatched, foreign, doubtful or unreadable. How often it came. When its network says that its part was submitted, which
-- tells two parts with one id apart. The octets of one that could not be read. And beside which message it is recorded (later_receipt).
ALTER TABLE parked_receipt ADD COLUMN why TEXT NOT NULL DEFAULT 'unmatched';
ALTER TABLE parked_receipt ADD COLUMN times INTEGER NOT NULL DEFAULT 1;
ALTER TABLE parked_receipt ADD COLUMN submitted_at_ms INTEGER;
ALTER TABLE parked_receipt ADD COLUMN octets TEXT;
ALTER TABLE parked_receipt ADD COLUMN message_key INTEGER;

-- What carriers said of a part after its last word. It changes nothing of the message, and leaves the store with it.
CREATE TABLE later_receipt (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  message_key INTEGER NOT NULL,
  carrier_id TEXT NOT NULL,
  carrier_message_id TEXT NOT NULL,
  outcome TEXT NOT NULL,
  error_id INTEGER NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX later_receipt_once ON later_receipt (message_key, carrier_message_id, outcome);
