/** Clients change their bulks while dispatch sends them: of each message exactly one side wins, and the money agrees. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Dispatcher } from "../../src/dispatch/dispatcher.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import type { BulkChangeOutcome, BulkStatus } from "../../src/store/port/bulks.ts";
import { HOUR, NOW } from "../store/harness.ts";
import { type CarrierQueue, numbered, settle, startDispatch, URL_A } from "./setup.ts";

const FULL = 1_000_000_000n;
const PRICE = 10_000n;
const NOT_SENT = 31;
const EXPIRED = 15;

async function plan({ bench }: CarrierQueue, bulkId: string, count: number, dueAtMs: number): Promise<void> {
  const times = { sendAtMs: dueAtMs, dueAtMs, expiresAtMs: dueAtMs + HOUR };
  await bench.accept(numbered(bench, count), { ...times, notifyUrl: URL_A }, { bulkId });
}

function setStatus({ bench }: CarrierQueue, bulkId: string, status: BulkStatus): Promise<BulkChangeOutcome> {
  return bench.store.setBulkStatus({ accountId: bench.accountId, bulkId, status });
}

test("a cancellation that shares its commit with the claim, and comes first, wins", async (t) => {
  const carrierQueue = await startDispatch(t);
  const { bench, carrier, reported } = carrierQueue;
  await plan(carrierQueue, "bulk", 5, NOW + 1_000);
  await bench.clock.advance(999);
  const canceled = setStatus(carrierQueue, "bulk", "CANCELED");
  await Promise.all([canceled, bench.store.claimDue({ nowMs: NOW + 1_000, limit: 100 })]);
  await settle(bench);

  assert.deepEqual(await canceled, { kind: "changed" });
  assert.equal(carrier.submitted.length, 0);
  assert.deepEqual(reported, Array(5).fill(NOT_SENT));
  assert.equal(await bench.balance(), FULL);
});

test("a cancellation that shares its commit with the claim, and comes second, loses", async (t) => {
  const carrierQueue = await startDispatch(t);
  const { bench, carrier, reported } = carrierQueue;
  await plan(carrierQueue, "bulk", 5, NOW + 1_000);
  await bench.clock.advance(999);
  const claimed = bench.store.claimDue({ nowMs: NOW + 1_000, limit: 1 });
  const [, canceled] = await Promise.all([claimed, setStatus(carrierQueue, "bulk", "CANCELED")]);
  await bench.clock.advance(1_000);

  assert.deepEqual(canceled, { kind: "refused", status: "PROCESSING" });
  assert.equal(carrier.submitted.length, 5);
  assert.deepEqual(reported, []);
  assert.equal(await bench.balance(), FULL - 5n * PRICE);
});

test("a change that comes while a claim is under way is followed at once, not at the next look", async (t) => {
  const { bench, dispatcher, lease } = await startDispatch(t);
  await dispatcher.stop();
  const answers: (() => void)[] = [];
  const slow = new Dispatcher({
    store: {
      ...bench.store,
      claimDue: () => new Promise((resolve) => answers.push(() => resolve({ more: false, nextDueAtMs: null }))),
    },
    clock: bench.clock,
    log: silentLog,
    settings: {
      claimMessages: 50,
      laneMessages: 100,
      sweepEveryMs: HOUR,
    },
    lease,
    route: () => null,
    knows: () => false,
    lookAgain: async () => undefined,
  });
  slow.start([]);
  await settle(bench);
  assert.equal(answers.length, 1);
  slow.take({ messages: [], reports: [], overflowed: [], earliestDueAtMs: 0 });
  await settle(bench);
  answers[0]!();
  await settle(bench);
  assert.equal(answers.length, 2);
  answers[1]!();
  await settle(bench);
  assert.equal(answers.length, 2);
  await slow.stop();
});

test("in 1,000 random races every message is sent or refunded, never both, and nothing goes after its cancellation", async (t) => {
  const seed = 20_260_212;
  const random = seededRandom(seed);
  const upTo = (bound: number): number => Math.floor(random.next() * bound);
  const carrierQueue = await startDispatch(t, { lane: 40, total: 60 });
  const { bench, carrier } = carrierQueue;
  const BULKS = 1_000;
  const SPAN_MS = 200;

  interface Race {
    readonly bulkId: string;
    readonly numbers: readonly string[];
    canceled: boolean;
    submittedBefore: number;
  }
  const submittedOf = (numbers: readonly string[]): number => {
    const wanted = new Set(numbers);
    return carrier.submitted.filter(({ message }) => wanted.has(message.to)).length;
  };

  const races: Race[] = [];
  const accepted: Promise<number[]>[] = [];
  /** What happens in each millisecond, in this order. */
  const agenda: (() => Promise<void>)[][] = Array.from({ length: SPAN_MS }, () => []);
  let next = 41_790_000_000;
  for (let index = 0; index < BULKS; index++) {
    const numbers = Array.from({ length: 1 + upTo(4) }, () => String(next++));
    const race: Race = { bulkId: `bulk ${index}`, numbers, canceled: false, submittedBefore: 0 };
    races.push(race);
    const dueAtMs = NOW + 1_000 + upTo(SPAN_MS);
    const planned = bench.accept(
      numbers.map((to) => bench.message({ to })),
      { sendAtMs: dueAtMs, dueAtMs, expiresAtMs: dueAtMs + 5_000, notifyUrl: URL_A },
      { bulkId: race.bulkId },
    );
    accepted.push(planned);
    const change = async (): Promise<void> => {
      const name = { accountId: bench.accountId, bulkId: race.bulkId };
      const kind = upTo(5);
      for (let turn = upTo(2); turn > 0; turn--) await new Promise((resolve) => setImmediate(resolve));
      if (kind === 0) {
        const nowMs = bench.clock.now();
        await bench.store.moveBulk({ ...name, sendAtMs: nowMs + upTo(SPAN_MS), nowMs });
        return;
      }
      const status = (["PAUSED", "PENDING", "CANCELED", "CANCELED"] as const)[kind - 1]!;
      // No commit is under way: whatever goes after this line goes with the change's own commit, or later.
      const submittedBefore = submittedOf(race.numbers);
      const { kind: answer } = await setStatus(carrierQueue, race.bulkId, status);
      if (status !== "CANCELED" || answer !== "changed") return;
      assert.equal(race.canceled, false, "canceled twice");
      race.canceled = true;
      race.submittedBefore = submittedBefore;
    };
    // Around its time, where it matters.
    for (let count = 1 + upTo(3); count > 0; count--) {
      const atMs = Math.min(Math.max(dueAtMs - NOW - 1_000 + upTo(6) - 4, 0), SPAN_MS - 1);
      agenda[atMs]!.push(change);
    }
  }

  await Promise.all(accepted);
  await bench.clock.advance(999);
  for (const changes of agenda) {
    // Dispatch claims at the same moment, a few at a time, in between and a little early, so that all orders come up.
    for (let count = upTo(6); count > 0; count--) {
      changes.splice(upTo(changes.length + 1), 0, async () => {
        await bench.store.claimDue({ nowMs: bench.clock.now() + upTo(4), limit: 1 + upTo(8) });
      });
    }
    const made = changes.map((change) => change());
    await bench.clock.advance(1);
    await Promise.all(made);
  }
  await bench.clock.advance(20_000);

  const refunded = bench.takeReports().flatMap(({ items }) => items);
  assert.deepEqual(new Set(refunded.map(({ statusId }) => statusId)), new Set([NOT_SENT, EXPIRED]));
  const endings = [...carrier.submitted.map(({ message }) => message.to), ...refunded.map(({ to }) => to)];
  assert.deepEqual(endings.toSorted(), races.flatMap(({ numbers }) => numbers).toSorted(), `seed ${seed}`);

  const canceled = races.filter((race) => race.canceled);
  for (const race of canceled) assert.equal(submittedOf(race.numbers), race.submittedBefore, race.bulkId);
  assert.ok(canceled.length > 100, `${canceled.length} races were won by the client`);
  assert.ok(carrier.submitted.length > 100, `${carrier.submitted.length} messages were sent`);
  assert.equal(await bench.balance(), FULL - BigInt(carrier.submitted.length) * PRICE);
  assert.deepEqual(await bench.store.verifyLedger(), []);
});
