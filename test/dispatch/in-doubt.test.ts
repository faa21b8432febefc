/** What is known of messages that were begun, under stores and carriers that fail at the worst moment: nothing of it is forgotten, and nobody waits for it. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { OutgoingMessage, PartToSubmit, Submission } from "../../src/carriers/port.ts";
import { partsOf } from "../../src/carriers/smpp/outgoing.ts";
import type { SmppProfile } from "../../src/carriers/smpp/profile.ts";
import { LaneRing } from "../../src/dispatch/lane.ts";
import type { QueuedMessage } from "../../src/message/message.ts";
import { STATUS } from "../../src/sms/statuses.ts";
import { StoreUnavailable } from "../../src/store/port/errors.ts";
import type { Store } from "../../src/store/port/store.ts";
import { References } from "../../src/store/references.ts";
import { type Bench, CARRIER, HOUR } from "../store/harness.ts";
import { ScriptedCarrier } from "./scripted-carrier.ts";
import { type CarrierQueue, numbered, settle, startDispatch, URL_A } from "./setup.ts";

const LANES = { lane: 5_000, total: 5_000 };
const LONG = { text: "x".repeat(400), partCount: 3 };
const AWAY = new StoreUnavailable("the database is away");
const NEVER = new Promise<Submission>(() => undefined);
const LATER: Submission = { kind: "later", retryAfterMs: HOUR };
const accepted = (count: number): Submission => ({ kind: "accepted", carrierMessageId: `c${count}` });

/** Has the calls of a command fail as `fault` says of each, by its number from 1. */
function failing(
  t: TestContext,
  bench: Bench,
  command: "again" | "received",
  fault: (count: number) => Error | null,
): void {
  const real = bench.store[command] as (input: unknown) => Promise<unknown>;
  let count = 0;
  t.mock.method(bench.store, command, async (input: unknown) => {
    const error = fault(++count);
    if (error !== null) throw error;
    return real(input);
  });
}

async function takenOf(bench: Bench): Promise<(readonly (string | null)[] | undefined)[]> {
  bench.takeMessages();
  await bench.store.claimLane({ accountId: bench.accountId, carrierId: CARRIER, limit: 10 });
  return bench.takeMessages().map(({ taken }) => taken?.ids);
}

async function outstanding(bench: Bench, carrierId = CARRIER): Promise<string[]> {
  const parts = await bench.store.outstanding({ carrierId, afterRow: 0, limit: 10 });
  return parts.map(({ carrierMessageId }) => carrierMessageId);
}

test("an item that is refused while the store is away in between is kept aside, and dispatch goes on", async (t) => {
  const { bench, carrier, dispatcher } = await startDispatch(t, LANES);
  failing(t, bench, "received", (count) => (count === 4 ? AWAY : new Error("refused")));
  void carrier.receipt(bench.receipt("poison"));
  await bench.clock.advance(30_000);
  assert.equal(dispatcher.counts.quarantined, 1);
  await bench.accept(numbered(bench, 5));
  await bench.clock.advance(1_000);
  assert.equal(carrier.submitted.length, 5);
});

test("an answer that is put off while the parts before it are being recorded leaves no doubt out", async (t) => {
  const first = await startDispatch(t, LANES);
  const { bench, carrier, dispatcher } = first;
  carrier.window = 10;
  const times = new Map<string, number>();
  const note = ({ message, userData }: PartToSubmit): void => {
    const part = `${message.to} ${userData.text[0]}`;
    times.set(part, (times.get(part) ?? 0) + 1);
  };
  carrier.answer = async (part, count) => {
    if (part.userData.text.startsWith("A")) {
      note(part);
      return accepted(count);
    }
    await new Promise<void>((resolve) => bench.clock.after(210, resolve));
    return { kind: "not now", retryAfterMs: HOUR };
  };
  const { again } = bench.store;
  t.mock.method(bench.store, "again", async (input: Parameters<Store["again"]>[0]) => {
    // Slow, and not so slow that the store is behind.
    await new Promise<void>((resolve) => bench.clock.after(950, resolve));
    return again(input);
  });
  const text = `${"A".repeat(153)}${"B".repeat(100)}`;
  for (const message of numbered(bench, 60)) await bench.accept([message], { text, partCount: 2 });
  await bench.clock.advance(1_130);
  assert.ok(dispatcher.inDoubt <= 5);
  const second = await first.restart();
  second.carrier.window = 100;
  second.carrier.answer = (part, count) => {
    note(part);
    return { kind: "accepted", carrierMessageId: `d${count}` };
  };
  for (let turn = 0; turn < 60; turn++) await settle(bench);
  const twice = [...times.values()].filter((count) => count > 1).length;
  assert.ok(twice <= 10, `${twice} parts twice, with a window of 10`);
});

test("a stop counts the parts of a message that goes again and are not recorded", async (t) => {
  const { bench, carrier, dispatcher } = await startDispatch(t, LANES);
  const rest = Promise.withResolvers<Submission>();
  carrier.answer = (_, count) => (count === 1 ? accepted(1) : rest.promise);
  failing(t, bench, "again", () => AWAY);
  await bench.accept([bench.message()], LONG);
  await bench.clock.advance(250);
  rest.resolve(LATER);
  await settle(bench);
  const [inDoubt] = await Promise.all([dispatcher.stop(), bench.clock.advance(10_000)]);
  assert.equal(inDoubt, 1);
});

test("a stop counts what a carrier did not answer: it goes again", async (t) => {
  const first = await startDispatch(t, LANES);
  const cut = Promise.withResolvers<Submission>();
  first.carrier.answer = () => cut.promise;
  first.carrier.stop = async () => cut.resolve({ kind: "unknown" });
  await first.bench.accept(numbered(first.bench, 7));
  await settle(first.bench);
  const [inDoubt] = await Promise.all([first.dispatcher.stop(), first.bench.clock.advance(10_000)]);
  assert.equal(inDoubt, 7);
  const second = await first.restart();
  await second.bench.clock.advance(100);
  assert.equal(second.carrier.submitted.length, 7);
});

test("what was recorded is not undone by an older word that had to be tried again", async (t) => {
  const first = await startDispatch(t, LANES);
  const { bench, carrier } = first;
  const [second, third] = [Promise.withResolvers<Submission>(), Promise.withResolvers<Submission>()];
  carrier.answer = (_, count) => [accepted(1), second.promise, third.promise][count - 1] ?? NEVER;
  failing(t, bench, "again", (count) => (count === 1 ? AWAY : null));
  await bench.accept([bench.message()], LONG);
  await bench.clock.advance(250);
  second.resolve(accepted(2));
  third.resolve(LATER);
  await bench.clock.advance(2_000);
  const { carrier: next, bench: after } = await first.restart();
  await after.clock.advance(2_000);
  assert.equal(next.submitted.length, 1);
});

test("a message is released when what is known of it is in the store, and not before", async (t) => {
  const { bench, carrier, dispatcher } = await startDispatch(t, LANES, undefined, { knows: () => true });
  const second = Promise.withResolvers<Submission>();
  carrier.answer = (_, count) => (count === 2 ? second.promise : accepted(count));
  failing(t, bench, "again", (count) => (count === 1 ? AWAY : null));
  await bench.accept([bench.message()], LONG);
  await bench.clock.advance(201);
  second.resolve(LATER);
  await bench.clock.advance(1);
  carrier.up = false;
  await Promise.all([dispatcher.removeCarrier(CARRIER), bench.clock.advance(5)]);
  assert.deepEqual(await takenOf(bench), [], "it is still this node's");
  await bench.clock.advance(3_000);
  assert.deepEqual(await takenOf(bench), [["c1", null, "c3"]]);
});

test("a word about one message that the store refuses, and cannot keep aside, keeps no other carrier waiting", async (t) => {
  const other = new ScriptedCarrier("other");
  const { bench, carrier, dispatcher } = await startDispatch(t, LANES, undefined, { knows: () => true });
  await dispatcher.addCarrier(other);
  failing(t, bench, "again", () => new Error("refused"));
  t.mock.method(bench.store, "quarantine", async () => {
    throw new Error("full");
  });
  carrier.answer = () => ({ kind: "unknown" });
  await bench.accept([bench.message()]);
  await Promise.all([dispatcher.handOver(CARRIER), bench.clock.advance(6_000)]);
  await bench.accept([bench.message({ carrierId: "other", to: "41790000002" })]);
  await bench.clock.advance(10_000);
  assert.equal(other.submitted.length, 1);
});

test("what cannot go yet is next again, although its lane was empty meanwhile", () => {
  const ring = new LaneRing("carrier");
  const message = (key: number): QueuedMessage => ({ key: String(key), accountId: 1, partCount: 1 }) as QueuedMessage;
  for (let key = 0; key <= 500; key++) ring.push(message(key));
  for (let key = 0; key < 500; key++) ring.next();
  const last = ring.next()!;
  ring.takeBack(last);
  for (let key = 1_000; key < 1_005; key++) ring.push(message(key));
  ring.takeBack(ring.next()!);
  assert.equal(ring.next()!.message.key, "500");
});

/** Two of three parts are taken; then another process has it, with a carrier that cuts it into one. */
async function cutOtherwise(t: TestContext) {
  const first = await startDispatch(t, LANES);
  first.carrier.answer = (_, count) => (count === 2 ? LATER : accepted(count));
  await first.bench.accept([first.bench.message()], LONG);
  await settle(first.bench);
  const { partsOf: cut } = ScriptedCarrier.prototype;
  t.mock.method(ScriptedCarrier.prototype, "partsOf", function (this: ScriptedCarrier, message: OutgoingMessage) {
    return cut.call(this, message).slice(0, 1);
  });
  return first.restart();
}

test("a message of which a carrier has parts is not refunded when it is refused, cut otherwise, by another process", async (t) => {
  const { bench, carrier } = await cutOtherwise(t);
  const charged = await bench.balance();
  carrier.answer = () => ({ kind: "refused", errorId: 8 });
  await bench.clock.advance(5_000);
  assert.equal(carrier.submitted.length, 1);
  assert.equal(await bench.balance(), charged);
  assert.deepEqual(await outstanding(bench), ["c1", "c3"]);
});

test("with as many parts that look otherwise, a message goes whole and not as halves of two", async (t) => {
  let referenceBits: 8 | 16 = 8;
  t.mock.method(ScriptedCarrier.prototype, "partsOf", (message: OutgoingMessage) =>
    partsOf(message, { referenceBits } as SmppProfile),
  );
  const text = Array.from({ length: 300 }, (_, place) => "abcdefghijklmnopqrstuvwxyz"[place % 26]).join("");
  const first = await startDispatch(t);
  first.carrier.answer = (_, count) => (count === 2 ? LATER : accepted(count));
  await first.bench.accept([first.bench.message()], { text, partCount: 2 });
  await settle(first.bench);
  referenceBits = 16;
  const { bench, carrier } = await first.restart();
  await bench.clock.advance(2_000);
  assert.equal(carrier.submitted.map(({ userData }) => userData.text).join(""), text);
});

test("what a carrier that is gone has part of ends with that part, also for who hears of it anew", async (t) => {
  const first = await startDispatch(t, LANES, (_, usable) => (usable("other") ? "other" : null), {
    knows: (id) => id === "other",
  });
  first.carrier.answer = (_, count) => (count === 2 ? LATER : accepted(count));
  await first.bench.accept([first.bench.message()], LONG);
  await settle(first.bench);
  const { bench, dispatcher } = await first.restart("not served");
  const other = new ScriptedCarrier("other");
  await dispatcher.addCarrier(other);
  await bench.clock.advance(5_000);
  assert.equal(other.submitted.length, 0);
  assert.deepEqual(await outstanding(bench), ["c1", "c3"]);
});

test("what goes on has the reference that its first parts have, whatever was meant for it here before", () => {
  const references = new References();
  const message = { key: "4711000000000000000", to: "41790000001" };
  const meant = references.of(message);
  const taken = { reference: (meant + 2) % 65_536, cut: "", ids: ["c1", null] };
  assert.equal(references.of({ ...message, taken }), taken.reference);
  assert.equal(references.of(message), taken.reference);
});

test("what was on the wire when a carrier's profile changed goes on over the new connections", async (t) => {
  const { bench, carrier, dispatcher } = await startDispatch(t, LANES);
  const cut = Promise.withResolvers<Submission>();
  carrier.answer = () => cut.promise;
  carrier.stop = async () => cut.resolve({ kind: "unknown" });
  await bench.accept(numbered(bench, 3));
  await settle(bench);
  const next = new ScriptedCarrier();
  await dispatcher.replaceCarrier(next);
  await bench.clock.advance(5_000);
  assert.equal(carrier.submitted.length, 3);
  assert.equal(next.submitted.length, 3);
});

test("a part that was not answered is counted and recorded, also where another part was only put off", async (t) => {
  const first = await startDispatch(t, LANES);
  first.carrier.answer = (_, count) => [accepted(1), { kind: "unknown" as const }, LATER][count - 1] ?? NEVER;
  await first.bench.accept([first.bench.message()], LONG);
  await settle(first.bench);
  const { bench } = await first.restart("not served");
  await bench.store.claimLane({ accountId: bench.accountId, carrierId: CARRIER, limit: 10 });
  const [message] = bench.takeMessages();
  assert.deepEqual([message!.unknownCount, message!.taken?.ids], [1, ["c1", null, null]]);
});

for (const [what, change] of [
  ["a stop", (carrierQueue: CarrierQueue) => carrierQueue.dispatcher.stop()],
  ["another profile", (carrierQueue: CarrierQueue) => carrierQueue.dispatcher.replaceCarrier(new ScriptedCarrier())],
] as const) {
  test(`${what} leaves what waits for a carrier with that carrier`, async (t) => {
    const other = new ScriptedCarrier("other");
    const carrierQueue = await startDispatch(t, LANES, (_, usable) => ["carrier", "other"].find(usable) ?? null);
    const { bench, carrier, dispatcher } = carrierQueue;
    await dispatcher.addCarrier(other);
    carrier.window = 0;
    carrier.stop = async () => {
      carrier.up = false;
    };
    await bench.accept(numbered(bench, 20));
    await settle(bench);
    await Promise.all([change(carrierQueue), bench.clock.advance(10_000)]);
    assert.equal(dispatcher.counts.rerouted, 0);
    assert.equal(other.submitted.length, 0);
  });
}

test("a long message waits for room for a moment, and then goes in pieces: no part that hangs keeps all others back", async (t) => {
  const { bench, carrier } = await startDispatch(t, LANES);
  carrier.window = 3;
  carrier.answer = (_, count) => (count === 1 ? NEVER : accepted(count));
  await bench.accept([bench.message({ to: "41790000009" })]);
  await settle(bench);
  await bench.accept([bench.message({ to: "41790009999" })], LONG);
  await bench.accept(numbered(bench, 5));
  await bench.clock.advance(500);
  assert.equal(carrier.submitted.length, 1);
  await bench.clock.advance(1_000);
  for (let turn = 0; turn < 20; turn++) await settle(bench);
  assert.equal(carrier.submitted.length, 1 + 3 + 5);
});

test("however many items the store refuses for good, those that it refused once are recorded", async (t) => {
  const { bench, carrier, dispatcher } = await startDispatch(t, LANES);
  carrier.window = 100;
  const bad = 30;
  const { submitted } = bench.store;
  let refusesAll = true;
  t.mock.method(bench.store, "submitted", async (input: Parameters<Store["submitted"]>[0]) => {
    const ids = input.messages.flatMap(({ parts }) => parts.map(({ carrierMessageId }) => carrierMessageId));
    if (refusesAll || ids.some((id) => Number(id.slice(1)) <= bad || id.startsWith("unknown")))
      throw new Error("refused");
    return submitted(input);
  });
  t.mock.method(bench.store, "quarantine", async () => {
    throw new Error("full");
  });
  await bench.accept(numbered(bench, 60));
  await settle(bench);
  refusesAll = false;
  await bench.clock.advance(60_000);
  assert.equal(dispatcher.inDoubt, bad);
});

test("a message whose window closed is put off after what is known of it was written", async (t) => {
  const { bench, carrier } = await startDispatch(t, LANES);
  const cut = Promise.withResolvers<Submission>();
  carrier.answer = () => cut.promise;
  failing(t, bench, "again", (count) => (count === 1 ? AWAY : null));
  const window = { days: ["THURSDAY", "FRIDAY"] as const, hours: { fromMinute: 9 * 60, toMinute: 11 * 60 } };
  await bench.accept([bench.message()], { window, expiresAtMs: bench.clock.now() + 48 * HOUR });
  await settle(bench);
  await bench.clock.advance(2 * HOUR);
  carrier.answer = () => NEVER;
  cut.resolve({ kind: "unknown" });
  await bench.clock.advance(5_000);
  bench.takeMessages();
  await bench.store.claimDue({ nowMs: bench.clock.now() + 24 * HOUR, limit: 10 });
  assert.deepEqual(
    bench.takeMessages().map(({ unknownCount }) => unknownCount),
    [1],
  );
});

test("a message that two carriers do not answer in turn is given up like one that one does not", async (t) => {
  const other = new ScriptedCarrier("other");
  const { bench, carrier, dispatcher } = await startDispatch(
    t,
    LANES,
    (_, usable) => ["carrier", "other"].find(usable) ?? null,
  );
  await dispatcher.addCarrier(other);
  // Each goes down with its answer, and is up again when the other does.
  const [first, second] = [carrier, other];
  first.answer = () => {
    second.up = true;
    first.up = false;
    return { kind: "unknown" };
  };
  second.answer = () => {
    first.up = true;
    second.up = false;
    return { kind: "unknown" };
  };
  await bench.accept([bench.message()]);
  for (let turn = 0; turn < 40; turn++) await settle(bench);
  assert.equal(first.submitted.length + second.submitted.length, 4);
});

test("a carrier that is taken away and set up again has the window that it had", async (t) => {
  const { bench, carrier, dispatcher } = await startDispatch(t, LANES);
  carrier.window = 5;
  t.mock.method(bench.store, "submitted", () => new Promise(() => undefined));
  await bench.accept(numbered(bench, 50));
  await settle(bench);
  const next = new ScriptedCarrier();
  next.window = 5;
  await dispatcher.removeCarrier(CARRIER);
  await dispatcher.addCarrier(next);
  await bench.clock.advance(500);
  assert.equal(carrier.submitted.length, 5);
  assert.equal(next.submitted.length, 0);
});

test("nothing begins while what is refused cannot be kept aside because the store is away", async (t) => {
  const { bench, carrier } = await startDispatch(t, LANES);
  failing(t, bench, "received", () => new Error("refused"));
  t.mock.method(bench.store, "quarantine", async () => {
    throw AWAY;
  });
  void carrier.receipt(bench.receipt("poison"));
  await bench.clock.advance(3_000);
  await bench.accept(numbered(bench, 5));
  await bench.clock.advance(1_000);
  assert.equal(carrier.submitted.length, 0);
});

test("a message with a part that is refused, and others that were not answered, is not refunded", async (t) => {
  const { bench, carrier } = await startDispatch(t, LANES);
  const before = await bench.balance();
  carrier.answer = (_, count) => (count === 3 ? { kind: "refused", errorId: 8 } : { kind: "unknown" });
  await bench.accept([bench.message()], LONG);
  await bench.clock.advance(2_000);
  assert.equal(carrier.submitted.length, 3);
  assert.ok((await bench.balance()) < before);
});

for (const [what, then] of [
  ["refuses", { kind: "refused", errorId: 8 }],
  ["never takes", { kind: "not now", retryAfterMs: 1_000 }],
] as const) {
  test(`what a carrier did not answer once, and then ${what}, stays charged`, async (t) => {
    const { bench, carrier, reported } = await startDispatch(t, LANES);
    const before = await bench.balance();
    carrier.answer = (_, count) => (count === 1 ? { kind: "unknown" } : then);
    await bench.accept([bench.message()], { notifyUrl: URL_A });
    const charged = await bench.balance();
    assert.ok(charged < before);
    for (let second = 0; second < 400; second++) await bench.clock.advance(1_000);
    assert.deepEqual(reported, [STATUS.EXPIRED_UNKNOWN.id]);
    assert.equal(await bench.balance(), charged);
  });
}

test("what a carrier did not answer stays charged when that carrier is gone and no other serves it", async (t) => {
  const first = await startDispatch(t, LANES, undefined, { knows: () => false });
  const { bench } = first;
  first.carrier.answer = () => ({ kind: "unknown" });
  await bench.accept([bench.message()], { notifyUrl: URL_A });
  const charged = await bench.balance();
  await settle(bench);
  const { reported } = await first.restart("not served");
  await bench.clock.advance(5_000);
  assert.deepEqual(reported, [STATUS.EXPIRED_UNKNOWN.id]);
  assert.equal(await bench.balance(), charged);
});

test("what a carrier puts off for longer is not in memory, and ends with its validity", async (t) => {
  const { bench, carrier, dispatcher, reported } = await startDispatch(t, LANES);
  carrier.answer = () => ({ kind: "not now", retryAfterMs: 10 * HOUR });
  await bench.accept(numbered(bench, 30), { notifyUrl: URL_A, expiresAtMs: bench.clock.now() + HOUR });
  for (let turn = 0; turn < 20; turn++) await settle(bench);
  assert.equal(carrier.submitted.length, 30);
  assert.equal(dispatcher.inMemory, 0);
  await bench.clock.advance(HOUR + 1_000);
  assert.equal(reported.length, 30);
});

test("a stop counts what was not answered before it and waits to go again", async (t) => {
  const { bench, carrier, dispatcher } = await startDispatch(t, LANES);
  carrier.answer = () => {
    carrier.up = false;
    return { kind: "unknown" };
  };
  await bench.accept(numbered(bench, 7));
  await settle(bench);
  await settle(bench);
  const [inDoubt] = await Promise.all([dispatcher.stop(), bench.clock.advance(10_000)]);
  assert.equal(inDoubt, 7);
});

test("what is kept aside is told again when there is more to tell", async (t) => {
  const first = await startDispatch(t, LANES);
  const { bench, carrier, dispatcher } = first;
  const [second, third] = [Promise.withResolvers<Submission>(), Promise.withResolvers<Submission>()];
  carrier.answer = (_, count) => [accepted(1), second.promise, third.promise][count - 1] ?? NEVER;
  let refuses = true;
  failing(t, bench, "again", () => (refuses ? new Error("refused") : null));
  await bench.accept([bench.message()], LONG);
  await bench.clock.advance(10_000);
  assert.equal(dispatcher.counts.quarantined, 1);
  refuses = false;
  second.resolve(LATER);
  third.resolve(LATER);
  await bench.clock.advance(1_000);
  const { carrier: next, bench: after } = await first.restart();
  await after.clock.advance(2_000);
  assert.equal(next.submitted.length, 2);
});

test("what nothing was handed over of is cut by the profile that is in force when it goes", async (t) => {
  const { bench, carrier, dispatcher } = await startDispatch(t, LANES);
  carrier.answer = () => ({ kind: "later", retryAfterMs: 1_000 });
  await bench.accept([bench.message()], LONG);
  await settle(bench);
  const next = new ScriptedCarrier();
  const cut = next.partsOf.bind(next);
  next.partsOf = (message) => cut(message).slice(0, 1);
  await dispatcher.replaceCarrier(next);
  await bench.clock.advance(5_000);
  assert.equal(next.submitted.length, 1);
});

test("what goes back to a lane that was empty meanwhile is before what came later", () => {
  const ring = new LaneRing("carrier");
  const message = (key: number): QueuedMessage => ({ key: String(key), accountId: 1, partCount: 1 }) as QueuedMessage;
  for (let key = 0; key < 5; key++) ring.push(message(key));
  const taken = Array.from({ length: 5 }, () => ring.next()!);
  ring.push(message(9));
  ring.putBack(taken[4]!);
  assert.deepEqual([ring.next()!.message.key, ring.next()!.message.key], ["4", "9"]);
});
