/** What is known of messages that were begun, under stores and carriers that fail at the worst moment: nothing of it is forgotten, and nobody waits for it. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { OutgoingMessage, PartToSubmit, Submission } from "../../src/carriers/port.ts";
import { partsOf } from "../../src/carriers/smpp/outgoing.ts";
import type { SmppProfile } from "../../src/carriers/smpp/profile.ts";
import { LaneRing } from "../../src/dispatch/lane.ts";
import { References } from "../../src/dispatch/references.ts";
import type { QueuedMessage } from "../../src/message/message.ts";
import { type Store, StoreUnavailable } from "../../src/store/port.ts";
import { type Bench, CARRIER, HOUR } from "../store/harness.ts";
import { numbered, settle, startDesk } from "./desk.ts";
import { ScriptedCarrier } from "./scripted-carrier.ts";

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
  const { bench, carrier, dispatcher } = await startDesk(t, LANES);
  failing(t, bench, "received", (count) => (count === 4 ? AWAY : new Error("refused")));
  void carrier.receipt(bench.receipt("poison"));
  await bench.clock.advance(30_000);
  assert.equal(dispatcher.counts.quarantined, 1);
  await bench.accept(numbered(bench, 5));
  await bench.clock.advance(1_000);
  assert.equal(carrier.submitted.length, 5);
});

test("an answer that is put off while the parts before it are being recorded leaves no doubt out", async (t) => {
  const first = await startDesk(t, LANES);
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
  const { bench, carrier, dispatcher } = await startDesk(t, LANES);
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
  const first = await startDesk(t, LANES);
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
  const first = await startDesk(t, LANES);
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
  const { bench, carrier, dispatcher } = await startDesk(t, LANES, undefined, { knows: () => true });
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
  const { bench, carrier, dispatcher } = await startDesk(t, LANES, undefined, { knows: () => true });
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
  const first = await startDesk(t, LANES);
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
  const first = await startDesk(t);
  first.carrier.answer = (_, count) => (count === 2 ? LATER : accepted(count));
  await first.bench.accept([first.bench.message()], { text, partCount: 2 });
  await settle(first.bench);
  referenceBits = 16;
  const { bench, carrier } = await first.restart();
  await bench.clock.advance(2_000);
  assert.equal(carrier.submitted.map(({ userData }) => userData.text).join(""), text);
});

test("what a carrier that is gone has part of ends with that part, also for who hears of it anew", async (t) => {
  const first = await startDesk(t, LANES, (_, usable) => (usable("other") ? "other" : null), {
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
  const { bench, carrier, dispatcher } = await startDesk(t, LANES);
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
