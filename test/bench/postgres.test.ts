/** The PostgreSQL server of a run: set as in production. */
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { postgresServer, serverSettings } from "../../bench/cycle/postgres.ts";

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
  const server = await postgresServer(null, stack);
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
