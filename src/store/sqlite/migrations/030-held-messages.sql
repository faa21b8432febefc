-- The message whose outcome was set aside: it is in doubt, and nobody hands it over before somebody has decided.
ALTER TABLE quarantine ADD COLUMN held_key INTEGER;
CREATE INDEX quarantine_held ON quarantine (held_key) WHERE held_key IS NOT NULL;
