/** Messages that a carrier puts off because their phone is full: the others go on, and they go when there is room, once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { PartToSubmit, Submission } from "../../src/carriers/port.ts";
import { PutOffs } from "../../src/dispatch/put-off.ts";
import { type Bench, CARRIER, HOUR } from "../store/harness.ts";
import { numbered, settle, startDispatch, URL_A } from "./setup.ts";

/** Small enough that a share of full phones would fill them. */
const SMALL = { lane: 100, total: 150 };
const FIRST = 41_790_000_000;
const FULL: Submission = { kind: "not now", retryAfterMs: 1_000 };
const PRICE = 10_000n;
const REJECTED_BY_OPERATOR = 4;
const EXPIRED = 15;

const placeOf = ({ message }: PartToSubmit): number => Number(message.to) - FIRST;
const taken = (count: number): Submission => ({ kind: "accepted", carrierMessageId: `c${count}` });

async function seconds(bench: Bench, count: number): Promise<void> {
  for (let second = 0; second < count; second++) await bench.clock.advance(1_000);
}

for (const [every, count] of [
  [20, 4_000],
  [5, 2_000],
] as const) {
  test(`with one phone in ${every} full, all messages to the others go while these wait`, async (t) => {
    const { bench, carrier, dispatcher, reported } = await startDispatch(t, SMALL);
    carrier.window = 50;
    let isFull = true;
    const went: number[] = [];
    carrier.answer = (part, nth) => {
      const place = placeOf(part);
      if (isFull && place % every === 0) return FULL;
      went.push(place);
      return taken(nth);
    };
    await bench.accept(numbered(bench, count), { notifyUrl: URL_A });
    await seconds(bench, 30);
    const good = [...Array(count).keys()].filter((place) => place % every !== 0);
    assert.deepEqual(
      went.toSorted((one, other) => one - other),
      good,
    );
    assert.ok(dispatcher.inMemory <= SMALL.lane / 10, `${dispatcher.inMemory} wait in memory`);
    assert.deepEqual(reported, []);

    isFull = false;
    await seconds(bench, 65);
    assert.deepEqual(
      went.toSorted((one, other) => one - other),
      [...Array(count).keys()],
      "each once",
    );
    assert.equal(dispatcher.inMemory, 0);
  });
}

test("a message that was put off goes behind those that wait", async (t) => {
  const { bench, carrier } = await startDispatch(t);
  carrier.window = 1;
  carrier.answer = async (_, nth) => {
    await new Promise<void>((resolve) => bench.clock.after(400, resolve));
    return nth === 1 ? FULL : taken(nth);
  };
  await bench.accept(numbered(bench, 10));
  await seconds(bench, 12);
  assert.deepEqual(carrier.submitted.map(placeOf), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0]);
});

for (const end of ["is stopped", "is killed"] as const) {
  test(`what is put off when the service ${end} goes after the next start, once`, async (t) => {
    const first = await startDispatch(t, SMALL);
    first.carrier.answer = () => FULL;
    await first.bench.accept(numbered(first.bench, 50));
    await seconds(first.bench, 5);
    if (end === "is stopped") {
      const [inDoubt] = await Promise.all([first.dispatcher.stop(), first.bench.clock.advance(10_000)]);
      assert.equal(inDoubt, 0);
    }
    const second = await first.restart();
    await seconds(second.bench, 70);
    const went = second.carrier.submitted.map(placeOf);
    assert.deepEqual(
      went.toSorted((one, other) => one - other),
      [...Array(50).keys()],
    );
    assert.deepEqual(await second.bench.store.verifyLedger(), []);
  });
}

test("ten times a message is put off, and the eleventh such answer ends it, with its money back", async (t) => {
  const { bench, carrier, reported, dispatcher } = await startDispatch(t);
  const before = await bench.balance();
  carrier.answer = () => FULL;
  await bench.accept([bench.message()], { notifyUrl: URL_A });
  await seconds(bench, 302);
  assert.deepEqual([carrier.submitted.length, reported], [10, []]);
  assert.equal(await bench.balance(), before - PRICE);
  await seconds(bench, 20);
  assert.deepEqual([carrier.submitted.length, reported], [11, [REJECTED_BY_OPERATOR]]);
  assert.equal(await bench.balance(), before);
  assert.equal(dispatcher.inMemory, 0);
  await seconds(bench, 130);
  assert.equal(carrier.submitted.length, 11);
});

test("a put-off message is never due after its validity, which ends it", async (t) => {
  const { bench, carrier, reported } = await startDispatch(t);
  const before = await bench.balance();
  carrier.answer = () => FULL;
  await bench.accept([bench.message()], { notifyUrl: URL_A, expiresAtMs: bench.clock.now() + 45_500 });
  await bench.clock.advance(45_000);
  assert.deepEqual(reported, []);
  await bench.clock.advance(1_000);
  assert.deepEqual(reported, [EXPIRED]);
  assert.equal(await bench.balance(), before);
});

test("a long message of which a part was taken waits in the store too, and only the rest of it goes again", async (t) => {
  const { bench, carrier, dispatcher } = await startDispatch(t, SMALL);
  const sent: string[] = [];
  let isFull = true;
  carrier.answer = ({ userData }, nth) => {
    if (isFull && nth > 1) return FULL;
    sent.push(Buffer.from(userData.octets).toString("hex"));
    return taken(nth);
  };
  await bench.accept([bench.message()], { text: `${"x".repeat(150)}${"y".repeat(150)}`, partCount: 2 });
  await seconds(bench, 5);
  assert.deepEqual([sent.length, dispatcher.inMemory], [1, 0]);
  isFull = false;
  await seconds(bench, 10);
  assert.equal(sent.length, 2);
  assert.equal(new Set(sent).size, 2);
  assert.equal((await bench.store.outstanding({ carrierId: CARRIER, afterRow: 0, limit: 10 })).length, 2);
});

test("a long message of which a part was taken, and whose rest is put off until its validity ends, stays charged", async (t) => {
  const { bench, carrier, reported } = await startDispatch(t, SMALL);
  carrier.answer = (_, nth) => (nth === 1 ? taken(1) : FULL);
  await bench.accept([bench.message()], {
    text: "x".repeat(300),
    partCount: 2,
    notifyUrl: URL_A,
    expiresAtMs: bench.clock.now() + 60_000,
  });
  await settle(bench);
  const charged = await bench.balance();
  await seconds(bench, 70);
  assert.equal(await bench.balance(), charged);
  const delivered = { carrierMessageId: "c1", outcome: "delivered", errorId: 0, atMs: bench.clock.now() } as const;
  await Promise.all([carrier.receipt({ ...delivered, mccMnc: null, to: null }), settle(bench)]);
  assert.deepEqual(reported, [REJECTED_BY_OPERATOR], "it ends with what the carrier has");
});

test("a bulk of which a message is put off is being processed until that message is gone", async (t) => {
  const { bench, carrier } = await startDispatch(t, SMALL);
  let isFull = true;
  carrier.answer = (part, nth) => (isFull && placeOf(part) === 3 ? FULL : taken(nth));
  const dueAtMs = bench.clock.now() + 10_000;
  const name = { accountId: bench.accountId, bulkId: "bulk" };
  const times = { sendAtMs: dueAtMs, dueAtMs, expiresAtMs: dueAtMs + HOUR };
  await bench.accept(numbered(bench, 10), times, { bulkId: name.bulkId });
  await seconds(bench, 60);
  assert.ok(carrier.submitted.length > 13);
  const refused = { kind: "refused", status: "PROCESSING" };
  for (const status of ["CANCELED", "PAUSED"] as const)
    assert.deepEqual(await bench.store.setBulkStatus({ ...name, status }), refused);
  assert.deepEqual(await bench.store.moveBulk({ ...name, sendAtMs: dueAtMs + HOUR, nowMs: dueAtMs }), refused);
  isFull = false;
  await seconds(bench, 61);
  const outstanding = await bench.store.outstanding({ carrierId: CARRIER, afterRow: 0, limit: 20 });
  assert.equal(new Set(outstanding.map(({ to }) => to)).size, 10);
  assert.equal(outstanding.length, 10);
});

test("put-offs are counted for so many messages; of more, the one that was not put off for longest counts anew", () => {
  const putOffs = new PutOffs(100, 2);
  const waits = (key: string): number => {
    assert.ok(putOffs.add(key));
    return putOffs.waitMs(key, 1_000);
  };
  assert.deepEqual([waits("1"), waits("2"), waits("1"), waits("3")], [1_000, 1_000, 2_000, 1_000]);
  assert.deepEqual([waits("1"), waits("2"), waits("1")], [4_000, 1_000, 8_000]);
  assert.deepEqual(
    [5, 6, 7, 8, 9, 10].map(() => waits("1")),
    [16_000, 32_000, 60_000, 60_000, 60_000, 60_000],
  );
  assert.equal(putOffs.add("1"), false);
  assert.equal(waits("1"), 1_000, "forgotten with its end");
});
