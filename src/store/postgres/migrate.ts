/** Brings the schema up to date: numbered files, applied once, by one of however many processes start at the same time. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import { type Random, systemRandom } from "../../runtime/random.ts";
import { MigrationRefused, StoreUnavailable } from "../port.ts";
import { asStoreError, type ConnectionOptions } from "./connection.ts";
import { Link, type Session } from "./link.ts";

const MIGRATIONS = join(import.meta.dirname, "migrations");

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
const MOST_TRIES = 60;
const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

/** Returns how many steps it took. Safe to run twice, and by many processes at once. */
export async function migrate(
  options: Pick<ConnectionOptions, "url" | "leaseMs">,
  clock: Clock = systemClock,
  random: Random = systemRandom,
): Promise<number> {
  // No time limit: a step may rewrite a table, and the others wait for whoever takes it.
  const link = new Link({ ...options, statementTimeoutMs: 0 }, "heliograph migrate", clock);
  try {
    await link.connect(() => {});
    for (let tries = 1; ; tries += 1) {
      try {
        return await takeSteps(link);
      } catch (error) {
        await link.script("ROLLBACK");
        if (!RACES.has((error as { code?: string }).code ?? "")) throw error;
        if (tries === MOST_TRIES) throw new StoreUnavailable("the schema is being changed all the time");
      }
      const longest = Math.min(LONGEST_PAUSE_MS, SHORTEST_PAUSE_MS * 2 ** tries);
      await new Promise<void>((resolve) => clock.after((longest / 2) * (1 + random.next()), resolve));
    }
  } catch (error) {
    throw asStoreError(error);
  } finally {
    if (link.alive) await link.end();
    else link.destroy();
  }
}

async function takeSteps(session: Session): Promise<number> {
  const files = readdirSync(MIGRATIONS)
    .filter((name) => /^\d{3}-.*\.sql$/.test(name))
    .sort();
  await session.script(VERSION_TABLE);
  await session.script("INSERT INTO heliograph_schema (id, version) VALUES (1, 0) ON CONFLICT (id) DO NOTHING");
  await session.script("BEGIN");
  const { rows } = await session.query<{ version: number }>("SELECT version FROM heliograph_schema FOR UPDATE");
  const applied = rows[0]!.version;
  if (applied > files.length) throw new Error("the data is from a newer Heliograph than this one");
  if (applied > 0 && applied < files.length) await requireNoNodes(session);
  for (const file of files.slice(applied)) await session.script(readFileSync(join(MIGRATIONS, file), "utf8"));
  await session.query("UPDATE heliograph_schema SET version = $1", [files.length]);
  await session.script("COMMIT");
  return files.length - applied;
}

/** Nodes of the older version must not find another schema than their own under them. Those that died are in the way until their lease is over. */
async function requireNoNodes(session: Session): Promise<void> {
  const { rows } = await session.query<{ name: string }>(
    "SELECT name FROM node WHERE alive_until > clock_timestamp() ORDER BY epoch",
  );
  if (rows.length > 0) throw new MigrationRefused(`nodes run on it (${rows.map(({ name }) => name).join(", ")})`);
}
