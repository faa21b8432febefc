/** A node that was stopped for longer than its lease finds itself taken over from: it does nothing any more, and ends. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/runtime/clock.ts";
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

const SEED = Number(process.env.SEED ?? systemClock.now() % 1_000_000);
const LEASE_MS = 2_000;
const DELIVERED = 5;
/** EX_TEMPFAIL: its supervisor starts it again. */
const TRY_AGAIN = 75;

test(`a node stopped beyond its lease sends nothing that others took over, and ends with a reason (SEED=${SEED})`, {
  timeout: 600_000,
}, async (t) => {
  const random = seededRandom(SEED);
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  // Slow, so that the node has messages on the wire and many more in memory.
  const { smsc, parts } = await startWatchedSmsc(t, { faults: { delayAnswer: { ms: 100 } } });
  const database = await setUp(t, await postgresUrl(t), smppCatalogue(smsc, { binds: 2, window: 3 }));
  const start = () => startNode(t, database, { leaseMs: LEASE_MS });
  const stopped = await start();
  await eventually(async () => smsc.connections.length === 2);
  const first = new Set(smsc.connections.map(({ id }) => id));
  const other = await start();
  const isShared = () => smsc.connections.length === 2 && smsc.connections.some(({ id }) => !first.has(id));
  await eventually(async () => isShared());
  const { id: connection } = smsc.connections.find(({ id }) => first.has(id))!;

  let urls = [stopped.url, other.url];
  const options = { urls: () => urls, random, notifyUrl: receiver.url, patienceMs: 4_000 };
  const load = new Load(t, { ...options, senders: 20 });
  const waiting = async (): Promise<number> => (await leftInDoubt(database, stopped)).size;
  await eventually(async () => (await waiting()) > 30);
  stopped.process.kill("SIGSTOP");
  const inDoubt = await leftInDoubt(database, stopped);
  assert.ok(inDoubt.size > 0, "it had messages");
  const isKnown = async () => (await database.query("SELECT 1 FROM node WHERE epoch = $1", stopped.epoch)).length === 1;
  await eventually(async () => !(await isKnown()));
  const takenOverAt = parts.length;
  urls = [other.url];
  const isGoneOnWith = () => parts.slice(takenOverAt).some(({ text }) => inDoubt.has(text));
  await eventually(async () => isGoneOnWith());

  const ended = new Promise<number | null>((resolve) => stopped.process.once("exit", resolve));
  stopped.process.kill("SIGCONT");
  assert.equal(await ended, TRY_AGAIN, stopped.output());
  assert.match(stopped.output(), /^heliograph: nothing may be done in this node's name any more \(.*\), so it ends/m);
  await load.stop();
  await eventually(async () => (await unfinished(database)) === 0);
  assert.deepEqual(
    parts.slice(takenOverAt).filter((part) => part.connection === connection),
    [],
    "from the take-over on, nothing came from it",
  );

  const stored = await assertAllThere(database, load);
  assert.deepEqual(
    stored.filter(({ status }) => status !== DELIVERED),
    [],
    "every message has its end",
  );
  const again = sentAgain(parts);
  assert.deepEqual(
    [...again].filter(([text, times]) => times > 2 || !inDoubt.has(text)),
    [],
    "only what it had on the wire was sent again, once",
  );
  assert.equal(other.process.exitCode, null, other.output());
  t.diagnostic(`${stored.length} messages, ${inDoubt.size} in doubt at the stop, ${again.size} sent again`);
  t.after(dropLeft);
});
