/** Three nodes on one database, killed one after the other under load: nothing is lost, nothing charged or reported twice. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/runtime/clock.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import {
  assertAllThere,
  Load,
  leftInDoubt,
  type Node,
  pause,
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
const KILLS = 2;
const BINDS = 4;
const LEASE_MS = 2_000;
const DELIVERED = 5;

test(`nodes killed under load lose nothing, and send again only what was left in doubt (SEED=${SEED})`, {
  timeout: 600_000,
}, async (t) => {
  const random = seededRandom(SEED);
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  // Slow, so that kills meet with reports that were sent and not yet answered.
  receiver.answer((_request, response) => {
    setTimeout(() => response.writeHead(200).end(), 50);
  });
  const { smsc, parts, mostBinds } = await startWatchedSmsc(t, {
    faults: { delayAnswer: { ms: 200 }, receiptFirst: { probability: 0.5, ms: 0 } },
  });
  const database = await setUp(t, await postgresUrl(t), smppCatalogue(smsc, { binds: BINDS, window: 10 }));
  const start = (): Promise<Node> => startNode(t, database, { leaseMs: LEASE_MS });
  const nodes = await Promise.all([start(), start(), start()]);
  const load = new Load(t, { urls: () => nodes.map(({ url }) => url), random, notifyUrl: receiver.url, senders: 4 });

  /**
   * A message goes out twice only when a carrier has it and the database does not know: its submit was on the way, or the carrier's answer
   * on its way to the commit, when its node was killed. Such a message is still the dead node's own in the database. So everything that is
   * not, right after a kill, must not be seen again, and what is, once more for each kill that it met with.
   */
  const inDoubt: Set<string>[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const before = load.accepted.size;
    await eventually(async () => load.accepted.size - before >= 50);
    await pause(random.next() * 500);
    const [victim] = nodes.splice(Math.floor(random.next() * nodes.length), 1);
    assert.equal(await victim!.end("SIGKILL"), "SIGKILL");
    inDoubt.push(await leftInDoubt(database, victim!));
    nodes.push(await start());
  }
  await load.stop();
  await eventually(async () => (await unfinished(database)) === 0);
  for (const node of nodes) assert.equal(node.process.exitCode, null, node.output());

  const stored = await assertAllThere(database, load);
  assert.deepEqual(
    stored.filter(({ status }) => status !== DELIVERED),
    [],
    "every message has its end",
  );

  const again = sentAgain(parts);
  const unknown = new Map(stored.map((message) => [message.text, message.unknown]));
  const unexcused = [...again].filter(([text, times]) => {
    const kills = inDoubt.filter((texts) => texts.has(text)).length;
    return times - 1 > kills + unknown.get(text)!;
  });
  assert.deepEqual(unexcused, [], "only what a kill left in doubt was sent again");
  assert.equal(new Set(parts.map(({ text }) => text)).size, stored.length, "the network saw every message");
  assert.ok(mostBinds() <= BINDS, `${mostBinds()} connections at a time`);
  const [left] = await database.query<{ count: string }>("SELECT count(*) FROM part");
  assert.equal(left!.count, "0", "and no part waits for a receipt");

  const reported = new Map<string, Set<unknown>>();
  for (const { headers, items } of receiver.requests) {
    for (const { messageId, status } of items) {
      assert.equal(status.id, DELIVERED);
      reported.set(messageId, (reported.get(messageId) ?? new Set()).add(headers["webhook-id"]));
    }
  }
  assert.deepEqual(
    stored.filter(({ key }) => reported.get(key)?.size !== 1),
    [],
    "each was reported, and under one id however often",
  );
  t.diagnostic(
    `${receiver.items.length - stored.length} reports came again, ${stored.length} messages, ${again.size} of them sent again, ${inDoubt.map((texts) => texts.size)} in doubt at the kills, ` +
      `${load.unavailable.length} answers of 503, ${mostBinds()} connections at most`,
  );
  t.after(dropLeft);
});
