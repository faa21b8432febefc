/** A carrier that is bound but sick: its messages take another carrier of their route, but for those that it may have. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { play, SICKNESSES } from "../../bench/sick/model.ts";
import type { Submission } from "../../src/carriers/port.ts";
import { carrierState } from "../../src/carriers/state.ts";
import { ScriptedCarrier } from "./scripted-carrier.ts";
import { numbered, settle, startDispatch, URL_A } from "./setup.ts";

const PER_SECOND = 10;
const BOUNDS = { lane: 1_000, total: 1_000 };
const PUT_OFF: Submission = { kind: "not now", retryAfterMs: 1_000, status: "ESME_RSYSERR" };

for (const sickness of SICKNESSES) {
  test(`${sickness} to all: after ten seconds nine of ten new messages go by the second carrier`, async () => {
    const told = await play({ sickness, perSecond: PER_SECOND, wellSeconds: 1, sickSeconds: 14, thenSeconds: 0 });
    assert.equal(told.first.get(-1), PER_SECOND, "all go by the first while it is well");
    for (let second = 10; second < 14; second++)
      assert.ok((told.second.get(second) ?? 0) >= 0.9 * PER_SECOND, `${told.second.get(second)} in second ${second}`);
    assert.ok(told.inDoubt <= 10, `${told.inDoubt} in doubt, of a window of ten`);
    assert.equal(told.missing, 0);
    assert.equal(told.states.get(13), "sick");
  });
}

/** Two carriers, "carrier" before "other", and what the first says to all. */
async function startTwo(
  t: TestContext,
  answer: ScriptedCarrier["answer"],
  usable: (id: string) => boolean = () => true,
) {
  const route = (_message: unknown, isUp: (id: string) => boolean) =>
    ["carrier", "other"].find((id) => usable(id) && isUp(id)) ?? null;
  const started = await startDispatch(t, BOUNDS, route);
  const other = new ScriptedCarrier("other");
  await started.dispatcher.addCarrier(other);
  started.carrier.answer = answer;
  const { bench } = started;
  let count = 0;
  /** So many seconds with three new messages each. */
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      await bench.accept(numbered(bench, count + 3).slice(count), { notifyUrl: URL_A });
      count += 3;
      await bench.clock.advance(1_000);
    }
  };
  const healthOf = (id: string) => started.dispatcher.facts().find((facts) => facts.id === id)!.health;
  return { ...started, other, pass, healthOf };
}

test("what a sick carrier did not take goes by the other at once, and the state says since when and why", async (t) => {
  const { bench, carrier, other, dispatcher, pass, healthOf } = await startTwo(t, () => PUT_OFF);
  await pass(8);
  await bench.clock.advance(10_000);
  assert.equal(healthOf("carrier").state, "sick");
  assert.equal(new Set(other.submitted.map(({ message }) => message.to)).size, 24, "all of them");
  const [state] = dispatcher.stateFacts().map((facts) => carrierState(facts));
  assert.equal(state!.state, "sick");
  assert.match(state!.reason ?? "", /of 10 phones at least: ESME_RSYSERR$/);
  assert.equal(state!.sinceMs, healthOf("carrier").sinceMs);

  carrier.answer = (_, count) => ({ kind: "accepted", carrierMessageId: `again ${count}` });
  await pass(45);
  assert.equal(healthOf("carrier").state, "well");
  const before = other.submitted.length;
  await pass(3);
  assert.equal(other.submitted.length, before, "the first has all again");
});

test("a carrier that is the only one for its messages is used as ever, however sick it is", async (t) => {
  const { bench, carrier, other, pass, healthOf } = await startTwo(
    t,
    () => PUT_OFF,
    (id) => id === "carrier",
  );
  await pass(10);
  assert.equal(healthOf("carrier").state, "sick");
  carrier.answer = (_, count) => ({ kind: "accepted", carrierMessageId: `late ${count}` });
  await bench.clock.advance(60_000);
  const taken = new Set(carrier.submitted.map(({ message }) => message.to));
  assert.equal(taken.size, 30);
  assert.equal(other.submitted.length, 0);
});

test("when all carriers are sick, it is as if none were", async (t) => {
  const { carrier, other, pass, healthOf } = await startTwo(t, () => PUT_OFF);
  other.answer = () => PUT_OFF;
  await pass(20);
  assert.deepEqual([healthOf("carrier").state, healthOf("other").state], ["sick", "sick"]);
  const before = { first: carrier.submitted.length, second: other.submitted.length };
  carrier.answer = (_, count) => ({ kind: "accepted", carrierMessageId: `first ${count}` });
  await pass(1);
  assert.ok(carrier.submitted.length > before.first, "new messages go to the first group");
});

test("what was never answered stays with its carrier, and so does a message of which the carrier has a part", async (t) => {
  const silent = Promise.withResolvers<Submission>();
  const { bench, carrier, other, pass, healthOf } = await startTwo(t, (_, count) =>
    // The first part of the long message, and nothing else.
    count === 1 ? { kind: "accepted", carrierMessageId: "part" } : silent.promise,
  );
  const long = bench.message({ to: "41780000000" });
  await bench.accept([long], { text: "x".repeat(300), partCount: 2, notifyUrl: URL_A });
  await pass(10);
  assert.equal(healthOf("carrier").state, "sick");
  const inDoubt = new Set(carrier.submitted.map(({ message }) => message.to));
  assert.ok(inDoubt.has(long.to) && inDoubt.size === 9, `${inDoubt.size} phones`);
  silent.resolve({ kind: "unknown" });
  await settle(bench);
  await pass(3);
  const moved = new Set(other.submitted.map(({ message }) => message.to));
  assert.deepEqual(
    [...inDoubt].filter((phone) => moved.has(phone)),
    [],
    "none of them goes by the other",
  );
  assert.ok(moved.size >= 29, `${moved.size} by the other, which gets all but a probe`);
});
