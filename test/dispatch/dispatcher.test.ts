/** Dispatch against a carrier that answers as the test says, on a real store and under a virtual clock. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nthId } from "../../src/runtime/ids.ts";
import { type Log, silentLog } from "../../src/runtime/log.ts";
import { CARRIER, HOUR, NOW } from "../store/harness.ts";
import { ScriptedCarrier } from "./scripted-carrier.ts";
import { anotherAccount, numbered, settle, startDispatch, URL_A } from "./setup.ts";

const DELIVERED = 5;

test("a backlog far beyond memory goes out whole and in order, with a bounded part of it in memory", async (t) => {
  const { bench, carrier, dispatcher } = await startDispatch(t, { lane: 20, total: 1_000 });
  let largest = 0;
  const accept = carrier.answer;
  carrier.answer = (part, count) => {
    largest = Math.max(largest, dispatcher.inMemory);
    return accept(part, count);
  };
  await bench.accept(numbered(bench, 500));
  while (carrier.submitted.length < 500) await settle(bench);
  assert.deepEqual(
    carrier.submitted.map(({ message }) => message.to),
    numbered(bench, 500).map(({ to }) => to),
  );
  assert.ok(largest <= 20 + carrier.window, `${largest} in memory`);
  assert.ok(carrier.largestInFlight <= carrier.window);
});

test("a message of another account goes out after a few others, however many are waiting", async (t) => {
  const { bench, carrier } = await startDispatch(t, { lane: 1_000, total: 10_000 });
  carrier.window = 5;
  await bench.accept(numbered(bench, 1_000));
  const other = await anotherAccount(bench.store, "OTHER");
  await bench.accept([bench.message({ to: "49170000000" })], {}, { accountId: other });
  const already = carrier.submitted.length;
  while (!carrier.submitted.some(({ message }) => message.to === "49170000000")) await settle(bench);
  const place = carrier.submitted.findIndex(({ message }) => message.to === "49170000000");
  assert.ok(place - already <= 40, `it was number ${place - already} after it came`);
});

test("a busy carrier is left alone for as long as it asks, and then gets everything in order", async (t) => {
  const { bench, carrier } = await startDispatch(t);
  carrier.window = 3;
  carrier.answer = () => ({ kind: "later", retryAfterMs: 5_000 });
  await bench.accept(numbered(bench, 9));
  await settle(bench);
  const tried = carrier.submitted.length;
  assert.ok(tried <= 3, `${tried} tries`);
  await bench.clock.advance(4_000);
  assert.equal(carrier.submitted.length, tried, "no try while it is busy");
  carrier.submitted.length = 0;
  carrier.answer = (_, count) => ({ kind: "accepted", carrierMessageId: `c${count}` });
  await bench.clock.advance(2_000);
  // A window at a time.
  for (let turn = 0; turn < 3; turn++) await settle(bench);
  assert.deepEqual(
    carrier.submitted.map(({ message }) => message.to),
    numbered(bench, 9).map(({ to }) => to),
  );
});

test("an unknown outcome is tried again a bounded number of times, each after a longer wait, and then given up, without a refund", async (t) => {
  const { bench, carrier, reported } = await startDispatch(t);
  carrier.answer = () => ({ kind: "unknown" });
  await bench.accept([bench.message()], { notifyUrl: URL_A });
  for (const [waitMs, submitted] of [
    [990, 1],
    [2_000, 2],
    [4_000, 3],
  ] as const) {
    await bench.clock.advance(waitMs);
    assert.equal(carrier.submitted.length, submitted);
    assert.deepEqual(reported, []);
  }
  await bench.clock.advance(100);
  assert.equal(carrier.submitted.length, 4);
  assert.deepEqual(reported, [22]);
  assert.equal(await bench.balance(), 1_000_000_000n - 10_000n);
});

test("where a repeat is no second message, what is not answered goes until it is", async (t) => {
  const { bench, carrier, reported, dispatcher } = await startDispatch(t);
  carrier.isRepeatable = true;
  carrier.answer = () => ({ kind: "unknown" });
  await bench.accept(numbered(bench, 300), { notifyUrl: URL_A });
  for (let second = 0; second < 300; second++) await bench.clock.advance(1_000);
  assert.deepEqual(reported, []);
  assert.ok(dispatcher.inMemory <= 130, `${dispatcher.inMemory} in memory`);
  carrier.answer = (_, count) => ({ kind: "accepted", carrierMessageId: `c${count}` });
  carrier.submitted.length = 0;
  for (let second = 0; second < 120; second++) await bench.clock.advance(1_000);
  assert.equal(new Set(carrier.submitted.map(({ message }) => message.to)).size, 300);
  assert.equal(carrier.submitted.length, 300, "each once, as soon as it is answered");
});

test("a receipt that has come for our key proves that the carrier has what it never answered", async (t) => {
  const { bench, carrier, reported } = await startDispatch(t);
  carrier.isRepeatable = true;
  carrier.answer = () => ({ kind: "unknown" });
  await bench.accept([bench.message()], { notifyUrl: URL_A });
  await settle(bench);
  const { key } = carrier.submitted[0]!.message;
  await Promise.all([carrier.receipt(bench.receipt(key!)), bench.clock.advance(500)]);
  for (let second = 0; second < 10; second++) await bench.clock.advance(1_000);
  assert.deepEqual(reported, [DELIVERED]);
  assert.equal(carrier.submitted.length, 2, "and it goes no more");
  assert.equal(await bench.balance(), 1_000_000_000n - 10_000n);
});

for (const [what, then] of [
  ["is busy from then on", { kind: "later", retryAfterMs: 1_000 }],
  ["refuses it later", { kind: "refused", errorId: 8 }],
  ["is down from then on", null],
] as const) {
  test(`a receipt for our key proves that a carrier has what it did not answer, also where it ${what}`, async (t) => {
    const { bench, carrier, reported } = await startDispatch(t);
    carrier.isRepeatable = true;
    carrier.answer = () => ({ kind: "unknown" });
    await bench.accept([bench.message()], { notifyUrl: URL_A, expiresAtMs: bench.clock.now() + 60_000 });
    await settle(bench);
    if (then === null) carrier.up = false;
    else carrier.answer = () => then;
    const { key } = carrier.submitted[0]!.message;
    await Promise.all([carrier.receipt(bench.receipt(key!)), bench.clock.advance(500)]);
    for (let second = 0; second < 80; second++) await bench.clock.advance(1_000);
    assert.deepEqual(reported, [DELIVERED]);
    assert.equal(await bench.balance(), 1_000_000_000n - 10_000n);
  });
}

test("what was never answered stays charged when its validity is over", async (t) => {
  const first = await startDispatch(t);
  first.carrier.isRepeatable = true;
  first.carrier.answer = () => ({ kind: "unknown" });
  const { bench } = first;
  const expiresAtMs = bench.clock.now() + 20_000;
  await bench.accept([bench.message()], { notifyUrl: URL_A, expiresAtMs });
  await bench.accept([bench.message()], { notifyUrl: URL_A, expiresAtMs: expiresAtMs + 40_000 });
  for (let second = 0; second < 25; second++) await bench.clock.advance(1_000);
  assert.deepEqual(first.reported, [22]);
  const second = await first.restart("not served");
  for (let passed = 0; passed < 60; passed++) await bench.clock.advance(1_000);
  assert.deepEqual(second.reported, [22], "and one that nobody has in memory");
  assert.equal(await bench.balance(), 1_000_000_000n - 20_000n);
  assert.deepEqual(await second.bench.store.verifyLedger(), []);
});

test("a refused message is final at once and refunded", async (t) => {
  const { bench, carrier, reported } = await startDispatch(t);
  carrier.answer = () => ({ kind: "refused", errorId: 566 });
  await bench.accept([bench.message()], { notifyUrl: URL_A });
  await settle(bench);
  assert.deepEqual(reported, [4]);
  assert.equal(await bench.balance(), 1_000_000_000n);
});

test("of a long message only the parts that the carrier does not have are sent again", async (t) => {
  const { bench, carrier } = await startDispatch(t);
  const text = "x".repeat(400);
  carrier.answer = (_, count) =>
    count === 2 ? { kind: "later", retryAfterMs: 1_000 } : { kind: "accepted", carrierMessageId: `c${count}` };
  await bench.accept([bench.message()], { text, partCount: 3 });
  await bench.clock.advance(2_000);
  const texts = carrier.submitted.map(({ userData }) => userData.text);
  assert.equal(texts.length, 4);
  assert.equal(texts[3], texts[1]);
  assert.equal(texts.slice(0, 3).join(""), text);
  assert.equal((await bench.store.outstanding({ carrierId: CARRIER, afterRow: 0, limit: 10 })).length, 3);
});

test("nothing goes out after its validity, and what is left of a sleeping lane is ended in rounds", async (t) => {
  const { bench, carrier, reported } = await startDispatch(t, { lane: 5, total: 100 });
  carrier.window = 0;
  await bench.accept(numbered(bench, 12), { expiresAtMs: NOW + HOUR, notifyUrl: URL_A });
  await bench.clock.advance(HOUR + 30_000);
  assert.deepEqual(
    reported,
    Array.from({ length: 12 }, () => 15),
  );
  carrier.window = 10;
  await bench.accept(numbered(bench, 1));
  await settle(bench);
  assert.equal(carrier.submitted.length, 1);
  assert.equal(await bench.balance(), 1_000_000_000n - 10_000n);
});

test("a window that closes while messages wait sends the rest at its next opening", async (t) => {
  const { bench, carrier } = await startDispatch(t);
  // NOW is Thursday, 10:00.
  const window = { days: ["THURSDAY", "FRIDAY"] as const, hours: { fromMinute: 9 * 60, toMinute: 11 * 60 } };
  carrier.window = 0;
  await bench.accept(numbered(bench, 3), { window, expiresAtMs: NOW + 48 * HOUR });
  await bench.clock.advance(2 * HOUR);
  carrier.window = 10;
  await bench.accept([bench.message({ to: "49170000000" })]);
  await settle(bench);
  assert.deepEqual(
    carrier.submitted.map(({ message }) => message.to),
    ["49170000000"],
    "those with a window stay behind",
  );
  await bench.clock.advance(20 * HOUR);
  assert.equal(carrier.submitted.length, 1);
  await bench.clock.advance(2 * HOUR);
  assert.equal(carrier.submitted.length, 4);
});

test("scheduled messages go out at their time, also one that comes earlier than those known before", async (t) => {
  const { bench, carrier } = await startDispatch(t);
  await bench.accept([bench.message({ to: "41790000002" })], { dueAtMs: NOW + 2 * HOUR });
  await bench.accept([bench.message({ to: "41790000001" })], { dueAtMs: NOW + HOUR });
  await bench.clock.advance(HOUR - 1_000);
  assert.equal(carrier.submitted.length, 0);
  await bench.clock.advance(2_000);
  assert.deepEqual(
    carrier.submitted.map(({ message }) => message.to),
    ["41790000001"],
  );
  await bench.clock.advance(HOUR);
  assert.equal(carrier.submitted.length, 2);
});

test("a clock that steps back sends nothing twice and nothing late", async (t) => {
  const { bench, carrier } = await startDispatch(t);
  await bench.accept([bench.message({ to: "41790000001" })], { dueAtMs: NOW + HOUR });
  await bench.clock.advance(HOUR - 60_000);
  bench.clock.stepBack(HOUR / 2);
  await bench.clock.advance(HOUR / 2);
  assert.equal(carrier.submitted.length, 0, "its time has not come on the clock as it is now");
  await bench.clock.advance(3 * 60_000);
  assert.equal(carrier.submitted.length, 1);
});

test("messages for a carrier that is not there have no route and are refunded", async (t) => {
  const { bench, reported, dispatcher } = await startDispatch(t, { lane: 2, total: 100 });
  const content = { notifyUrl: URL_A };
  await bench.accept(
    Array.from({ length: 5 }, () => bench.message({ carrierId: "gone" })),
    content,
  );
  await bench.clock.advance(5_000);
  assert.deepEqual(reported, [19, 19, 19, 19, 19]);
  assert.equal(await bench.balance(), 1_000_000_000n);
  await dispatcher.removeCarrier("carrier");
  await bench.accept([bench.message()], content);
  await settle(bench);
  assert.equal(reported.length, 6);
});

test("a stop waits for what is on the wire and hands the rest back to the next start", async (t) => {
  const { bench, carrier, dispatcher } = await startDispatch(t);
  carrier.window = 2;
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  carrier.answer = async (_, count) => {
    await held;
    return { kind: "accepted", carrierMessageId: `c${count}` };
  };
  const messages = numbered(bench, 5);
  const acceptance = bench.acceptance(messages);
  await bench.store.accept(acceptance);
  await settle(bench);
  const stopped = dispatcher.stop();
  release();
  for (let turn = 0; turn < 10; turn++) await bench.clock.advance(10);
  await stopped;
  assert.equal(carrier.submitted.length, 2);
  await bench.restart();
  assert.deepEqual(bench.overflowed, [{ accountId: bench.accountId, carrierId: CARRIER }]);
  await bench.store.claimLane({ accountId: bench.accountId, carrierId: CARRIER, limit: 10 });
  assert.deepEqual(
    bench.takeMessages().map(({ key }) => key),
    [2, 3, 4].map((index) => nthId(acceptance.firstKey, index)),
  );
});

test("what waits for a carrier that goes down goes to another that serves it, in order, and is charged once", async (t) => {
  const other = new ScriptedCarrier("other");
  const { bench, carrier, dispatcher } = await startDispatch(
    t,
    undefined,
    (_, usable) => ["carrier", "other"].find(usable) ?? null,
  );
  await dispatcher.addCarrier(other);
  carrier.window = 0;
  await bench.accept(numbered(bench, 5));
  await settle(bench);
  assert.deepEqual([carrier.submitted.length, other.submitted.length], [0, 0]);
  carrier.up = false;
  await settle(bench);
  assert.deepEqual(
    other.submitted.map(({ message }) => message.to),
    numbered(bench, 5).map(({ to }) => to),
  );
  await bench.accept(numbered(bench, 1));
  await settle(bench);
  assert.equal(other.submitted.length, 6, "new ones go there too");
  assert.equal((await bench.store.outstanding({ carrierId: "other", afterRow: 0, limit: 10 })).length, 6);
  assert.equal(await bench.balance(), 1_000_000_000n - 60_000n);
});

test("with no other carrier the lanes sleep without a timer or a query, and wake when it is back", async (t) => {
  const { bench, carrier } = await startDispatch(t, { lane: 10, total: 1_000 });
  carrier.up = false;
  await bench.accept(numbered(bench, 200));
  await settle(bench);
  const before = bench.clock.timersSet;
  await bench.clock.advance(HOUR);
  assert.equal(carrier.submitted.length, 0);
  // The rounds for overdue messages, here and in the store, every ten seconds, and the look for due ones, every minute.
  assert.ok(bench.clock.timersSet - before <= 2 * 360 + 60 + 10, `${bench.clock.timersSet - before} timers in an hour`);
  carrier.up = true;
  while (carrier.submitted.length < 200) await settle(bench);
  assert.deepEqual(
    carrier.submitted.map(({ message }) => message.to),
    numbered(bench, 200).map(({ to }) => to),
  );
});

test("a message of which a carrier has a part stays with that carrier", async (t) => {
  const other = new ScriptedCarrier("other");
  const { bench, carrier, dispatcher } = await startDispatch(
    t,
    undefined,
    (_, usable) => ["carrier", "other"].find(usable) ?? null,
  );
  await dispatcher.addCarrier(other);
  carrier.answer = (_, count) =>
    count === 1 ? { kind: "accepted", carrierMessageId: "c1" } : { kind: "later", retryAfterMs: 1_000 };
  await bench.accept([bench.message()], { text: "x".repeat(200), partCount: 2 });
  await settle(bench);
  carrier.up = false;
  await settle(bench);
  assert.equal(other.submitted.length, 0);
  carrier.answer = (_, count) => ({ kind: "accepted", carrierMessageId: `c${count}` });
  carrier.up = true;
  await bench.clock.advance(2_000);
  assert.equal(carrier.submitted.length, 3);
});

test("one message that a carrier puts off does not stop the others, and is given up after some tries", async (t) => {
  const { bench, carrier, reported } = await startDispatch(t);
  carrier.answer = ({ message }, count) =>
    message.to === "41790000000"
      ? { kind: "not now", retryAfterMs: 1_000 }
      : { kind: "accepted", carrierMessageId: `c${count}` };
  await bench.accept(numbered(bench, 20), { notifyUrl: URL_A });
  await settle(bench);
  assert.equal(carrier.submitted.length, 20);
  // After 1, 2, 4 … 32 seconds, and then every minute: a phone that is full for some minutes still gets its message.
  await bench.clock.advance(250_000);
  assert.equal(carrier.submitted.length, 29);
  assert.deepEqual(reported, []);
  await bench.clock.advance(62_000);
  assert.equal(carrier.submitted.length, 30);
  assert.deepEqual(reported, [4]);
});

test("where the policy is to hold, an unknown outcome is not sent again but waits for a receipt for its phone", async (t) => {
  const { bench, carrier, reported } = await startDispatch(t);
  carrier.unknownPolicy = "hold";
  carrier.answer = () => ({ kind: "unknown" });
  await bench.accept([bench.message()], { notifyUrl: URL_A });
  await settle(bench);
  assert.equal(carrier.submitted.length, 1);
  const receipt = {
    carrierMessageId: "never-seen",
    outcome: "delivered",
    errorId: 0,
    atMs: NOW,
    mccMnc: null,
  } as const;
  await Promise.all([carrier.receipt({ ...receipt, to: "41790000009" }), settle(bench)]);
  assert.deepEqual(reported, []);
  await Promise.all([carrier.receipt({ ...receipt, to: "41790000001" }), settle(bench)]);
  assert.deepEqual(reported, [5]);
});

for (const [partRule, receipts] of [
  ["first", ["c1"]],
  ["last", ["c3"]],
  ["every", ["c2", "c3", "c1"]],
] as const) {
  test(`a carrier that sends receipts for ${partRule} part: the message is final with ${receipts.join(", ")}`, async (t) => {
    const { bench, carrier, reported } = await startDispatch(t);
    carrier.partRule = partRule;
    await bench.accept([bench.message()], { text: "x".repeat(400), partCount: 3, notifyUrl: URL_A });
    await settle(bench);
    for (const [index, carrierMessageId] of receipts.entries()) {
      assert.deepEqual(reported, [], `not before receipt ${index + 1}`);
      const receipt = {
        carrierMessageId,
        outcome: "delivered",
        errorId: 0,
        atMs: NOW,
        mccMnc: null,
        to: null,
      } as const;
      await Promise.all([carrier.receipt(receipt), settle(bench)]);
    }
    assert.deepEqual(reported, [5]);
  });
}

test("the log names a carrier whose receipts are about other phones, and the remedy, once in a while", async (t) => {
  const lines: [fields: unknown, text: string][] = [];
  const log = { ...silentLog, warn: (fields: unknown, text: string) => void lines.push([fields, text]) } as Log;
  const { bench, carrier } = await startDispatch(t, undefined, undefined, { log });
  await bench.accept([bench.message({ to: "41790000001" })]);
  await settle(bench);
  const foreign = { carrierMessageId: "c1", outcome: "delivered", errorId: 0, mccMnc: null, to: "15550000" } as const;
  for (let times = 0; times < 3; times++)
    await Promise.all([carrier.receipt({ ...foreign, atMs: bench.clock.now() }), settle(bench)]);
  assert.deepEqual(
    lines.map(([fields]) => fields),
    [{ carrier: carrier.id, foreign: 1 }],
  );
  assert.match(lines[0]![1], /receiptAddresses = "carrier"/);
});

test("a receipt is acknowledged only when it is in the store", async (t) => {
  const { bench, carrier } = await startDispatch(t);
  const receipt = {
    carrierMessageId: "nobody's",
    outcome: "delivered",
    errorId: 0,
    atMs: NOW,
    mccMnc: null,
    to: null,
  } as const;
  const acknowledged = carrier.receipt(receipt);
  await Promise.all([acknowledged, settle(bench)]);
  const { count, receipts } = await bench.store.parkedReceipts({ limit: 10 });
  assert.deepEqual([count, receipts.map(({ carrierMessageId }) => carrierMessageId)], [1, ["nobody's"]]);
});

test("a long message that expires when the carrier has part of it is not refunded, and ends with that part", async (t) => {
  const { bench, carrier, reported } = await startDispatch(t);
  carrier.answer = (_, count) =>
    count === 1 ? { kind: "accepted", carrierMessageId: "c1" } : { kind: "later", retryAfterMs: 600_000 };
  const content = { text: "x".repeat(200), partCount: 2, notifyUrl: URL_A, expiresAtMs: NOW + 60_000 };
  await bench.accept([bench.message()], content);
  await bench.clock.advance(120_000);
  assert.deepEqual(reported, []);
  await Promise.all([
    carrier.receipt({ carrierMessageId: "c1", outcome: "delivered", errorId: 0, atMs: NOW, mccMnc: null, to: null }),
    settle(bench),
  ]);
  assert.deepEqual(reported, [4]);
  assert.equal(await bench.balance(), 1_000_000_000n - 20_000n);
  assert.deepEqual(await bench.store.verifyLedger(), []);
});

test("a lane that overflows again while it is being claimed is not forgotten", async (t) => {
  const { bench, carrier } = await startDispatch(t, { lane: 4, total: 100 });
  carrier.window = 0;
  await bench.accept(numbered(bench, 6));
  await settle(bench);
  carrier.window = 10;
  carrier.up = true;
  // The claim of the last two and this acceptance share a commit.
  await bench.accept(Array.from({ length: 20 }, (_, index) => bench.message({ to: String(41_790_000_006 + index) })));
  for (let turn = 0; turn < 100 && carrier.submitted.length < 26; turn++) await settle(bench);
  assert.deepEqual(
    carrier.submitted.map(({ message }) => message.to),
    numbered(bench, 26).map(({ to }) => to),
  );
});

test("a carrier whose profile changes keeps what waits for it, overflowed lanes and begun messages included", async (t) => {
  const { bench, carrier, dispatcher, reported } = await startDispatch(t, { lane: 3, total: 100 });
  carrier.answer = (_, count) =>
    count === 1 ? { kind: "accepted", carrierMessageId: "c1" } : { kind: "later", retryAfterMs: 1_000 };
  await bench.accept([bench.message({ to: "41790000099" })], { text: "x".repeat(200), partCount: 2, notifyUrl: URL_A });
  await settle(bench);
  await bench.accept(numbered(bench, 8), { notifyUrl: URL_A });
  const changed = new ScriptedCarrier();
  await dispatcher.replaceCarrier(changed);
  for (let turn = 0; turn < 50 && changed.submitted.length < 9; turn++) await bench.clock.advance(100);
  assert.deepEqual(
    changed.submitted.map(({ message }) => message.to),
    ["41790000099", ...numbered(bench, 8).map(({ to }) => to)],
  );
  assert.deepEqual(reported, [], "nothing lost its route");
});

test("when a carrier is taken away, what it has part of ends with that part, and the rest goes elsewhere", async (t) => {
  const other = new ScriptedCarrier("other");
  const { bench, carrier, dispatcher, reported } = await startDispatch(t, { lane: 3, total: 100 }, (_, usable) =>
    usable("other") ? "other" : null,
  );
  await dispatcher.addCarrier(other);
  carrier.answer = (_, count) =>
    count === 1 ? { kind: "accepted", carrierMessageId: "c1" } : { kind: "not now", retryAfterMs: 5_000 };
  await bench.accept([bench.message({ to: "41790000099" })], { text: "x".repeat(200), partCount: 2, notifyUrl: URL_A });
  await settle(bench);
  carrier.window = 0;
  await bench.accept(numbered(bench, 6), { notifyUrl: URL_A });
  await settle(bench);
  await dispatcher.removeCarrier("carrier");
  for (let turn = 0; turn < 100; turn++) await bench.clock.advance(100);
  assert.deepEqual(
    other.submitted.map(({ message }) => message.to).sort(),
    numbered(bench, 6).map(({ to }) => to),
  );
  await bench.store.received({
    carrierId: "carrier",
    receipts: [{ carrierMessageId: "c1", outcome: "delivered", errorId: 0, atMs: NOW, mccMnc: null, to: null }],
  });
  assert.deepEqual(reported, [4], "not refunded, and not sent twice");
  assert.equal(await bench.balance(), 1_000_000_000n - 80_000n);
});
