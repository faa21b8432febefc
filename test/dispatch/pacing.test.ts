/** A bulk with a speed limit at the carrier's door: never more than the limit in any stretch of its unit, whatever is in the way, and all of it in the end. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Submission } from "../../src/carriers/port.ts";
import type { SpeedLimit } from "../../src/schedule/pace.ts";
import { mostWithin } from "../support/pace.ts";
import type { ScriptedCarrier } from "./scripted-carrier.ts";
import { type CarrierQueue, numbered, settle, startDispatch, URL_A } from "./setup.ts";

const MINUTE = 60_000;
const LIMIT: SpeedLimit = { amount: 30, unitMs: MINUTE };
const LANES = { lane: 100, total: 1_000 };

/** What came to the door: when, and for whom. Over restarts, there is one door. */
class Door {
  readonly handed: { atMs: number; to: string }[] = [];
  answer: (nth: number) => Submission | Promise<Submission> = (nth) => taken(nth);

  guard({ bench, carrier }: { bench: CarrierQueue["bench"]; carrier: ScriptedCarrier }): void {
    carrier.window = 50;
    carrier.answer = ({ message }) => {
      const nth = this.handed.push({ atMs: bench.clock.now(), to: message.to });
      return this.answer(nth);
    };
  }

  get most(): number {
    return mostWithin(
      this.handed.map(({ atMs }) => atMs),
      LIMIT.unitMs,
    );
  }

  get different(): number {
    return new Set(this.handed.map(({ to }) => to)).size;
  }

  keepsTo(limit: SpeedLimit): void {
    assert.ok(this.most <= limit.amount, `${this.most} in one unit`);
  }
}

const taken = (nth: number): Submission => ({ kind: "accepted", carrierMessageId: `c${nth}` });

async function start(t: Parameters<typeof startDispatch>[0], lanes = LANES): Promise<CarrierQueue & { door: Door }> {
  const queue = await startDispatch(t, lanes);
  const door = new Door();
  door.guard(queue);
  return { ...queue, door };
}

const minutes = async ({ bench }: Pick<CarrierQueue, "bench">, count: number): Promise<void> => {
  for (let second = 0; second < count * 60; second++) await bench.clock.advance(1_000);
};

test("with nothing in the way a bulk goes evenly, and takes as long as its limit says", async (t) => {
  const queue = await start(t);
  const { bench, door } = queue;
  const statuses = await bench.accept(numbered(bench, 120), {}, { speedLimit: LIMIT });
  assert.deepEqual([statuses[0], new Set(statuses.slice(1))], [7, new Set([26])]);
  await settle(bench);
  assert.equal(door.handed.length, 1, "the first goes at once");
  const startMs = bench.clock.now();
  await minutes(queue, 5);
  assert.equal(door.different, 120);
  assert.equal(door.handed.length, 120, "each once");
  door.keepsTo(LIMIT);
  const tookMs = door.handed.at(-1)!.atMs - startMs;
  assert.ok(tookMs > 3.9 * MINUTE && tookMs < 4.3 * MINUTE, `${tookMs} ms`);
  const gaps = door.handed.slice(1).map(({ atMs }, index) => atMs - door.handed[index]!.atMs);
  assert.ok(
    Math.max(...gaps) <= 2_300 && Math.min(...gaps) >= 1_900,
    `${Math.min(...gaps)} to ${Math.max(...gaps)} ms`,
  );
  assert.deepEqual(await bench.store.verifyLedger(), []);
});

test("messages without a limit do not wait for those with one, also of the same bulk", async (t) => {
  const { bench, door } = await start(t);
  await bench.accept(numbered(bench, 100), {}, { speedLimit: LIMIT });
  const free = numbered(bench, 300).slice(200);
  assert.deepEqual(new Set(await bench.accept(free, {}, { bulkId: "another" })), new Set([7]));
  await settle(bench);
  assert.equal(door.handed.length, 101);
  assert.deepEqual(new Set(await bench.accept(free.slice(0, 10))), new Set([7]), "a request without a limit has none");
  await settle(bench);
  assert.equal(door.handed.length, 111);
});

test("while its carrier is down nothing piles up that would go in one burst", async (t) => {
  const queue = await start(t);
  const { bench, carrier, door } = queue;
  await bench.accept(numbered(bench, 300), {}, { speedLimit: LIMIT });
  await minutes(queue, 2);
  const before = door.handed.length;
  carrier.up = false;
  await minutes(queue, 6);
  assert.equal(door.handed.length, before);
  carrier.up = true;
  await minutes(queue, 1);
  assert.ok(door.handed.length - before >= 25, `${door.handed.length - before} in the first minute`);
  await minutes(queue, 9);
  assert.deepEqual([door.different, door.handed.length], [300, 300]);
  door.keepsTo(LIMIT);
});

test("more of them than a lane holds, while its carrier is down, all go in the end", async (t) => {
  const queue = await start(t, { lane: 10, total: 20 });
  const { bench, carrier, door } = queue;
  carrier.up = false;
  await bench.accept(numbered(bench, 100), {}, { speedLimit: LIMIT });
  await minutes(queue, 5);
  carrier.up = true;
  await minutes(queue, 6);
  assert.deepEqual([door.different, door.handed.length], [100, 100]);
  door.keepsTo(LIMIT);
});

test("a carrier that is slower than the limit takes all that it can, and nothing asks for slots again and again", async (t) => {
  const queue = await start(t);
  const { bench, carrier, door } = queue;
  let postponed = 0;
  const { postpone } = bench.store;
  bench.store.postpone = (input) => {
    postponed += input.messages.length;
    return postpone.call(bench.store, input);
  };
  // One after the other, a second each, where the limit allows five a second.
  carrier.window = 1;
  door.answer = async (nth) => {
    await new Promise<void>((resolve) => bench.clock.after(1_000, resolve));
    return taken(nth);
  };
  const limit = { amount: 300, unitMs: MINUTE };
  await bench.accept(numbered(bench, 200), {}, { speedLimit: limit });
  await minutes(queue, 1);
  assert.ok(door.handed.length >= 50, `${door.handed.length} in a minute`);
  await minutes(queue, 3.5);
  assert.deepEqual([door.different, door.handed.length], [200, 200]);
  assert.ok(postponed > 100 && postponed <= 2 * 200, `${postponed} times a message asked for a slot`);
});

for (const [what, answer] of [
  ["is busy", { kind: "later", retryAfterMs: 500 }],
  ["does not answer", { kind: "unknown" }],
  ["finds a phone full", { kind: "not now", retryAfterMs: 1_000 }],
] as const) {
  test(`a message that goes again because its carrier ${what} counts again`, async (t) => {
    const queue = await start(t);
    const { bench, door } = queue;
    door.answer = (nth) => (nth % 3 === 0 ? answer : taken(nth));
    await bench.accept(numbered(bench, 90), {}, { speedLimit: LIMIT });
    await minutes(queue, 8);
    assert.equal(door.different, 90);
    assert.ok(door.handed.length > 120, `${door.handed.length}`);
    door.keepsTo(LIMIT);
  });
}

test("a process that is killed, and one that is dead for a while, exceed nothing", async (t) => {
  let queue: CarrierQueue = await start(t);
  const { door } = queue as CarrierQueue & { door: Door };
  const { bench } = queue;
  // Some answers never come: what they are about is in doubt when the process dies.
  door.answer = (nth) => (nth % 4 === 0 ? new Promise<Submission>(() => undefined) : taken(nth));
  await bench.accept(numbered(bench, 150), {}, { speedLimit: LIMIT });
  for (let kill = 0; kill < 6; kill++) {
    await minutes(queue, 0.5);
    queue = await queue.restart();
    door.guard(queue);
  }
  door.answer = taken;
  // Nobody is there for three minutes.
  const idle = await queue.restart("not served");
  await minutes(idle, 3);
  queue = await idle.restart();
  door.guard(queue);
  await minutes(queue, 6);
  assert.equal(door.different, 150);
  door.keepsTo(LIMIT);
  assert.ok(door.handed.length > 150, "some went twice, and were counted");
});

test("a process that is killed again and again, just after it handed a message over, hands it over no more often than the limit says", async (t) => {
  let queue: CarrierQueue = await start(t);
  const { door } = queue as CarrierQueue & { door: Door };
  const { bench } = queue;
  door.answer = () => new Promise<Submission>(() => undefined);
  await bench.accept(numbered(bench, 3), {}, { speedLimit: LIMIT });
  for (let kill = 0; kill < 40; kill++) {
    await settle(bench);
    queue = await queue.restart();
    door.guard(queue);
  }
  await settle(bench);
  door.keepsTo(LIMIT);
  assert.ok(door.handed.length <= 3, `${door.handed.length} times within a twentieth of a second`);
});

test("a bulk that is paused, resumed and moved keeps to its limit, and validity counts from the slot", async (t) => {
  const queue = await start(t);
  const { bench, door, reported } = queue;
  const name = { accountId: bench.accountId, bulkId: "bulk" };
  const expiresAtMs = bench.clock.now() + MINUTE;
  await bench.accept(numbered(bench, 120), { notifyUrl: URL_A, expiresAtMs }, { speedLimit: LIMIT });
  await minutes(queue, 1);
  assert.equal((await bench.store.bulk(name))?.status, "PENDING");
  const movedTo = bench.clock.now() + 10 * MINUTE;
  assert.deepEqual(await bench.store.moveBulk({ ...name, sendAtMs: movedTo, nowMs: bench.clock.now() }), {
    kind: "changed",
  });
  const before = door.handed.length;
  await minutes(queue, 9);
  assert.equal(door.handed.length, before);
  await bench.store.setBulkStatus({ ...name, status: "PAUSED" });
  await minutes(queue, 1.5);
  assert.equal(door.handed.length, before);
  // Sooner than it was to go.
  await bench.store.moveBulk({ ...name, sendAtMs: 0, nowMs: bench.clock.now() });
  await bench.store.setBulkStatus({ ...name, status: "PENDING" });
  await settle(bench);
  assert.equal(door.handed.length, before + 1, "the first goes at once");
  await minutes(queue, 4);
  assert.deepEqual([door.different, door.handed.length], [120, 120]);
  door.keepsTo(LIMIT);
  assert.deepEqual(reported, [], "none expired, although all waited longer than their validity");
});

test("a bulk can be called off while it goes, and what waited is refunded", async (t) => {
  const queue = await start(t);
  const { bench, door, reported } = queue;
  const before = await bench.balance();
  await bench.accept(numbered(bench, 120), { notifyUrl: URL_A }, { speedLimit: LIMIT });
  await minutes(queue, 2);
  assert.equal(await bench.balance(), before - 1_200_000n);
  const change = await bench.store.setBulkStatus({ accountId: bench.accountId, bulkId: "bulk", status: "CANCELED" });
  assert.deepEqual(change, { kind: "changed" });
  await minutes(queue, 3);
  assert.equal(await bench.balance(), before - BigInt(door.handed.length) * 10_000n);
  assert.equal(reported.length, 120 - door.handed.length);
  door.keepsTo(LIMIT);
});

test("what a busy carrier put off is called off with its bulk: nothing is handed over from then on", async (t) => {
  const queue = await start(t);
  const { bench, door, reported } = queue;
  const full = await bench.balance();
  let isBusy = true;
  door.answer = (nth) => (isBusy ? { kind: "later", retryAfterMs: 500 } : taken(nth));
  await bench.accept(numbered(bench, 120), { notifyUrl: URL_A }, { speedLimit: LIMIT });
  await minutes(queue, 1);
  isBusy = false;
  const before = door.handed.length;
  assert.ok(before >= 10, `${before} came to the door`);
  const change = await bench.store.setBulkStatus({ accountId: bench.accountId, bulkId: "bulk", status: "CANCELED" });
  assert.deepEqual(change, { kind: "changed" });
  await minutes(queue, 3);
  assert.equal(door.handed.length, before);
  assert.equal(await bench.balance(), full);
  assert.equal(reported.length, 120);
});
