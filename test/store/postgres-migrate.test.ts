/** The schema on PostgreSQL comes about once, whoever starts when. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { PostgresConnection } from "../../src/drivers/postgres/connection.ts";
import type { Session } from "../../src/drivers/postgres/link.ts";
import { Lease } from "../../src/node/lease.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { MigrationRefused, StoreUnavailable } from "../../src/store/port/errors.ts";
import { migrate } from "../../src/store/postgres/migrate.ts";
import { Nodes } from "../../src/store/postgres/nodes.ts";
import { goneNodes } from "../../src/store/postgres/takeover.ts";
import { eventually } from "../support/patience.ts";
import { PATIENT_MS, postgresUrl } from "../support/postgres.ts";

const MIGRATIONS = join(import.meta.dirname, "../../src/store/postgres/migrations");
const STEPS = readdirSync(MIGRATIONS).length;
const LEASE_MS = 60_000;

function connect(t: TestContext, url: string): Promise<Session> {
  const connection = new PostgresConnection(
    { url, connections: 1, statementTimeoutMs: PATIENT_MS, leaseMs: LEASE_MS, log: silentLog },
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
  await untilBlocked(await connect(t, url), "heliograph migrate", 20);
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

/** A node of the version before this one, as far as a migration sees it: its rows, and what its heartbeat and its transactions begin with. */
async function olderNode(session: Session) {
  const epoch = 1;
  const until = `clock_timestamp() + interval '${LEASE_MS} milliseconds'`;
  await session.script(
    `INSERT INTO node (epoch, slot, name, roles, alive_until) VALUES (${epoch}, 0, 'old node', 'dispatch', ${until});
     INSERT INTO node_writer (epoch, writer) VALUES (${epoch}, 0)`,
  );
  const finds = async (statement: string): Promise<boolean> => (await session.query(statement, [epoch])).count === 1;
  return {
    epoch,
    renew: () => finds(`UPDATE node SET alive_until = ${until} WHERE epoch = $1`),
    fence: () => finds("UPDATE node_writer SET last_group = 1 WHERE epoch = $1"),
  };
}

const leaseIsOver = (session: Session): Promise<void> =>
  session.script("UPDATE node SET alive_until = clock_timestamp() - interval '1 hour'");

async function versionOf(session: Session): Promise<number> {
  return (await session.query<{ version: number }>("SELECT version FROM heliograph_schema")).rows[0]!.version;
}

/** Waits until so many sessions of that name wait for a lock. */
async function untilBlocked(watcher: Session, name: string, count: number): Promise<void> {
  const blocked = `SELECT count(*) AS value FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = $1 AND wait_event_type = 'Lock'`;
  await eventually(async () => (await watcher.query<{ value: number }>(blocked, [name])).rows[0]!.value >= count);
}

test("nothing is migrated under nodes that are alive; where they are dead, or there is nothing to do, they are not in the way", async (t) => {
  const url = await postgresUrl(t, { empty: true });
  const session = await connect(t, url);
  await makeOlder(session);
  await olderNode(session);
  await assert.rejects(
    migrate({ url, leaseMs: LEASE_MS }),
    (error) => error instanceof MigrationRefused && /nodes run on it \(old node\)/.test(error.message),
  );
  assert.equal(await versionOf(session), STEPS - 1);
  await leaseIsOver(session);
  assert.equal(await migrate({ url, leaseMs: LEASE_MS }), 1);
  const node = new Nodes({ name: "new node", roles: ["dispatch"], leaseMs: LEASE_MS, lease: new Lease() });
  await node.join(session, Date.now());
  assert.equal(await migrate({ url, leaseMs: LEASE_MS }), 0);
  assert.equal(await node.renew(session), true);
});

test("a node that was only out of touch while the schema was migrated can do nothing any more, and what it had is free for others", async (t) => {
  const url = await postgresUrl(t, { empty: true });
  const session = await connect(t, url);
  await makeOlder(session);
  const old = await olderNode(session);
  await session.query("INSERT INTO carrier_bind (carrier_id, slot, epoch) VALUES ('carrier', 0, $1)", [old.epoch]);
  await leaseIsOver(session);
  assert.equal(await migrate({ url, leaseMs: LEASE_MS }), 1);
  assert.equal(await old.renew(), false);
  assert.equal(await old.fence(), false);
  assert.deepEqual(await goneNodes(session), [{ epoch: old.epoch, name: "old node" }]);
  assert.deepEqual((await session.query("SELECT slot FROM carrier_bind")).rows, []);
});

test("a node that renews its lease when a migration looks is in the way", async (t) => {
  const url = await postgresUrl(t, { empty: true });
  const session = await connect(t, url);
  await makeOlder(session);
  const old = await olderNode(session);
  await leaseIsOver(session);
  await session.script("BEGIN");
  assert.equal(await old.renew(), true);
  const migrating = assert.rejects(migrate({ url, leaseMs: LEASE_MS }), MigrationRefused);
  await untilBlocked(await connect(t, url), "heliograph migrate", 1);
  await session.script("COMMIT");
  await migrating;
  assert.equal(await old.renew(), true);
});

test("a node that has looked at the schema and not joined yet is refused after a migration, and waits for one", async (t) => {
  const url = await postgresUrl(t);
  const session = await connect(t, url);
  const migrating = await connect(t, url);
  const late = new Nodes({ name: "late", roles: ["dispatch"], leaseMs: LEASE_MS, lease: new Lease() });
  // A newer version's migration, which has looked for nodes and found none.
  await migrating.script("BEGIN");
  await migrating.query("SELECT version FROM heliograph_schema FOR UPDATE");
  const joining = assert.rejects(late.join(session, Date.now()), {
    message: "the data is from a newer Heliograph than this one",
  });
  await untilBlocked(await connect(t, url), "test", 1);
  await migrating.query("UPDATE heliograph_schema SET version = $1", [STEPS + 1]);
  await migrating.script("COMMIT");
  await joining;
  assert.deepEqual((await session.query("SELECT name FROM node")).rows, []);
});

test("a migration waits for a node that is just joining, and finds it", async (t) => {
  const url = await postgresUrl(t, { empty: true });
  const session = await connect(t, url);
  await makeOlder(session);
  // As a node of that version joins.
  await session.script("BEGIN");
  await session.query("SELECT version FROM heliograph_schema FOR SHARE");
  const migrating = assert.rejects(migrate({ url, leaseMs: LEASE_MS }), MigrationRefused);
  await untilBlocked(await connect(t, url), "heliograph migrate", 1);
  await session.script(
    `INSERT INTO node (epoch, slot, name, roles, alive_until) VALUES (1, 0, 'just joined', 'api', clock_timestamp() + interval '1 hour')`,
  );
  await session.script("COMMIT");
  await migrating;
  assert.equal(await versionOf(session), STEPS - 1);
});

test("without a database it says that the store is away", async () => {
  // Port 1 belongs to nobody.
  await assert.rejects(
    migrate({ url: "postgres://u:hidden@127.0.0.1:1/none", leaseMs: LEASE_MS }),
    (error) => error instanceof StoreUnavailable && !error.message.includes("hidden"),
  );
});
