/** Connections to PostgreSQL: in order, bounded, and when the database is away honest at once and patient in coming back. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { inspect } from "node:util";
import type { PostgresConnectionOptions } from "../../src/drivers/postgres/attempts.ts";
import { PostgresConnection } from "../../src/drivers/postgres/connection.ts";
import { asDatabaseError, faultKind } from "../../src/drivers/postgres/faults.ts";
import type { Session } from "../../src/drivers/postgres/link.ts";
import { PostgresPool } from "../../src/drivers/postgres/pool.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { StoreUnavailable } from "../../src/store/port/errors.ts";
import { fakePostgres } from "../support/fake-postgres.ts";
import { until } from "../support/patience.ts";
import { postgresUrl, startPostgres } from "../support/postgres.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const STATEMENT_TIMEOUT_MS = 10_000;
const MAX_PAUSE_MS = 5_000;

const optionsFor = (url: string, connections = 3): PostgresConnectionOptions => ({
  url,
  connections,
  statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  leaseMs: 15_000,
  log: silentLog,
});

function connect(t: TestContext, url: string, clock?: Clock): PostgresConnection {
  const connection = new PostgresConnection(optionsFor(url), "test writer", clock);
  t.after(() => connection.close());
  return connection;
}

function openPool(t: TestContext, url: string, connections: number, clock?: Clock): PostgresPool {
  const pool = new PostgresPool(optionsFor(url, connections), "test reader", clock);
  t.after(() => pool.close());
  return pool;
}

/** Tries until it works, one try a turn. */
async function eventually<Result>(work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }
}

async function failsAtOnce(work: Promise<unknown>): Promise<boolean> {
  return Promise.race([
    work.then(
      () => false,
      (error) => error instanceof StoreUnavailable,
    ),
    new Promise<boolean>((resolve) => setImmediate(resolve, false)),
  ]);
}

async function one<Value>(session: Session, text: string, values?: readonly unknown[]): Promise<Value> {
  const { rows } = await session.query<{ value: Value }>(text, values);
  return rows[0]!.value;
}

const backend = (session: Session): Promise<number> => one<number>(session, "SELECT pg_backend_pid() AS value");

test("statements go out together and are executed in order", async (t) => {
  const session = await connect(t, await postgresUrl(t)).session();
  const insert = "INSERT INTO opt_out (account_id, number, at_ms) VALUES ($1, $2, 0)";
  const [, first, , counted] = await Promise.all([
    session.query("BEGIN"),
    session.query(insert, [1, "1"]),
    session.query(insert, [1, "2"]),
    one<number>(session, "SELECT count(*) AS value FROM opt_out"),
    session.query("ROLLBACK"),
  ]);
  assert.equal(first.count, 1);
  assert.equal(counted, 2);
  assert.equal(await one(session, "SELECT count(*) AS value FROM opt_out"), 0);
});

test("a text that fails to be prepared in a broken transaction works in the next, sent in the same breath", async (t) => {
  const session = await connect(t, await postgresUrl(t)).session();
  const text = "SELECT CAST($1 AS text) AS value";
  const [, broken, early, alsoEarly, , late] = await Promise.allSettled([
    session.query("BEGIN"),
    session.query("SELECT 1 / 0"),
    one(session, text, ["a"]),
    one(session, text, ["b"]),
    session.query("ROLLBACK"),
    one(session, text, ["c"]),
  ]);
  assert.equal(broken.status === "rejected" && broken.reason.code, "22012");
  assert.equal(early.status === "rejected" && early.reason.code, "25P02");
  assert.equal(alsoEarly.status, "rejected");
  assert.deepEqual(late, { status: "fulfilled", value: "c" });
  assert.equal(await one(session, text, ["d"]), "d");
});

test("of statements that go out together those before one that fails are answered, and those behind it fail", async (t) => {
  const session = await connect(t, await postgresUrl(t)).session();
  for (let time = 0; time < 2; time += 1) {
    const [begun, before, broken, behind, ended] = await Promise.allSettled([
      session.query("BEGIN"),
      one(session, "SELECT 1 AS value"),
      session.query("SELECT 1 / CAST($1 AS integer)", [0]),
      one(session, "SELECT 2 AS value"),
      session.query("COMMIT"),
    ]);
    assert.equal(begun.status, "fulfilled");
    assert.deepEqual(before, { status: "fulfilled", value: 1 });
    assert.equal(broken.status === "rejected" && broken.reason.code, "22012");
    assert.equal(behind.status === "rejected" && behind.reason.code, "25P02");
    assert.equal(ended.status, "fulfilled", "a transaction that has failed ends as well");
    assert.equal(await one(session, "SELECT 2 AS value"), 2);
  }
});

test("statements without a transaction share nothing: one that fails leaves the others alone", async (t) => {
  const session = await connect(t, await postgresUrl(t)).session();
  const insert = "INSERT INTO opt_out (account_id, number, at_ms) VALUES ($1, $2, 0)";
  const outcomes = await Promise.allSettled([
    session.query(insert, [1, "1"]),
    session.query("SELECT 1 / 0"),
    session.query(insert, [1, "2"]),
  ]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled"],
  );
  assert.equal(await one(session, "SELECT count(*) AS value FROM opt_out"), 2);
});

test("values come back as they were sent, alone and in arrays, the first time and after", async (t) => {
  const session = await connect(t, await postgresUrl(t)).session();
  const texts = ["", "NULL", "null", " a ", 'a "b"', "a\\b", '\\"', "{a,b}", "a,b", "'", "é\u{1F600}", "\n\t", null];
  for (let time = 0; time < 2; time += 1) {
    for (const text of texts) assert.equal(await one(session, "SELECT CAST($1 AS text) AS value", [text]), text);
    const { rows } = await session.query<{ text: string | null; number: number | null; big: string | null }>(
      `SELECT unnest($1::text[]) AS text, unnest($2::integer[]) AS number, CAST(unnest($3::bigint[]) AS text) AS big`,
      [
        texts,
        texts.map((_, index) => (index === 3 ? null : -index)),
        texts.map((_, index) => 9007199254740993n + BigInt(index)),
      ],
    );
    assert.deepEqual(
      rows,
      texts.map((text, index) => ({
        text,
        number: index === 3 ? null : 0 - index,
        big: (9007199254740993n + BigInt(index)).toString(),
      })),
    );
  }
});

test("each text is prepared once, and those that are made up as they come are not kept", async (t) => {
  const session = await connect(t, await postgresUrl(t)).session();
  for (let time = 0; time < 3; time += 1) await session.query("SELECT CAST($1 AS text)", ["x"]);
  const prepared = "SELECT count(*) AS value FROM pg_prepared_statements WHERE statement LIKE $1";
  await Promise.all(Array.from({ length: 20 }, () => session.query("SELECT CAST($1 AS text) || ''", ["x"])));
  const uses = await session.query<{ statement: string; uses: number }>(
    `SELECT statement, generic_plans + custom_plans AS uses FROM pg_prepared_statements
     WHERE statement LIKE 'SELECT CAST%' ORDER BY statement`,
  );
  assert.deepEqual(uses.rows, [
    { statement: "SELECT CAST($1 AS text)", uses: 3 },
    { statement: "SELECT CAST($1 AS text) || ''", uses: 20 },
  ]);
  await Promise.all(Array.from({ length: 1_500 }, (_, index) => session.query(`SELECT ${index} AS made_up`)));
  assert.ok((await one<number>(session, prepared, ["%made_up"])) <= 1_000);
});

test("a failure that nobody waits for does not end the process", async (t) => {
  const session = await connect(t, await postgresUrl(t)).session();
  void session.query("SELECT 1 / 0");
  void session.script("SELECT 1 / 0");
  assert.equal(await one(session, "SELECT 1 AS value"), 1);
});

test("counts and times are numbers, and what is cast to text keeps every digit", async (t) => {
  const session = await connect(t, await postgresUrl(t)).session();
  const { rows } = await session.query("SELECT CAST($1 AS bigint) AS ms, CAST(CAST($2 AS bigint) AS text) AS key", [
    1_794_700_800_000,
    "3763711500000000001",
  ]);
  assert.deepEqual(rows, [{ ms: 1_794_700_800_000, key: "3763711500000000001" }]);
});

test("a connection has its name, its limits, and plans that look things up", async (t) => {
  const session = await connect(t, await postgresUrl(t)).session();
  const expected = {
    application_name: "test writer",
    statement_timeout: "10s",
    lock_timeout: "5s",
    idle_in_transaction_session_timeout: "15s",
    enable_seqscan: "off",
    enable_hashjoin: "off",
    enable_mergejoin: "off",
    plan_cache_mode: "force_generic_plan",
    jit: "off",
  };
  const actual: Record<string, string> = {};
  for (const name of Object.keys(expected))
    actual[name] = await one(session, "SELECT current_setting($1) AS value", [name]);
  assert.deepEqual(actual, expected);
});

test("a database that does not know the planner's settings is good enough", async (t) => {
  const fake = await fakePostgres(t, { answer: (text) => (/enable_|plan_cache|jit/.test(text) ? "42704" : null) });
  const session = await connect(t, fake.url).session();
  await session.script("SELECT 1");
  assert.ok(fake.statements.includes("SET jit = off"));
  assert.equal(fake.statements.at(-1), "SELECT 1");
});

test("a database that refuses a connection's settings for another reason is away", async (t) => {
  const fake = await fakePostgres(t, { answer: () => "57P03" });
  await assert.rejects(connect(t, fake.url).session(), StoreUnavailable);
});

test("everyone waits for one attempt; after it failed they hear so at once, and it is repeated less and less often", async (t) => {
  const clock = new VirtualClock();
  const fake = await fakePostgres(t, { mute: true });
  const connection = connect(t, fake.url, clock);
  const together = Promise.allSettled([connection.session(), connection.session(), connection.session()]);
  await until(() => fake.connections === 1);
  fake.drop();
  for (const outcome of await together)
    assert.ok(outcome.status === "rejected" && outcome.reason instanceof StoreUnavailable);
  assert.equal(fake.connections, 1);

  const pauses: number[] = [];
  for (let attempt = 2; attempt <= 9; attempt += 1) {
    let waited = 0;
    let asked = connection.session();
    // A refusal is there within the turn; an attempt on a mute server does not end by itself.
    while (await failsAtOnce(asked)) {
      await clock.advance(10);
      waited += 10;
      asked = connection.session();
    }
    await until(() => fake.connections === attempt);
    assert.ok(await failsAtOnce(connection.session()), "whoever comes while it is under way does not wait for it");
    assert.equal(fake.connections, attempt);
    fake.drop();
    await assert.rejects(asked, StoreUnavailable);
    pauses.push(waited);
  }
  assert.ok(pauses[0]! >= 100, `${pauses}`);
  assert.ok(pauses.at(-1)! >= MAX_PAUSE_MS / 2, `${pauses}`);
  assert.ok(
    pauses.every((pause) => pause <= MAX_PAUSE_MS + 10),
    `${pauses}`,
  );
});

test("a server that stops fails what is under way, is away at once, and is found again", async (t) => {
  const server = await startPostgres({ durable: false });
  t.after(() => server.remove());
  const connection = connect(t, server.url);
  const pool = openPool(t, server.url, 3);
  const session = await connection.session();
  await pool.use((reader) => one(reader, "SELECT 1 AS value"));
  const underWay = session.query("SELECT pg_sleep(60)");
  await server.stop();
  await assert.rejects(underWay, (error) => faultKind(error) === "away");
  await assert.rejects(session.query("SELECT 1"), (error) => faultKind(error) === "away");
  await assert.rejects(connection.session(), StoreUnavailable);
  await assert.rejects(connection.session(), StoreUnavailable);
  // The idle one may hear of it only when it is used.
  await assert.rejects(
    pool.use((reader) => one(reader, "SELECT 1 AS value")),
    (error) => faultKind(error) === "away",
  );
  await assert.rejects(
    pool.use((reader) => one(reader, "SELECT 1 AS value")),
    StoreUnavailable,
  );
  await server.start();
  const again = await eventually(() => connection.session());
  assert.equal(await one(again, "SELECT 1 AS value"), 1);
  assert.equal(await eventually(() => pool.use((reader) => one(reader, "SELECT 2 AS value"))), 2);
});

test("a connection that the server ends is replaced, idle ones included", async (t) => {
  const url = await postgresUrl(t);
  const connection = connect(t, url);
  const pool = openPool(t, url, 3);
  const session = await connection.session();
  const idle = await pool.use(backend);
  const kill = (pid: number): Promise<unknown> =>
    pool.use((reader) => reader.query("SELECT pg_terminate_backend($1)", [pid]));

  const underWay = session.query("SELECT pg_sleep(60)");
  const later = session.query("SELECT 1");
  const lost = Promise.allSettled([underWay, later]);
  const writer = await pool.use((reader) =>
    one<number>(
      reader,
      "SELECT pid AS value FROM pg_stat_activity WHERE application_name = 'test writer' AND datname = current_database()",
    ),
  );
  await kill(writer);
  for (const outcome of await lost)
    assert.ok(outcome.status === "rejected" && faultKind(outcome.reason) === "away", inspect(outcome));
  const next = await eventually(() => connection.session());
  assert.notEqual(await backend(next), writer);

  // The idle one, ended from the writer's connection.
  await next.query("SELECT pg_terminate_backend($1, 60000)", [idle]);
  assert.notEqual(
    await eventually(async () => {
      try {
        return await pool.use(backend);
      } catch (error) {
        throw asDatabaseError(error);
      }
    }),
    idle,
  );
});

test("a discarded session fails what is under way, and the next one is new", async (t) => {
  const connection = connect(t, await postgresUrl(t));
  const session = await connection.session();
  const first = await backend(session);
  assert.equal(await connection.session(), session);
  const underWay = session.query("SELECT pg_sleep(60)");
  connection.discard();
  await assert.rejects(underWay, (error) => faultKind(error) === "away");
  assert.notEqual(await backend(await connection.session()), first);
});

test("a database that falls silent is given up after a statement's time, but not one without a time limit", async (t) => {
  const fake = await fakePostgres(t, {});
  const clock = new VirtualClock();
  const session = await connect(t, fake.url, clock).session();
  const patient = new PostgresConnection({ ...optionsFor(fake.url), statementTimeoutMs: 0 }, "patient", clock);
  t.after(() => patient.close());
  const unlimited = await patient.session();
  let given = false;
  const waits = unlimited.query("SELECT 1").finally(() => {
    given = true;
  });
  const asked = session.query("SELECT 1");
  await clock.advance(STATEMENT_TIMEOUT_MS * 10);
  await assert.rejects(asked, (error) => error instanceof StoreUnavailable);
  assert.equal(given, false);
  patient.discard();
  await assert.rejects(waits);
});

test("a pool has no more connections than it may, and everyone gets a turn", async (t) => {
  const pool = openPool(t, await postgresUrl(t), 4);
  const pids = new Set<number>();
  let inside = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 30 }, () =>
      pool.use(async (session) => {
        inside += 1;
        most = Math.max(most, inside);
        pids.add(await backend(session));
        await session.query("SELECT pg_sleep(0.01)");
        inside -= 1;
      }),
    ),
  );
  assert.equal(most, 3);
  assert.equal(pids.size, 3);
});

test("who waits too long for a free connection hears that the store is not available", async (t) => {
  const clock = new VirtualClock();
  const pool = openPool(t, await postgresUrl(t), 1, clock);
  await pool.use(async () => {
    const refused = assert.rejects(
      pool.use(async () => {}),
      StoreUnavailable,
    );
    await clock.advance(STATEMENT_TIMEOUT_MS);
    await refused;
  });
  assert.equal(await pool.use((session) => one(session, "SELECT 1 AS value")), 1);
});

test("work that ends in the middle of a transaction does not leave it to the next", async (t) => {
  const pool = openPool(t, await postgresUrl(t), 1);
  const abandoned = pool.use(async (session) => {
    await session.query("BEGIN");
    await session.query("INSERT INTO opt_out (account_id, number, at_ms) VALUES (1, '1', 0)");
    throw new Error("out of here");
  });
  await assert.rejects(abandoned, { message: "out of here" });
  assert.equal(await pool.use((session) => one(session, "SELECT count(*) AS value FROM opt_out")), 0);
  // An error outside of a transaction is no reason to part.
  const pid = await pool.use(backend);
  await assert.rejects(pool.use((session) => session.query("SELECT 1 / 0")));
  assert.equal(await pool.use(backend), pid);
});

test("closing waits for the work under way, and nothing comes after it", async (t) => {
  const url = await postgresUrl(t);
  const pool = new PostgresPool(optionsFor(url), "test reader");
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const work = pool.use(async (session) => {
    begun.resolve();
    await held.promise;
    return one(session, "SELECT 1 AS value");
  });
  await begun.promise;
  let closed = false;
  const closing = pool.close().then(() => {
    closed = true;
  });
  await assert.rejects(
    pool.use(async () => {}),
    StoreUnavailable,
  );
  assert.equal(closed, false);
  held.resolve();
  assert.equal(await work, 1);
  await closing;

  const connection = new PostgresConnection(optionsFor(url), "test writer");
  const session = await connection.session();
  const last = one(session, "SELECT 1 AS value");
  await connection.close();
  assert.equal(await last, 1);
  await assert.rejects(connection.session(), StoreUnavailable);
});

test("no error tells the password", async (t) => {
  const good = new URL(await postgresUrl(t));
  const wrong = new URL(good);
  wrong.password = "hidden";
  const urls = [wrong.href, "postgres://user:hidden@[nonsense/x", "postgres://user:hidden@127.0.0.1:1/x"];
  for (const url of urls) {
    await assert.rejects(
      connect(t, url).session(),
      (error) =>
        !inspect(error, { depth: 5, showHidden: true }).includes("hidden@") && !String(error).includes("hidden"),
    );
    await assert.rejects(
      openPool(t, url, 2).use(async () => {}),
      (error) => !inspect(error, { depth: 5, showHidden: true }).includes("hidden"),
    );
  }
});

test("whatever keeps us from connecting, the database is away", async (t) => {
  const good = await postgresUrl(t);
  const changed = (change: (url: URL) => void): string => {
    const url = new URL(good);
    change(url);
    return url.href;
  };
  const urls = {
    "a wrong password": changed((url) => {
      url.password = "wrong";
    }),
    "no such database": changed((url) => {
      url.pathname = "/none";
    }),
    "no TLS there": changed((url) => url.searchParams.set("sslmode", "verify-full")),
    "no certificate here": changed((url) => url.searchParams.set("sslrootcert", "/none")),
  };
  for (const [what, url] of Object.entries(urls)) {
    await assert.rejects(connect(t, url).session(), StoreUnavailable, what);
    await assert.rejects(
      openPool(t, url, 2).use(async () => {}),
      StoreUnavailable,
      what,
    );
  }
  const refusing = await fakePostgres(t, { answer: () => "XX000" });
  await assert.rejects(connect(t, refusing.url).session(), StoreUnavailable);
});

test("errors are told apart, and only those about values speak against what was asked", () => {
  const coded = (code: string): Error => Object.assign(new Error("secret detail"), { code });
  const expected = {
    away: [
      ...["08006", "08P01", "53300", "57P01", "57P02", "57P03", "57014", "55P03", "25P03", "25006", "26000"],
      ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EMFILE", "ENFILE", "ENOBUFS", "EPROTO"],
      ...["EAI_FAIL", "CERT_HAS_EXPIRED", "SELF_SIGNED_CERT_IN_CHAIN", "ERR_TLS_CERT_ALTNAME_INVALID", "ERR_SSL_BAD"],
    ],
    again: ["40001", "40P01", "23505"],
    broken: [
      "42601",
      "42501",
      "28P01",
      "28000",
      "3D000",
      "55000",
      "58030",
      "58P01",
      "P0001",
      "0A000",
      "XX000",
      "XX001",
    ],
    refused: ["22012", "22003", "23503", "23514", "54000"],
  };
  for (const [kind, codes] of Object.entries(expected))
    for (const code of codes) assert.equal(faultKind(coded(code)), kind, code);
  assert.equal(faultKind(new Error("Connection terminated unexpectedly")), "away");
  assert.equal(faultKind(new Error("Received unexpected dataRow message from backend.")), "away");
  assert.equal(faultKind(new StoreUnavailable("away")), "away");
  assert.equal(faultKind(new Error("something else")), "refused");
  assert.equal(faultKind(Object.assign(new TypeError("no number"), { code: "ERR_INVALID_ARG_TYPE" })), "refused");
  assert.equal(faultKind("not even an error"), "refused");

  for (const code of ["57P01", "40001"]) {
    const error = asDatabaseError(coded(code));
    assert.ok(error instanceof StoreUnavailable);
    assert.ok(error.message.includes(code) && !error.message.includes("secret"));
  }
  const refused = coded("22003");
  assert.equal(asDatabaseError(refused), refused);
  assert.ok(asDatabaseError(coded("XX001")) instanceof StoreUnavailable);
});
