-- A transaction that goes by rows which it has not locked (postgres/owned-messages.ts) ends here if they are others by now, and is tried again.
CREATE FUNCTION heliograph_require(holds boolean) RETURNS void LANGUAGE plpgsql AS
  $$ BEGIN IF NOT holds THEN RAISE EXCEPTION 'a message has changed' USING ERRCODE = 'serialization_failure'; END IF; END $$;
