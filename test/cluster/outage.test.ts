/** The database stops as if its machine had lost its power, and comes back: every node says so meanwhile, and goes on by itself. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/runtime/clock.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import {
  assertAllThere,
  assertUnavailable,
  Load,
  pause,
  sentAgain,
  setUp,
  smppCatalogue,
  startNode,
  startWatchedSmsc,
  unfinished,
} from "../support/cluster.ts";
import { startPostgres } from "../support/postgres.ts";
import { ReportReceiver } from "../support/report-receiver.ts";
import { callService, eventually } from "../support/service.ts";

const SEED = Number(process.env.SEED ?? systemClock.now() % 1_000_000);
const LEASE_MS = 2_000;
const DELIVERED = 5;
const BINDS = 3;

async function isReady(url: string): Promise<boolean> {
  return (await callService(url, "GET", "/readyz", { authorization: null })).status === 200;
}

test(`the database's end and return lose nothing and fence nobody (SEED=${SEED})`, { timeout: 600_000 }, async (t) => {
  const random = seededRandom(SEED);
  const server = await startPostgres({ durable: true });
  const receiver = await ReportReceiver.start();
  const { smsc, parts, mostBinds } = await startWatchedSmsc(t);
  const database = await setUp(t, server.url, smppCatalogue(smsc, { binds: BINDS, window: 10 }));
  const start = () => startNode(t, database, { leaseMs: LEASE_MS, logLevel: "info" });
  const nodes = await Promise.all([start(), start(), start()]);
  t.after(() => receiver.stop());
  t.after(() => server.remove());
  const urls = nodes.map(({ url }) => url);
  const load = new Load(t, { urls: () => urls, random, notifyUrl: receiver.url, senders: 6, pauseMs: 10 });
  await eventually(async () => smsc.connections.length === BINDS && load.accepted.size > 100);

  await server.stop();
  const stoppedAt = performance.now();
  const refusedBy = (url: string): number => load.unavailable.filter((answer) => answer.url === url).length;
  const acceptedBefore = load.accepted.size;
  await eventually(async () => urls.every((url) => refusedBy(url) > 5));
  for (const url of urls) {
    await eventually(async () => !(await isReady(url)));
    assert.equal((await callService(url, "GET", "/healthz", { authorization: null })).status, 200);
  }
  // Long enough for every lease to be over.
  await pause(Math.max(0, 2 * LEASE_MS + random.next() * 1_000 - (performance.now() - stoppedAt)));
  const takenDuring = parts.length;
  await pause(500);
  assert.equal(parts.length, takenDuring, "without the lease nothing goes out");
  const acceptedDuring = load.accepted.size - acceptedBefore;
  await server.start();
  const outageMs = performance.now() - stoppedAt;
  await database.reopen();

  await eventually(async () => (await Promise.all(urls.map(isReady))).every(Boolean));
  const acceptedAfter = load.accepted.size;
  await eventually(async () => load.accepted.size - acceptedAfter > 100);

  // And once more for a moment, which need not be as long as a lease.
  const restartedAt = performance.now();
  await server.stop();
  await server.start();
  await database.reopen();
  const restartMs = performance.now() - restartedAt;
  const acceptedThen = load.accepted.size;
  await eventually(async () => load.accepted.size - acceptedThen > 50);
  await load.stop();
  await eventually(async () => (await unfinished(database)) === 0);
  // A whole lease more, after which those who are in touch may take others for dead.
  await pause(1.5 * LEASE_MS);

  for (const node of nodes) assert.equal(node.process.exitCode, null, node.output());
  const epochs = await database.query<{ epoch: string }>("SELECT epoch FROM node ORDER BY epoch");
  assert.deepEqual(
    epochs.map(({ epoch }) => Number(epoch)),
    nodes.map(({ epoch }) => epoch).sort((one, other) => one - other),
    "nobody was fenced",
  );
  await eventually(async () => smsc.connections.length === BINDS);
  for (const answer of load.unavailable) assertUnavailable(answer);
  assert.ok(acceptedDuring <= 6, `${acceptedDuring} answers of 200 after the database's end, which were on their way`);
  const stored = await assertAllThere(database, load);
  assert.deepEqual(
    stored.filter(({ status }) => status !== DELIVERED),
    [],
    "every message has its end",
  );
  const unknown = new Map(stored.map((message) => [message.text, message.unknown]));
  assert.deepEqual(
    [...sentAgain(parts)].filter(([text, times]) => times - 1 > unknown.get(text)!),
    [],
    "nothing was sent twice",
  );
  assert.ok(mostBinds() <= BINDS);

  // The connections that write, that look and that renew: each tries alone, four times within a second, and then after half of the longest
  // pause at the least. The hundreds of requests meanwhile make no attempts of their own.
  const failed = nodes.map((node) =>
    [...node.output().matchAll(/"failedAttempts":(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0),
  );
  const most = 3 * (2 * 4 + (outageMs + restartMs) / (LEASE_MS / 6));
  for (const attempts of failed) assert.ok(attempts > 0 && attempts <= most, `${failed} attempts, of ${most} at most`);
  const [sessions] = await database.query<{ count: string }>(
    "SELECT sessions AS count FROM pg_stat_database WHERE datname = current_database()",
  );
  t.diagnostic(
    `${stored.length} messages, ${load.unavailable.length} answers of 503, ${failed} failed attempts to connect in ` +
      `${Math.round(outageMs)} ms, ${sessions!.count} sessions after it, ${sentAgain(parts).size} sent again`,
  );
});
