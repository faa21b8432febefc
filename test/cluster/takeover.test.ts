/** A node is killed while somebody holds one of its messages locked: the others send all the rest at once, and that one when it is let go. */
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { seededRandom } from "../../src/runtime/random.ts";
import {
  assertAllThere,
  Load,
  leftInDoubt,
  sentAgain,
  setUp,
  smppCatalogue,
  startNode,
  startWatchedSmsc,
  unfinished,
} from "../support/cluster.ts";
import { dropLeft, postgresUrl } from "../support/postgres.ts";
import { ReportReceiver } from "../support/report-receiver.ts";
import { eventually } from "../support/service.ts";

const LEASE_MS = 2_000;

test("a locked message of a node that died keeps none of its others from being sent", {
  timeout: 600_000,
}, async (t) => {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  // Slow, so that the node has many messages in memory.
  const { smsc, parts } = await startWatchedSmsc(t, { faults: { delayAnswer: { ms: 100 } } });
  const database = await setUp(t, await postgresUrl(t), smppCatalogue(smsc, { binds: 1, window: 3 }));
  const dies = await startNode(t, database, { leaseMs: LEASE_MS });
  let urls = [dies.url];
  const random = seededRandom(1);
  const load = new Load(t, { urls: () => urls, random, notifyUrl: receiver.url, senders: 20, pauseMs: 1 });
  await eventually(async () => (await leftInDoubt(database, dies)).size > 100);
  const gone = new Promise((resolve) => dies.process.once("exit", resolve));
  dies.process.kill("SIGKILL");
  await gone;
  const inDoubt = await leftInDoubt(database, dies);
  const holding = new pg.Client({ connectionString: database.url });
  await holding.connect();
  t.after(() => holding.end());
  await holding.query("BEGIN");
  const locked = await holding.query("SELECT body FROM message WHERE state = 1 AND owner = $1 LIMIT 1 FOR UPDATE", [
    dies.epoch,
  ]);
  assert.equal(locked.rowCount, 1);

  const other = await startNode(t, database, { leaseMs: LEASE_MS });
  urls = [other.url];
  await load.stop();
  await eventually(async () => (await unfinished(database)) === 1);
  const isThere = async (): Promise<boolean> => (await database.query("SELECT 1 FROM gone_node")).length === 1;
  assert.equal(await isThere(), true, "it still owns the one");
  await holding.query("COMMIT");
  await eventually(async () => (await unfinished(database)) === 0 && !(await isThere()));
  await assertAllThere(database, load);
  assert.deepEqual(
    [...sentAgain(parts)].filter(([text, times]) => times > 2 || !inDoubt.has(text)),
    [],
    "only what was on the wire when it died went twice",
  );
  assert.equal(other.process.exitCode, null, other.output());
  t.after(dropLeft);
});
