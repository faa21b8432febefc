-- How often charged_micros has come to 2^62, and began anew.
ALTER TABLE retired_charge ADD COLUMN carried bigint NOT NULL DEFAULT 0;
