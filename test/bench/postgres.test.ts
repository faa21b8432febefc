/** The PostgreSQL server of a run: set as in production, and asked what it did. */
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { createDatabase, postgresServer, serverSettings } from "../../bench/cycle/postgres.ts";
import { shortened } from "../../bench/cycle/server-profile.ts";

const GB = 2 ** 30;

test("a server has a quarter of the memory, and no more than eight gigabytes", () => {
  assert.deepEqual(
    [1, 24, 128].map((gigabytes) => serverSettings(gigabytes * GB)[0]),
    ["shared_buffers=256MB", "shared_buffers=6144MB", "shared_buffers=8192MB"],
  );
});

test("a run's own server flushes, and has its checkpoints far apart", async (t) => {
  const stack = new AsyncDisposableStack();
  t.after(() => stack.disposeAsync());
  const server = await postgresServer({ url: null, profile: false }, stack);
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  stack.defer(() => client.end());
  const wanted = {
    fsync: "on",
    synchronous_commit: "on",
    max_wal_size: "8GB",
    huge_pages: "off",
    wal_compression: "off",
    checkpoint_timeout: "5min",
  };
  for (const [name, value] of Object.entries(wanted)) {
    const { rows } = await client.query({ text: `SHOW ${name}`, rowMode: "array" });
    assert.equal(rows[0]![0], value, name);
  }
});

test("a profile tells the statements, the waits and the rows written, each by message, and nothing of what was before", async (t) => {
  const stack = new AsyncDisposableStack();
  t.after(() => stack.disposeAsync());
  const server = await postgresServer({ url: null, profile: true }, stack);
  const { url, watch } = await createDatabase(server, stack);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const write = (): Promise<unknown> => client.query("INSERT INTO kept (id) SELECT generate_series(1, $1::int)", [5]);
  await client.query("CREATE TABLE kept (id INT) PARTITION BY RANGE (id)");
  await client.query("CREATE TABLE kept_1 PARTITION OF kept FOR VALUES FROM (1) TO (3)");
  await client.query("CREATE TABLE kept_2 PARTITION OF kept DEFAULT");
  await write();
  const watching = await watch!();
  await write();
  await write();
  await client.query("SELECT pg_sleep(0.5)");
  await client.query("DELETE FROM kept WHERE id = 1");
  await client.end();
  const { statements, waits, tables, busyConnections } = await watching.end(5);
  assert.deepEqual(tables, [{ table: "kept", inserted: 2, updated: 0, hotUpdated: 0, deleted: 0.6 }]);
  const [slept] = statements;
  assert.match(slept!.text, /^SELECT pg_sleep\(\$1\)$/);
  assert.ok(slept!.micros >= 100_000);
  const inserts = statements.find(({ text }) => text.startsWith("INSERT"));
  assert.deepEqual([inserts?.calls, inserts?.rows], [0.4, 2]);
  assert.equal(waits[0]?.event, "Timeout/PgSleep");
  assert.equal(Math.round(busyConnections), 1);
});

test("a statement is told on one line, without its columns and values", () => {
  assert.equal(
    shortened('SELECT id, carrier_id AS "carrierId", outcome,\n  error_id FROM settled WHERE name = $1'),
    "SELECT … FROM settled WHERE name = $1",
  );
  assert.equal(
    shortened("INSERT INTO part (carrier_id,message_key,counts,at_ms) VALUES ($1)"),
    "INSERT INTO part (…) VALUES ($1)",
  );
  assert.equal(
    shortened("UPDATE message SET state = changed.state, status_id = changed.status_id FROM unnest($1) AS changed"),
    "UPDATE message SET … FROM unnest($1) AS changed",
  );
  assert.equal(
    shortened(
      "SELECT 1 FROM (SELECT unnest($1::text[]) AS a, unnest($2::double precision[]) AS b) AS wanted JOIN report ON id = a",
    ),
    "SELECT 1 FROM (SELECT unnest(…)) AS wanted JOIN report ON id = a",
  );
  assert.equal(shortened(`SELECT ${"x".repeat(200)}`).length, 110);
});
