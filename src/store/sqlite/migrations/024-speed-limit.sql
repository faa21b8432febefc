-- The speed limit of a bulk: so many messages (speed_amount) in any stretch of speed_unit_ms. Slots are given from next_slot_us on, in millionths of
-- a second; free_slot_us is behind those that were used (commands/pacing.ts).
ALTER TABLE bulk ADD COLUMN speed_amount INTEGER;
ALTER TABLE bulk ADD COLUMN speed_unit_ms INTEGER;
ALTER TABLE bulk ADD COLUMN next_slot_us INTEGER;
ALTER TABLE bulk ADD COLUMN free_slot_us INTEGER;
-- Until when the slot is good that a message of such a bulk has; 0 while it has none. Null for all others.
ALTER TABLE message ADD COLUMN slot_until_ms INTEGER;
