/** `heliograph doctor` where PostgreSQL is away, refuses, takes no writes, or does not answer: each is really so, and none of them hangs it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { examination, runAround } from "../support/doctor.ts";
import { fakePostgres } from "../support/fake-postgres.ts";
import { closedPort } from "../support/ports.ts";
import { postgresUrl } from "../support/postgres.ts";
import { commandsOn } from "./in-process.ts";

test("a database that is away is told with the reason, and a command says the same", async () => {
  const url = `postgres://user:hush@127.0.0.1:${await closedPort()}/sms`;
  const { code, about } = await examination(["--store", url]);
  assert.equal(code, 1);
  assert.match(about("database").says, /cannot be reached: the database is away \(ECONNREFUSED\)$/);
  assert.match(about("database").mend!, /^nothing listens there: start the database/);
  for (const command of [["serve"], ["account", "list"], ["init"]]) {
    const { code: ended, stderr } = await runAround([...command, "--store", url]);
    assert.equal(ended, 1);
    assert.match(stderr, /the database is away \(ECONNREFUSED\): nothing listens there: start the database/);
    assert.ok(!stderr.includes("hush"));
  }
});

test("a database that lets this user not in says why, and what to correct", async (t) => {
  const url = await postgresUrl(t);
  const wrong = await examination(["--store", url.replace(/:[^:@]+@/, ":left@")]);
  assert.match(wrong.about("database").says, /cannot be used: password authentication failed/);
  assert.match(wrong.about("database").mend!, /^correct user and password of \[store\] url/);
  assert.ok(!JSON.stringify(wrong.findings).includes(":left@"));
  const none = await examination(["--store", url.replace(/\/[^/]+$/, "/nowhere")]);
  assert.match(none.about("database").says, /cannot be used: database "nowhere" does not exist/);
  assert.match(none.about("database").mend!, /createdb/);
});

test("a database that is starting is waited for", async (t) => {
  const { url } = await fakePostgres(t, { answer: () => "57P03" });
  const { about } = await examination(["--store", url]);
  assert.match(about("database").says, /\(57P03\)$/);
  assert.match(about("database").mend!, /wait for it/);
});

test("a database that takes connections and says nothing does not hang it", async (t) => {
  const { url } = await fakePostgres(t, { mute: true });
  const { code, about } = await examination(["--store", url]);
  assert.equal(code, 1);
  assert.match(about("database").says, /cannot be reached: the database is away/);
  assert.match(about("database").mend!, /^it does not answer/);
});

test("a step that does not end within --timeout is the finding, and the examination ends", async (t) => {
  // It lets everybody in, and answers no question.
  const { url } = await fakePostgres(t, {});
  const { code, findings } = await examination(["--store", url, "--timeout", "5"]);
  assert.equal(code, 1);
  const last = findings.at(-1)!;
  assert.deepEqual([last.area, last.about, last.state], ["store", "database", "wrong"]);
  assert.equal(last.says, "the database does not answer within 5 seconds; what comes after it was not looked at");
  assert.match(last.mend!, /^nothing that was accepted is lost/);
});

test("a database that falls silent after it let us in is told by itself when there is time", async (t) => {
  const { url } = await fakePostgres(t, {});
  const { about } = await examination(["--store", url], { settings: { HELIOGRAPH_STORE_STATEMENT_TIMEOUT_MS: "100" } });
  assert.equal(about("database").state, "wrong");
  assert.match(about("database").says, /the database does not answer|is away/);
});

test("a database that takes no writes is told, and looked into", async (t) => {
  const url = await postgresUrl(t, { empty: true });
  await commandsOn("--store", url).done("init");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`ALTER DATABASE "${new URL(url).pathname.slice(1)}" SET default_transaction_read_only = on`);
  await client.end();
  const { about } = await examination(["--store", url]);
  assert.deepEqual(
    [about("writes").state, about("writes").says],
    ["wrong", "this database is read-only for this user"],
  );
  assert.equal(about("operator").state, "ok", "it was looked into, and nothing was migrated");
});

test("what a database that took over had not received is told", async (t) => {
  const url = await postgresUrl(t, { empty: true });
  await commandsOn("--store", url).done("init");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const now = Date.now();
  await client.query(`INSERT INTO lost_commit (at_ms, node, groups, from_ms, until_ms) VALUES
    (${now}, 'node one', 3, 0, 1000), (${now - 30 * 86_400_000}, 'node two', 4, 0, 1000)`);
  await client.end();
  const { about } = await examination(["--store", url]);
  assert.equal(about("loss").state, "wrong");
  assert.equal(
    about("loss").says,
    "node one: the database is 3 groups behind what was written: messages acknowledged between 1970-01-01T00:00:00.000Z and 1970-01-01T00:00:01.000Z may be missing",
  );
});

test("a time that is none is refused", async () => {
  const [code, says] = await commandsOn().refused("doctor", "--timeout", "0");
  assert.equal(code, 2);
  assert.match(says, /--timeout must be a number of seconds/);
});
