/** When a node says that it is ready: by what it knows, so that whatever keeps the database from answering does not keep the node from saying so. */
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { setUp, smppCatalogue, startNode, startWatchedSmsc } from "../support/cluster.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { callService, eventually } from "../support/service.ts";

const LEASE_MS = 1_500;
const MAX_CONNECTIONS = 40;

test("a node is ready while it renews its lease, and not when the database takes nothing", {
  timeout: 240_000,
}, async (t) => {
  const server = await startPostgres({ durable: false, settings: [`max_connections=${MAX_CONNECTIONS}`] });
  const { url } = server;
  const { smsc } = await startWatchedSmsc(t);
  const database = await setUp(t, url, smppCatalogue(smsc, { binds: 1, window: 10 }));
  const node = await startNode(t, database, { leaseMs: LEASE_MS });
  const ready = async (): Promise<number> =>
    (await callService(node.url, "GET", "/readyz", { authorization: null })).status;
  assert.equal(await ready(), 200);

  const locking = new pg.Client({ connectionString: url });
  await locking.connect();
  t.after(() => locking.end());
  t.after(() => server.remove());
  await locking.query("BEGIN; LOCK TABLE message IN ACCESS EXCLUSIVE MODE");
  const renewals = async (): Promise<string> =>
    (await database.query<{ until: string }>("SELECT CAST(alive_until AS text) AS until FROM node"))[0]!.until;
  const staysReady = async (why: string): Promise<void> => {
    for (let count = 0, until = await renewals(); count < 12; count++) {
      assert.equal(await ready(), 200, why);
      const before = until;
      until = await eventually(async () => (await renewals()) !== before && renewals());
    }
  };
  await staysReady("the lease is renewed, whoever holds a table");
  await locking.query("COMMIT");

  const taken: pg.Client[] = [];
  const takeOne = async (): Promise<boolean> => {
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => undefined);
    await client.connect();
    return taken.push(client) < MAX_CONNECTIONS;
  };
  await assert.rejects(
    async () => {
      while (await takeOne());
    },
    { code: "53300" },
  );
  await staysReady("the node has its connections, whoever gets none");
  await Promise.all(taken.map((client) => client.end()));

  // New connections reach a server that takes no writes, and the old ones end.
  const name = new URL(url).pathname.slice(1);
  await database.query(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
  await database.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'heliograph %'",
  );
  await eventually(async () => (await ready()) === 503);
  assert.equal((await callService(node.url, "GET", "/healthz", { authorization: null })).status, 200);
  await database.query(`ALTER DATABASE "${name}" RESET default_transaction_read_only`);
  await eventually(async () => (await ready()) === 200);
  assert.equal(node.process.exitCode, null, node.output());
});
