/** Brings the schema up to date: numbered files, applied once, by one of however many processes start at the same time. */
import type { PostgresConnectionOptions } from "../../drivers/postgres/attempts.ts";
import { asDatabaseError } from "../../drivers/postgres/faults.ts";
import { PostgresLink, type Session } from "../../drivers/postgres/link.ts";
import { type Backoff, backoffMs } from "../../runtime/backoff.ts";
import { sleep, systemClock } from "../../runtime/clock.ts";
import { MigrationRefused, StoreUnavailable } from "../port/errors.ts";
import { fence } from "./nodes.ts";
import { NEWER_DATA, readStep, STEPS } from "./schema-version.ts";

/**
 * One row, and whoever holds it migrates. Advisory locks would do without the table's race at its birth, but not every database that
 * speaks PostgreSQL has them.
 */
const VERSION_TABLE = `CREATE TABLE IF NOT EXISTS heliograph_schema (
  id integer PRIMARY KEY CHECK (id = 1),
  version integer NOT NULL
)`;

/**
 * What IF NOT EXISTS says while another process creates the same (unique violation, duplicate table or object, "tuple concurrently
 * updated", which has no code of its own), and what a serialisable database says to the loser. All pass when the other has committed.
 */
const RACES = new Set(["23505", "42P07", "42710", "XX000", "40001", "40P01"]);
const MAX_TRIES = 60;
const RACE_BACKOFF: Backoff = { firstMs: 40, maxMs: 500, jitter: 0.5 };

/** Returns how many steps it took. Safe to run twice, and by many processes at once. */
export async function migrate(options: Pick<PostgresConnectionOptions, "url" | "leaseMs">): Promise<number> {
  // No time limit: a step may rewrite a table, and the others wait for whoever takes it.
  const link = new PostgresLink({ ...options, statementTimeoutMs: 0 }, "heliograph migrate");
  try {
    await link.connect(() => {});
    for (let tries = 1; ; tries += 1) {
      try {
        return await takeSteps(link);
      } catch (error) {
        await link.script("ROLLBACK");
        if (!RACES.has((error as { code?: string }).code ?? "")) throw error;
        if (tries === MAX_TRIES) throw new StoreUnavailable("the schema is being changed all the time");
      }
      await sleep(systemClock, backoffMs(RACE_BACKOFF, tries));
    }
  } catch (error) {
    throw asDatabaseError(error);
  } finally {
    if (link.alive) await link.end();
    else link.destroy();
  }
}

async function takeSteps(session: Session): Promise<number> {
  await session.script(VERSION_TABLE);
  await session.script("INSERT INTO heliograph_schema (id, version) VALUES (1, 0) ON CONFLICT (id) DO NOTHING");
  await session.script("BEGIN");
  const { rows } = await session.query<{ version: number }>("SELECT version FROM heliograph_schema FOR UPDATE");
  const applied = rows[0]!.version;
  if (applied > STEPS.length) throw new Error(NEWER_DATA);
  const silent = applied > 0 && applied < STEPS.length ? await requireNoNodes(session) : [];
  for (const step of STEPS.slice(applied)) await session.script(readStep(step));
  // Only now: `gone_node` is of one of the steps.
  for (const epoch of silent) await fence(session, epoch);
  await session.query("UPDATE heliograph_schema SET version = $1", [STEPS.length]);
  await session.script("COMMIT");
  return STEPS.length - applied;
}

/**
 * Nodes of the older version must not find another schema than their own under them. Those that died are in the way until their lease is over. One
 * whose lease is over may still be only out of touch: its row is locked, so that it does not renew, and it has to be fenced before the commit.
 * Returns the epochs of these.
 */
async function requireNoNodes(session: Session): Promise<number[]> {
  // The lock first: a transaction of a node that is under way holds its row, and renews its lease.
  await session.query("SELECT 1 FROM node ORDER BY epoch FOR UPDATE");
  const { rows } = await session.query<{ epoch: number; name: string; isAlive: boolean }>(
    'SELECT epoch, name, alive_until > clock_timestamp() AS "isAlive" FROM node ORDER BY epoch',
  );
  const alive = rows.filter(({ isAlive }) => isAlive).map(({ name }) => name);
  if (alive.length > 0) throw new MigrationRefused(`nodes run on it (${alive.join(", ")})`);
  return rows.map(({ epoch }) => epoch);
}
