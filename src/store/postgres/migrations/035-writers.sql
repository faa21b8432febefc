-- The lines of a node's transactions (postgres/writer.ts), each with the last group that it committed. A connection that dies in a commit leaves its
-- outcome open; this says it. They go with their node, and so every transaction of a node that is fenced fails.
CREATE TABLE node_writer (
  epoch bigint NOT NULL REFERENCES node (epoch) ON DELETE CASCADE,
  writer integer NOT NULL,
  last_group bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (epoch, writer)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
ALTER TABLE node DROP COLUMN last_group;

-- Charges read a wallet without a lock (postgres/loaded-wallets.ts). Beside the balance they go by what the account says; a change of that is seen here.
ALTER TABLE wallet ADD COLUMN revision integer NOT NULL DEFAULT 0;
CREATE FUNCTION heliograph_revise() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN UPDATE wallet SET revision = revision + 1 WHERE account_id = NEW.id; RETURN NULL; END $$;
CREATE TRIGGER account_revises_wallet AFTER UPDATE OF credit_limit_micros, alert_below_micros, alert_url ON account
  FOR EACH ROW WHEN ((OLD.credit_limit_micros, OLD.alert_below_micros, OLD.alert_url) IS DISTINCT FROM (NEW.credit_limit_micros, NEW.alert_below_micros, NEW.alert_url))
  EXECUTE FUNCTION heliograph_revise();
