/** Receipts that reach another node than the one that submitted: they end their message, and its reports stay in order. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/runtime/clock.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import { countIn, smppCatalogue, startCluster, startWatchedSmsc } from "../support/cluster.ts";
import { ReportReceiver } from "../support/report-receiver.ts";
import { ADVANCED, SINGLE } from "../support/sending.ts";
import { eventually } from "../support/service.ts";

const SEED = Number(process.env.SEED ?? systemClock.now() % 1_000_000);
const MESSAGES = 300;
const PER_REQUEST = 5;
const SENT = 3;
const DELIVERED = 5;

test(`receipts over any connection, and before the answer, end every message, and reports stay in order (SEED=${SEED})`, {
  timeout: 600_000,
}, async (t) => {
  const random = seededRandom(SEED);
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  receiver.answer((_request, response) => {
    setTimeout(() => response.writeHead(200).end(), random.next() * 20);
  });
  // Phones answer at once, and for some the receipt is sent with the answer, over whichever connection is next.
  const { smsc, parts } = await startWatchedSmsc(t, {
    answerAfterMs: 0,
    faults: { receiptFirst: { probability: 0.5, ms: 0 } },
  });
  const { url, nodes } = await startCluster(t, 2, {
    catalogue: smppCatalogue(smsc, { binds: 2, window: 20 }),
    // They find each other at once, and not with the next round.
    settings: { dispatch: { sweepEveryMs: 3_600_000 } },
  });
  const isShared = async () =>
    smsc.connections.length === 2 &&
    (await nodes[0]!.store.cluster()).nodes.dispatch === 2 &&
    smsc.counters.connections > 2;
  await eventually(isShared);

  const messageIds: string[] = [];
  for (let sent = 0; sent < MESSAGES; sent += PER_REQUEST) {
    const destinations = Array.from({ length: PER_REQUEST }, (_, index) => ({
      to: `4179${String(sent + index).padStart(7, "0")}`,
    }));
    const messages = [
      { from: "Sender", text: "Hello", notifyUrl: receiver.url, intermediateReport: true, destinations },
    ];
    const node = nodes[Math.floor(random.next() * nodes.length)]!;
    const { json } = await node.call("POST", ADVANCED, { body: { messages } });
    for (const { messageId } of json.messages) messageIds.push(messageId);
  }

  const count = (what: string): Promise<number> => countIn(url, what);
  await eventually(async () => (await count("message WHERE state <> 4")) === 0);
  await eventually(async () => (await count("report")) === 0);
  assert.equal(await count(`message WHERE status_id = ${DELIVERED}`), MESSAGES);
  assert.equal(await count("parked_receipt"), 0);
  assert.equal(await count("part"), 0);
  assert.equal(parts.length, MESSAGES);
  assert.equal(new Set(parts.map(({ connection }) => connection)).size, 2, "both nodes have submitted");

  const statuses = new Map(messageIds.map((messageId) => [messageId, [] as number[]]));
  for (const { messageId, status } of receiver.items) statuses.get(messageId)!.push(status.id);
  assert.deepEqual(
    [...statuses].filter(([, ids]) => String(ids) !== String([SENT, DELIVERED])),
    [],
    "each was reported on its way, and then at its end",
  );
});

test("a message goes through nodes that each do one thing", { timeout: 600_000 }, async (t) => {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  const { smsc, parts } = await startWatchedSmsc(t, { answerAfterMs: 0 });
  const catalogue = smppCatalogue(smsc, { binds: 1, window: 20 });
  const roles = ["api", "dispatch", "reports"];
  const { url, nodes } = await startCluster(t, 3, { catalogue, roles });
  await eventually(async () => smsc.connections.length === 1);
  const [api, ...others] = nodes;
  for (const node of others) {
    const body = { from: "Sender", to: "41790000001", text: "Hello" };
    assert.equal((await node.call("POST", SINGLE, { body })).status, 404, "it takes no messages");
  }
  const destinations = Array.from({ length: 20 }, (_, index) => ({ to: `417900000${index + 10}` }));
  const messages = [{ from: "Sender", text: "Hello", notifyUrl: receiver.url, intermediateReport: true, destinations }];
  assert.equal((await api!.call("POST", ADVANCED, { body: { messages } })).status, 200);
  await eventually(async () => (await countIn(url, "message WHERE state <> 4")) === 0);
  await eventually(async () => (await countIn(url, "report")) === 0);
  assert.equal(parts.length, 20);
  assert.deepEqual(
    destinations.map(({ to }) => receiver.items.filter((item) => item.to === to).map(({ status }) => status.id)),
    destinations.map(() => [SENT, DELIVERED]),
  );
});
