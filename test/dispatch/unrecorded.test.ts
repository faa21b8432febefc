/** What carriers may have and the store does not know of: never more than their windows, whatever the store does. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { PartToSubmit, Submission } from "../../src/carriers/port.ts";
import { StoreUnavailable } from "../../src/store/port/errors.ts";
import type { Store } from "../../src/store/port/store.ts";
import type { Bench } from "../store/harness.ts";
import { CARRIER, HOUR, NOW } from "../store/harness.ts";
import { ScriptedCarrier } from "./scripted-carrier.ts";
import { numbered, settle, startDispatch } from "./setup.ts";

const LANES = { lane: 1_000, total: 1_000 };
const AWAY = async (): Promise<never> => {
  throw new StoreUnavailable("the database is away");
};

async function turns(bench: Bench, count = 40): Promise<void> {
  for (let turn = 0; turn < count; turn++) await settle(bench);
}

/** How often each phone was handed its message. */
function timesHanded(...carriers: ScriptedCarrier[]): number[] {
  const times = new Map<string, number>();
  for (const { message } of carriers.flatMap(({ submitted }) => submitted))
    times.set(message.to, (times.get(message.to) ?? 0) + 1);
  return [...times.values()];
}

for (const command of ["submitted", "received"] as const) {
  test(`while the store does not take "${command}", no more is handed over than the window; then all goes, once`, async (t) => {
    const { bench, carrier, dispatcher } = await startDispatch(t, LANES);
    carrier.window = 7;
    const away = t.mock.method(bench.store, command, AWAY);
    if (command === "received") {
      void carrier.receipt(bench.receipt("nobody's"));
      await settle(bench);
    }
    await bench.accept(numbered(bench, 100));
    await bench.clock.advance(30_000);
    assert.ok(carrier.submitted.length <= 7, `${carrier.submitted.length} handed over`);
    assert.equal(dispatcher.inDoubt, carrier.submitted.length);
    away.mock.restore();
    await bench.clock.advance(1_000);
    await turns(bench);
    assert.deepEqual(timesHanded(carrier), Array(100).fill(1));
    assert.equal(dispatcher.inDoubt, 0);
  });
}

test("what one carrier took and the store did not take keeps back all carriers", async (t) => {
  const other = new ScriptedCarrier("other");
  const { bench, carrier, dispatcher } = await startDispatch(t, LANES);
  await dispatcher.addCarrier(other);
  const away = t.mock.method(bench.store, "submitted", AWAY);
  await bench.accept([bench.message()]);
  await settle(bench);
  assert.equal(carrier.submitted.length, 1);
  await bench.accept([bench.message({ carrierId: "other" })]);
  await bench.clock.advance(10_000);
  assert.equal(other.submitted.length, 0);
  away.mock.restore();
  await bench.clock.advance(1_000);
  assert.equal(other.submitted.length, 1);
});

test("while one write takes long nothing more is handed over, however wide the window", async (t) => {
  const { bench, carrier } = await startDispatch(t, LANES);
  carrier.window = 1_000;
  const held = Promise.withResolvers<void>();
  const { submitted } = bench.store;
  const slow = t.mock.method(bench.store, "submitted", async (input: Parameters<Store["submitted"]>[0]) => {
    await held.promise;
    await submitted(input);
  });
  await bench.accept([bench.message({ to: "41790009999" })]);
  await bench.clock.advance(5_000);
  await bench.accept(numbered(bench, 20));
  await bench.clock.advance(5_000);
  assert.equal(carrier.submitted.length, 1);
  slow.mock.restore();
  held.resolve();
  await turns(bench);
  assert.equal(carrier.submitted.length, 21);
});

test("a stop says how many messages are in doubt, and the next start sends those again and no others", async (t) => {
  const { bench, carrier, dispatcher } = await startDispatch(t, LANES);
  carrier.window = 5;
  await bench.accept(numbered(bench, 1));
  await turns(bench, 5);
  const away = t.mock.method(bench.store, "submitted", AWAY);
  const rest = numbered(bench, 51).slice(1);
  await bench.accept(rest);
  await settle(bench);
  const [inDoubt] = await Promise.all([dispatcher.stop(), bench.clock.advance(10_000)]);
  assert.equal(inDoubt, 5);
  assert.equal(carrier.submitted.length, 6);
  away.mock.restore();
  await bench.restart();
  await bench.store.claimLane({ accountId: bench.accountId, carrierId: CARRIER, limit: 100 });
  assert.deepEqual(
    bench.takeMessages().map(({ to }) => to),
    rest.map(({ to }) => to),
  );
});

test("a stop with a store that takes what it is told leaves nothing in doubt", async (t) => {
  const { bench, carrier, dispatcher } = await startDispatch(t, LANES);
  carrier.window = 5;
  await bench.accept(numbered(bench, 50));
  const [inDoubt] = await Promise.all([dispatcher.stop(), bench.clock.advance(10_000)]);
  assert.equal(inDoubt, 0);
});

const LONG = { text: "x".repeat(400), partCount: 3 };

const NEVER = new Promise<Submission>(() => undefined);

/** Takes the first and the third part; the second gets this answer, and none when it comes again. */
function withoutSecond(answer: Submission | Promise<Submission>) {
  return (_: PartToSubmit, count: number): Submission | Promise<Submission> => {
    if (count > 3) return NEVER;
    return count === 2 ? answer : { kind: "accepted", carrierMessageId: `c${count}` };
  };
}

const CASES: Readonly<Record<string, Submission | Promise<Submission>>> = {
  "is busy": { kind: "later", retryAfterMs: HOUR },
  "puts it off": { kind: "not now", retryAfterMs: 5_000 },
  "is cut off": { kind: "unknown" },
  "does not answer": NEVER,
};

for (const [name, answer] of Object.entries(CASES)) {
  test(`killed while a carrier has two parts of three and ${name} for the other, only the other is sent again`, async (t) => {
    const first = await startDispatch(t, LANES);
    const { bench, carrier } = first;
    carrier.answer = withoutSecond(answer);
    await bench.accept([bench.message()], LONG);
    await bench.clock.advance(300);
    const parts = carrier.submitted.slice(0, 3).map(({ userData }) => userData);

    const second = await first.restart();
    await second.bench.clock.advance(7_000);
    assert.deepEqual(
      second.carrier.submitted.map(({ userData }) => userData),
      [parts[1]],
      "with the same reference",
    );
    const outstanding = await bench.store.outstanding({ carrierId: CARRIER, afterRow: 0, limit: 10 });
    assert.deepEqual(
      outstanding.map(({ carrierMessageId }) => carrierMessageId),
      ["c1", "c1", "c3"],
      "the first of either carrier, in the order of the parts",
    );
  });
}

test("a long message goes at once where the window is wide enough, and is not overtaken for ever by short ones", async (t) => {
  const { bench, carrier, dispatcher } = await startDispatch(t, LANES);
  carrier.window = 4;
  let most = 0;
  carrier.answer = (_, count) => {
    most = Math.max(most, dispatcher.inDoubt);
    return { kind: "accepted", carrierMessageId: `c${count}` };
  };
  await bench.accept(numbered(bench, 6));
  await bench.accept([bench.message({ to: "41790009999" })], LONG);
  await bench.accept(numbered(bench, 106).slice(6));
  await turns(bench, 200);
  const places = carrier.submitted.flatMap(({ message }, index) => (message.to === "41790009999" ? [index] : []));
  assert.equal(places.length, 3);
  assert.equal(places[2]! - places[0]!, 2, "together");
  assert.ok(places[0]! <= 6 + 4, `at ${places[0]}`);
  assert.equal(carrier.submitted.length, 109);
  assert.ok(most <= 4);
});

test("a message with more parts than the window goes a window at a time, and what went is known", async (t) => {
  const { bench, carrier, dispatcher } = await startDispatch(t, LANES);
  carrier.window = 2;
  const again = t.mock.method(bench.store, "again");
  await bench.accept([bench.message()], { text: "x".repeat(700), partCount: 5 });
  await turns(bench);
  assert.equal(carrier.submitted.length, 5);
  assert.equal(carrier.largestInFlight, 2);
  assert.equal(dispatcher.inDoubt, 0);
  assert.deepEqual(
    again.mock.calls.flatMap(({ arguments: [{ messages }] }) => messages.map(({ taken }) => taken?.ids)),
    [
      ["c1", "c2", null, null, null],
      ["c1", "c2", "c3", "c4", null],
    ],
  );
  assert.equal((await bench.store.outstanding({ carrierId: CARRIER, afterRow: 0, limit: 10 })).length, 5);
});

for (const [where, served, cut] of [
  ["in memory", "served", "the same"],
  ["in memory, where its carrier cuts it otherwise by now", "served", "another"],
  ["where no node serves its carrier", "not served", "the same"],
] as const) {
  test(`a message of which its carrier has a part, and whose validity ends ${where}, ends with that part`, async (t) => {
    const first = await startDispatch(t, LANES);
    first.carrier.answer = withoutSecond({ kind: "later", retryAfterMs: 2 * HOUR });
    await first.bench.accept([first.bench.message()], { ...LONG, expiresAtMs: NOW + HOUR });
    await settle(first.bench);
    const { bench, carrier } = await first.restart(served);
    const partsOf = carrier.partsOf.bind(carrier);
    if (cut === "another") carrier.partsOf = (message) => partsOf(message).slice(0, 2);
    carrier.up = false;
    const charged = await bench.balance();
    await bench.clock.advance(HOUR + 20_000);
    assert.equal(await bench.balance(), charged, "no refund");
    const outstanding = await bench.store.outstanding({ carrierId: CARRIER, afterRow: 0, limit: 10 });
    assert.deepEqual(
      outstanding.map(({ carrierMessageId }) => carrierMessageId),
      ["c1", "c3"],
    );
  });
}
