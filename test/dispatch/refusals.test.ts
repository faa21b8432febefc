/** A store that refuses what carriers said: nothing good waits for it, and nothing is acknowledged that is not safe. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { retryHeld } from "../../src/admin/quarantine.ts";
import { RULES } from "../../src/commands/table.ts";
import { type DispatchCounts, zeroCounts } from "../../src/dispatch/dispatch-metrics.ts";
import { MessageOutcomes } from "../../src/dispatch/message-outcomes.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { STATUS } from "../../src/sms/statuses.ts";
import { localStore } from "../../src/store/group.ts";
import { MAX_SET_ASIDE } from "../../src/store/outcome-recorder.ts";
import type { Store } from "../../src/store/port/store.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { Bench, CARRIER, NOW } from "../store/harness.ts";
import { storeDirectory } from "../support/service.ts";

const SECOND_MS = 1_000;

interface CarrierQueue {
  readonly bench: Bench;
  readonly outcomes: MessageOutcomes;
  readonly counts: DispatchCounts;
  /** Whether the store refuses a call. */
  refuses: (command: keyof Store, input: unknown) => boolean;
  /** Brings a receipt of this id, and counts it when it is acknowledged. */
  bringReceipt(id: string): void;
  readonly acknowledged: string[];
}

async function startDispatch(t: TestContext): Promise<CarrierQueue> {
  const directory = await storeDirectory(t);
  const bench = await Bench.start(t, async () => ({
    async open(clock, lanes, onFeed) {
      const engine = new SqliteEngine({ rules: RULES, directory, clock, lanes, mode: "deliver" });
      return {
        store: localStore(engine, onFeed),
        overflowed: engine.overflowedLanes(),
        close: async () => engine.close(),
      };
    },
  }));
  const store = new Proxy(bench.store, {
    get: (target, name: keyof Store) => async (input: never) => {
      if (carrierQueue.refuses(name, input)) throw new RangeError("a value has no place");
      return target[name](input);
    },
  });
  const counts = zeroCounts();
  const { clock } = bench;
  const outcomes = new MessageOutcomes({ store, clock, log: silentLog, onWritten: () => undefined, counts });
  t.after(() => outcomes.recorder.abandon());
  const acknowledged: string[] = [];
  const carrierQueue: CarrierQueue = {
    bench,
    outcomes,
    counts,
    acknowledged,
    refuses: () => false,
    bringReceipt: (id) => void outcomes.receipt(CARRIER, bench.receipt(id)).then(() => acknowledged.push(id)),
  };
  return carrierQueue;
}

/** Whether a call is about what is called bad. */
const isBad = (input: unknown): boolean => JSON.stringify(input).includes("bad");

/** Time goes on until it is so. */
async function untilLater({ bench }: CarrierQueue, isSo: () => boolean): Promise<void> {
  for (let seconds = 0; !isSo(); seconds++) {
    assert.ok(seconds < 600, "it never comes to that");
    await bench.clock.advance(SECOND_MS);
  }
}

test("good receipts are acknowledged before the bad ones of their batch are given up", async (t) => {
  const carrierQueue = await startDispatch(t);
  carrierQueue.refuses = (command, input) => command === "received" && isBad(input);
  const ids = Array.from({ length: 40 }, (_, index) => (index % 4 === 0 ? `bad-${index}` : `good-${index}`));
  for (const id of ids) carrierQueue.bringReceipt(id);
  const good = ids.filter((id) => !isBad(id));
  // No time goes by.
  for (let turns = 0; carrierQueue.acknowledged.length < good.length; turns++) {
    assert.ok(turns < 10_000, `${carrierQueue.acknowledged.length} acknowledged`);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(carrierQueue.acknowledged, good);
  await untilLater(carrierQueue, () => carrierQueue.acknowledged.length === ids.length);
  assert.equal((await carrierQueue.bench.store.quarantined({ limit: 0 })).count, 10);
});

test("a store that refuses everything has a bounded number set aside; the others are recorded when it takes them", async (t) => {
  const carrierQueue = await startDispatch(t);
  const { bench } = carrierQueue;
  let refuses = true;
  carrierQueue.refuses = (command) => command === "received" && refuses;
  const more = 50;
  for (let index = 0; index < MAX_SET_ASIDE + more; index++) carrierQueue.bringReceipt(`id-${index}`);
  await untilLater(carrierQueue, () => carrierQueue.counts.quarantined === MAX_SET_ASIDE);
  await bench.clock.advance(30 * SECOND_MS);
  assert.ok(carrierQueue.acknowledged.length < MAX_SET_ASIDE + 5, `${carrierQueue.acknowledged.length} acknowledged`);
  assert.equal(carrierQueue.counts.quarantined, carrierQueue.acknowledged.length);
  refuses = false;
  await untilLater(carrierQueue, () => carrierQueue.acknowledged.length === MAX_SET_ASIDE + more);
  const { count: aside } = await bench.store.quarantined({ limit: 0 });
  const { count: parked } = await bench.store.parkedReceipts({ limit: 1 });
  assert.equal(aside + parked, MAX_SET_ASIDE + more);
  assert.equal(aside, carrierQueue.counts.quarantined);
});

test("what the store refuses and cannot keep aside is not acknowledged until it can", async (t) => {
  const carrierQueue = await startDispatch(t);
  let isFull = true;
  carrierQueue.refuses = (command, input) =>
    isBad(input) && (command === "received" || (command === "quarantine" && isFull));
  carrierQueue.bringReceipt("bad");
  await carrierQueue.bench.clock.advance(120 * SECOND_MS);
  assert.deepEqual([carrierQueue.acknowledged.length, carrierQueue.counts.quarantined], [0, 0]);
  isFull = false;
  await untilLater(carrierQueue, () => carrierQueue.acknowledged.length === 1);
  assert.equal((await carrierQueue.bench.store.quarantined({ limit: 0 })).count, 1);
});

test("a message that a carrier took and whose record the store refuses is never sent again, and stays charged", async (t) => {
  const carrierQueue = await startDispatch(t);
  const { bench, outcomes } = carrierQueue;
  await bench.accept([bench.message()], { notifyUrl: "http://client.example/" });
  const { key, to } = bench.takeMessages()[0]!;
  const balance = await bench.balance();
  carrierQueue.refuses = (command) => command === "submitted";
  const parts = [{ carrierMessageId: "1", counts: true }];
  outcomes.submitted({ key, carrierId: CARRIER, parts, refusedErrorId: null, atMs: NOW }, to);
  await untilLater(carrierQueue, () => carrierQueue.counts.quarantined === 1);
  const { items } = await bench.store.quarantined({ limit: 10 });
  assert.deepEqual(
    items.map(({ command, subject }) => [command, subject]),
    [["submitted", key]],
  );
  const reports = bench.takeReports().flatMap((batch) => batch.items);
  assert.deepEqual(
    reports.map(({ statusId }) => statusId),
    [STATUS.EXPIRED_UNKNOWN.id],
  );
  await bench.restart();
  const { claimed } = await bench.store.claimLane({ accountId: bench.accountId, carrierId: CARRIER, limit: 10 });
  assert.equal(claimed, 0);
  assert.equal(await bench.balance(), balance);
});

test("a message whose outcome could not be recorded at all is in doubt, and is not handed over again after a start", async (t) => {
  const carrierQueue = await startDispatch(t);
  const { bench, outcomes } = carrierQueue;
  await bench.accept([bench.message({ to: "41790000001" }), bench.message({ to: "41790000002" })]);
  const [bad, good] = bench.takeMessages();
  carrierQueue.refuses = (command, input) =>
    ["submitted", "finish"].includes(command) && JSON.stringify(input).includes(bad!.key);
  for (const { key, to } of [bad!, good!]) {
    const parts = [{ carrierMessageId: `c-${key}`, counts: true }];
    outcomes.submitted({ key, carrierId: CARRIER, parts, refusedErrorId: null, atMs: bench.clock.now() }, to);
  }
  await untilLater(carrierQueue, () => carrierQueue.counts.quarantined === 1);
  const { held, items } = await bench.store.quarantined({ limit: 10 });
  assert.deepEqual([held, items[0]!.heldKey], [1, bad!.key]);
  await bench.restart();
  const claimed = async (): Promise<string[]> => {
    await bench.store.claimLane({ accountId: bench.accountId, carrierId: CARRIER, limit: 10 });
    return bench.takeMessages().map(({ key }) => key);
  };
  assert.deepEqual(await claimed(), []);
  const decision = { ids: items.map(({ id }) => id), by: { name: "OPERATOR", address: null }, atMs: bench.clock.now() };
  assert.equal(await retryHeld(bench.store, decision), 1);
  assert.deepEqual(await claimed(), [bad!.key]);
});
