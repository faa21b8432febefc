/** The schema on PostgreSQL comes about once, whoever starts when. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { silentLog } from "../../src/runtime/log.ts";
import { MigrationRefused, StoreUnavailable } from "../../src/store/port.ts";
import { Connection, type Session } from "../../src/store/postgres/connection.ts";
import { migrate } from "../../src/store/postgres/migrate.ts";
import { postgresUrl } from "../support/postgres.ts";

const MIGRATIONS = join(import.meta.dirname, "../../src/store/postgres/migrations");
const STEPS = readdirSync(MIGRATIONS).length;
const LEASE_MS = 60_000;

function connect(t: TestContext, url: string): Promise<Session> {
  const connection = new Connection(
    { url, connections: 1, statementTimeoutMs: 10_000, leaseMs: LEASE_MS, log: silentLog },
    "test",
  );
  t.after(() => connection.close());
  return connection.session();
}

const startTwenty = (url: string): Promise<number[]> =>
  Promise.all(Array.from({ length: 20 }, () => migrate({ url, leaseMs: LEASE_MS })));

test("of twenty that start at once on an empty database, one makes the schema and none fails", async (t) => {
  const url = await postgresUrl(t, { empty: true });
  const steps = await startTwenty(url);
  assert.deepEqual(
    steps.toSorted((a, b) => a - b),
    [...Array(19).fill(0), STEPS],
  );
  const { rows } = await (await connect(t, url)).query("SELECT changes, starts FROM counter");
  assert.deepEqual(rows, [{ changes: 0, starts: 0 }], "the schema is there, and its first row once");
});

test("twenty that all meet another one just creating the table of versions look again", async (t) => {
  const url = await postgresUrl(t, { empty: true });
  const other = await connect(t, url);
  await other.script("BEGIN");
  await other.script(
    "CREATE TABLE heliograph_schema (id integer PRIMARY KEY CHECK (id = 1), version integer NOT NULL)",
  );
  const twenty = startTwenty(url);
  const blocked = `SELECT count(*) AS value FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'heliograph migrate' AND wait_event_type = 'Lock'`;
  const watcher = await connect(t, url);
  while ((await watcher.query<{ value: number }>(blocked)).rows[0]!.value < 20);
  await other.script("COMMIT");
  assert.equal(
    (await twenty).reduce((sum, steps) => sum + steps),
    STEPS,
  );
});

test("a second time there is nothing to do", async (t) => {
  const url = await postgresUrl(t, { empty: true });
  assert.equal(await migrate({ url, leaseMs: LEASE_MS }), STEPS);
  assert.equal(await migrate({ url, leaseMs: LEASE_MS }), 0);
});

test("data from a newer version is refused and left alone", async (t) => {
  const url = await postgresUrl(t);
  const session = await connect(t, url);
  await session.query("UPDATE heliograph_schema SET version = $1", [STEPS + 1]);
  await assert.rejects(migrate({ url, leaseMs: LEASE_MS }), {
    message: "the data is from a newer Heliograph than this one",
  });
  const { rows } = await session.query("SELECT version FROM heliograph_schema");
  assert.deepEqual(rows, [{ version: STEPS + 1 }]);
});

/** The database as the version before this one's last step has left it. */
async function makeOlder(session: Session): Promise<void> {
  await session.script(
    "CREATE TABLE heliograph_schema (id integer PRIMARY KEY CHECK (id = 1), version integer NOT NULL)",
  );
  for (const file of readdirSync(MIGRATIONS).sort().slice(0, -1))
    await session.script(readFileSync(join(MIGRATIONS, file), "utf8"));
  await session.query("INSERT INTO heliograph_schema (id, version) VALUES (1, $1)", [STEPS - 1]);
}

test("nothing is migrated under nodes that are alive; where they are dead, or there is nothing to do, they are not in the way", async (t) => {
  const url = await postgresUrl(t, { empty: true });
  const session = await connect(t, url);
  await makeOlder(session);
  await session.script(
    `INSERT INTO node (epoch, slot, name, roles, alive_until) VALUES (1, 0, 'old node', 'api', clock_timestamp() + interval '1 hour')`,
  );
  await assert.rejects(
    migrate({ url, leaseMs: LEASE_MS }),
    (error) => error instanceof MigrationRefused && /nodes run on it \(old node\)/.test(error.message),
  );
  const { rows } = await session.query("SELECT version FROM heliograph_schema");
  assert.deepEqual(rows, [{ version: STEPS - 1 }]);
  await session.script("UPDATE node SET alive_until = clock_timestamp() - interval '1 hour'");
  assert.equal(await migrate({ url, leaseMs: LEASE_MS }), 1);
  await session.script("UPDATE node SET alive_until = clock_timestamp() + interval '1 hour'");
  assert.equal(await migrate({ url, leaseMs: LEASE_MS }), 0);
});

test("without a database it says that the store is away", async () => {
  // Port 1 belongs to nobody.
  await assert.rejects(
    migrate({ url: "postgres://u:hidden@127.0.0.1:1/none", leaseMs: LEASE_MS }),
    (error) => error instanceof StoreUnavailable && !error.message.includes("hidden"),
  );
});
