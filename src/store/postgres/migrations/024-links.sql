-- Short links in texts. Each message has codes of its own, so that a click says which. number: which link of the text it is.
CREATE TABLE link (
  code text PRIMARY KEY,
  message_key bigint NOT NULL,
  number integer NOT NULL,
  account_id bigint NOT NULL,
  target text NOT NULL,
  tracking_url text, -- where clicks are told
  clicks bigint NOT NULL DEFAULT 0,
  first_click_at_ms bigint,
  last_click_at_ms bigint
);
CREATE INDEX link_of_message ON link (message_key, number);

-- JSON: the conversion that the client will tell of.
ALTER TABLE message ADD COLUMN conversion text;

-- Reports may be clicks now.
ALTER TABLE report DROP CONSTRAINT report_kind_check;
ALTER TABLE report ADD CONSTRAINT report_kind_check CHECK (kind IN ('delivery', 'incoming', 'alert', 'click'));
