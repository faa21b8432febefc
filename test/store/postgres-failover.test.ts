/** What a connection and a node make of a database that is not the one they left: a server that takes no writes, a commit in doubt, a setback. */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { PostgresConnection } from "../../src/drivers/postgres/connection.ts";
import { PostgresLink } from "../../src/drivers/postgres/link.ts";
import { databaseName, serversOf } from "../../src/drivers/postgres/servers.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { StoreUnavailable } from "../../src/store/port/errors.ts";
import { PATIENT_MS, postgresUrl } from "../support/postgres.ts";
import { eventually } from "../support/service.ts";
import { benchOn, openNode, sessionOf } from "./postgres-node.ts";

const LIMITS = { statementTimeoutMs: PATIENT_MS, leaseMs: 60_000 };

async function linkTo(t: TestContext, url: string, onlyReads = false): Promise<PostgresLink> {
  const link = new PostgresLink({ url, ...LIMITS, onlyReads }, "test");
  t.after(() => link.destroy());
  await link.connect(() => undefined);
  return link;
}

/** A port at which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test("a URL names one server or several, and what it asks for besides is understood or refused", () => {
  const urls = (url: string): string[] => serversOf(url).map((server) => server.url);
  for (const [url, ...servers] of [
    ["postgres://u:p@one/db"],
    ["postgres://u:p%2Fq@one:1,two:2/db", "postgres://u:p%2Fq@one:1/db", "postgres://u:p%2Fq@two:2/db"],
    [
      "postgresql://u:p@x@one,[::1]:3/db?sslmode=require",
      "postgresql://u:p@x@one/db?sslmode=require",
      "postgresql://u:p@x@[::1]:3/db?sslmode=require",
    ],
    ["postgres://u@/db?host=one,two&port=7", "postgres://u@/db?host=one&port=7", "postgres://u@/db?host=two&port=7"],
    ["postgres://u@/db?host=one,two&port=7,8", "postgres://u@/db?host=one&port=7", "postgres://u@/db?host=two&port=8"],
    ["postgres://u:a,b/c@one/db"],
    ["postgres://one/db?target_session_attrs=read-write&connect_timeout=3&keepalives=1"],
  ] as const)
    assert.deepEqual(urls(url), servers.length === 0 ? [url] : servers, url);
  for (const [url, says] of [
    [
      "postgres://one,two/db?target_session_attrs=standby",
      "its parameter target_session_attrs cannot have that value here",
    ],
    ["postgres://one/db?sslmode=allow", "its parameter sslmode cannot have that value here"],
    ["postgres://one/db?passfile=/x", "its parameter passfile is not understood"],
    ["postgres://one/db?constructor=x", "its parameter constructor is not understood"],
    ["postgres://u@/db?host=a,b,c&port=1,2", "it has not as many ports as hosts"],
  ] as const)
    assert.throws(() => serversOf(url), { message: `the database's URL cannot be used (${says})`, reason: "url" });
  assert.equal(databaseName("postgres://u:secret@one:1,two/db?x=1"), "postgres://one:1,two/db");
  assert.equal(databaseName("postgres://u:se/cret@one/db"), null);
});

test("of several servers the one that takes writes is taken, and remembered", async (t) => {
  const url = new URL(await postgresUrl(t));
  const closed = await closedPort();
  const both = url.href.replace(url.host, `127.0.0.1:${closed},${url.host}`);
  const link = await linkTo(t, both);
  assert.deepEqual((await link.query<{ one: number }>("SELECT 1 AS one")).rows, [{ one: 1 }]);
  assert.deepEqual(
    serversOf(both).map(({ name }) => name),
    [url.host, `127.0.0.1:${closed}`],
  );
  await assert.rejects(linkTo(t, url.href.replace(url.host, `127.0.0.1:${closed},127.0.0.1:${closed}`)), {
    code: "ECONNREFUSED",
  });
});

test("a server that takes no writes is left at connect, but not by those who only read", async (t) => {
  const url = await postgresUrl(t);
  const session = await sessionOf(t, url);
  const { rows } = await session.query<{ name: string }>("SELECT current_database() AS name");
  await session.script(`ALTER DATABASE "${rows[0]!.name}" SET default_transaction_read_only = on`);
  await assert.rejects(linkTo(t, url), (error: Error) => /takes no writes$/.test(error.message));
  const reader = await linkTo(t, url, true);
  assert.equal((await reader.query("SELECT 1")).rows.length, 1);
});

test("a connection whose server takes no writes any more is ended, and the next one is another", async (t) => {
  const url = await postgresUrl(t);
  const connection = new PostgresConnection({ url, connections: 1, ...LIMITS, log: silentLog }, "test");
  t.after(() => connection.close());
  const session = await connection.session();
  await session.script("SET default_transaction_read_only = on");
  await assert.rejects(session.query("UPDATE counter SET changes = changes"), { code: "25006" });
  assert.equal(session.alive, false);
  const next = await connection.session();
  assert.equal((await next.query("UPDATE counter SET changes = changes")).count, 1);
});

test("sessions that a pool gives to many are refused with a sentence", async (t) => {
  const url = await postgresUrl(t);
  const session = await sessionOf(t, url);
  const { rows } = await session.query<{ name: string }>("SELECT current_database() AS name");
  // As the next one finds the session of the one before.
  await session.script(`ALTER DATABASE "${rows[0]!.name}" SET heliograph.session = 'begun'`);
  await assert.rejects(linkTo(t, url), (error: Error) =>
    /gives one session to many .*has to be session$/.test(error.message),
  );
});

/** Each commit that changes the table warns, as one whose wait for the standby was canceled does. */
const WARNS = (table: string): string => `CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE WARNING 'canceling wait for synchronous replication due to user request'; RETURN NULL; END $$;
  CREATE CONSTRAINT TRIGGER warns AFTER INSERT OR UPDATE ON ${table} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION warn()`;

test("a commit that warns is in doubt, in a transaction and alone", async (t) => {
  const url = await postgresUrl(t);
  await (await sessionOf(t, url)).script(WARNS("counter"));
  for (const statements of [
    ["UPDATE counter SET changes = 1"],
    ["BEGIN", "UPDATE counter SET changes = 1", "COMMIT"],
  ]) {
    const link = await linkTo(t, url);
    const answers = await Promise.allSettled(statements.map((statement) => link.query(statement)));
    assert.equal(answers.at(-1)!.status, "rejected");
    assert.equal(link.alive, false);
  }
  const link = await linkTo(t, url);
  await link.script("BEGIN");
  await link.script("DO $$ BEGIN RAISE WARNING 'of a statement'; END $$");
  await link.script("ROLLBACK");
  assert.equal(link.alive, true, "only a commit is in doubt");
});

test("a group that was committed in doubt is looked up before anyone hears of it", async (t) => {
  const url = await postgresUrl(t);
  const node = await openNode(t, url);
  const bench = await benchOn(t, node);
  const session = await sessionOf(t, url);
  await session.script(WARNS("message"));
  await bench.accept([bench.message()]);
  assert.equal((await session.query("SELECT 1 FROM message")).count, 1);
});

const NO_MORE =
  /the database is 2 groups behind what was written: messages acknowledged between .+ and .+ may be missing/;

for (const [how, isStarted] of [
  ["at its next group", false],
  ["while nobody asks it for anything", true],
] as const)
  test(`a node whose commits the database lacks says so, and leaves, ${how}`, async (t) => {
    const url = await postgresUrl(t);
    const session = await sessionOf(t, url);
    const node = await openNode(t, url, { leaseMs: 3_000 });
    const bench = await benchOn(t, node);
    for (let count = 0; count < 4; count++) await bench.accept([bench.message()]);
    if (isStarted) await node.start();
    // Of each connection of the clients' line the last group is gone, as on a standby that had not received it.
    await session.script("UPDATE node_writer SET last_group = last_group - 1 WHERE last_group > 0");
    if (!isStarted) await assert.rejects(bench.accept([bench.message()]), StoreUnavailable);
    await eventually(async () => (await session.query("SELECT 1 FROM lost_commit WHERE groups = 2")).count === 1);
    if (isStarted) await eventually(async () => NO_MORE.test(node.fenced[0] ?? ""));
    assert.deepEqual((await session.query("SELECT epoch FROM node")).rows, []);
    assert.deepEqual((await session.query("SELECT epoch FROM gone_node")).rows, [{ epoch: node.engine.epoch }]);
    await assert.rejects(bench.accept([bench.message()]), StoreUnavailable);
  });

test("a node that was given the epoch of one which the database has never seen is not disturbed by that one", async (t) => {
  const url = await postgresUrl(t);
  const session = await sessionOf(t, url);
  const unseen = await openNode(t, url);
  await session.script("DELETE FROM node; UPDATE counter SET starts = starts - 1");
  const node = await openNode(t, url);
  assert.equal(node.engine.epoch, unseen.engine.epoch);
  // Neither has written anything: by the numbers of their groups they are the same.
  await assert.rejects(benchOn(t, unseen), StoreUnavailable);
  await unseen.engine.close();
  assert.deepEqual((await session.query("SELECT epoch FROM node")).rows, [{ epoch: node.engine.epoch }]);
  await benchOn(t, node);
});
