/** Carriers that other nodes serve: their messages are given back, not ended, and fetched when the carrier is served here. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Submission } from "../../src/carriers/port.ts";
import { ScriptedCarrier } from "./scripted-carrier.ts";
import { numbered, settle, startDispatch, URL_A } from "./setup.ts";

const BOUNDS = { lane: 100, total: 1_000 };

test("messages of a carrier that is not served here are released, and go out when it is", async (t) => {
  const { bench, dispatcher, reported } = await startDispatch(t, BOUNDS, () => null, { knows: (id) => id === "other" });
  const messages = numbered(bench, 5).map((message) => ({ ...message, carrierId: "other" }));
  await bench.accept(messages, { notifyUrl: URL_A });
  await bench.clock.advance(60_000);
  assert.deepEqual(reported, [], "none has ended");
  assert.equal(dispatcher.inMemory, 0);
  const other = new ScriptedCarrier("other");
  await dispatcher.addCarrier(other);
  await settle(bench);
  assert.deepEqual(
    other.submitted.map(({ message }) => message.to),
    messages.map(({ to }) => to),
  );
});

test("a carrier that is handed over finishes what it has begun, and the rest is released", async (t) => {
  const { bench, carrier, dispatcher, reported } = await startDispatch(t, BOUNDS, () => null, { knows: () => true });
  carrier.window = 3;
  const answers: (() => void)[] = [];
  carrier.answer = (_, count) =>
    new Promise((resolve) => {
      // Of the long one, the carrier takes the second part only later.
      const kind = count === 2 ? { kind: "later" as const, retryAfterMs: 0 } : null;
      answers.push(() => resolve(kind ?? { kind: "accepted", carrierMessageId: `c${count}` }));
    });
  await bench.accept([bench.message({ to: "41790000099" })], { text: "x".repeat(400), partCount: 3, notifyUrl: URL_A });
  await bench.accept(numbered(bench, 5), { notifyUrl: URL_A });
  assert.equal(carrier.submitted.length, 3);
  let stopped = false;
  carrier.stop = async () => {
    stopped = true;
  };
  const handedOver = dispatcher.handOver("carrier");
  for (const answer of answers.splice(0)) answer();
  await settle(bench);
  assert.equal(stopped, false);
  assert.deepEqual(
    carrier.submitted.map(({ message }) => message.to),
    Array(4).fill("41790000099"),
    "only the part that was missing goes",
  );
  for (const answer of answers.splice(0)) answer();
  await Promise.all([handedOver, bench.clock.advance(100)]);
  assert.equal(stopped, true);
  assert.equal(dispatcher.inMemory, 0);
  assert.deepEqual(reported, [], "nothing has ended");

  const back = new ScriptedCarrier();
  await dispatcher.addCarrier(back);
  await settle(bench);
  assert.deepEqual(
    back.submitted.map(({ message }) => message.to),
    numbered(bench, 5).map(({ to }) => to),
  );
});

test("a carrier that does not answer is not waited for beyond a bound, and what it may have is another node's to send again", async (t) => {
  const { bench, carrier, dispatcher } = await startDispatch(t, BOUNDS, () => null, { knows: () => true });
  const lost = Promise.withResolvers<Submission>();
  carrier.answer = () => lost.promise;
  carrier.stop = async () => lost.resolve({ kind: "unknown" });
  await bench.accept(numbered(bench, 2));
  assert.equal(carrier.submitted.length, 2);
  await Promise.all([dispatcher.handOver("carrier"), bench.clock.advance(10_000)]);
  const back = new ScriptedCarrier();
  await dispatcher.addCarrier(back);
  await settle(bench);
  assert.equal(back.submitted.length, 2);
  assert.equal(carrier.submitted.length, 2);
});

test("a carrier that only other nodes have heard of ends nothing: the catalogue is looked at again first", async (t) => {
  let known = false;
  let looks = 0;
  const { bench, dispatcher, reported } = await startDispatch(t, BOUNDS, () => null, {
    knows: (id) => known && id === "new",
    lookAgain: async () => {
      if (++looks === 1) throw new Error("the store is away");
      known = true;
    },
  });
  await bench.accept([bench.message({ carrierId: "new" })], { notifyUrl: URL_A });
  await bench.clock.advance(2_000);
  assert.equal(looks, 2);
  assert.deepEqual(reported, []);
  const carrier = new ScriptedCarrier("new");
  await dispatcher.addCarrier(carrier);
  await settle(bench);
  assert.equal(carrier.submitted.length, 1);
});

test("when a carrier is gone, a route's other carrier gets its messages also where another node serves it", async (t) => {
  const route = (_message: unknown, usable: (id: string) => boolean) => ["other"].find(usable) ?? null;
  const { bench, dispatcher, reported } = await startDispatch(t, BOUNDS, route, { knows: (id) => id === "other" });
  await bench.accept(
    numbered(bench, 3).map((message) => ({ ...message, carrierId: "gone" })),
    { notifyUrl: URL_A },
  );
  await settle(bench);
  assert.deepEqual(reported, []);
  const other = new ScriptedCarrier("other");
  await dispatcher.addCarrier(other);
  await settle(bench);
  assert.equal(other.submitted.length, 3);
});
