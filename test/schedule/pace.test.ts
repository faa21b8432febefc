/** The arithmetic of slots: never more than the limit in any stretch of its unit, and nearly that much when there is enough to send. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../src/runtime/random.ts";
import { graceMs, Pace, slotEveryUs, speedLimitOf } from "../../src/schedule/pace.ts";
import type { DeliveryWindow } from "../../src/schedule/window.ts";
import { mostWithin } from "../support/pace.ts";

const NOW = Date.UTC(2026, 1, 12, 10);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const LIMITS = [
  { amount: 1, unitMs: MINUTE },
  { amount: 7, unitMs: MINUTE },
  { amount: 100, unitMs: MINUTE },
  { amount: 1_000, unitMs: HOUR },
  { amount: 3, unitMs: DAY },
  { amount: 100_000, unitMs: MINUTE },
];

test("a limit is read as the client writes it, and MINUTE is what is meant without a unit", () => {
  assert.equal(speedLimitOf(undefined), null);
  assert.deepEqual(speedLimitOf({ amount: 5 }), { amount: 5, unitMs: MINUTE });
  assert.deepEqual(speedLimitOf({ amount: 5, timeUnit: "HOUR" }), { amount: 5, unitMs: HOUR });
  assert.deepEqual(speedLimitOf({ amount: 5, timeUnit: "DAY" }), { amount: 5, unitMs: DAY });
});

for (const limit of LIMITS) {
  const name = `${limit.amount} in ${limit.unitMs / 1_000} s`;

  test(`however late within its slot each message is handed over, ${name} is never exceeded`, () => {
    const random = seededRandom(7);
    const pace = new Pace(limit, 0);
    const count = Math.min(3 * limit.amount + 5, 5_000);
    for (const lateness of [() => 0, () => 1, () => random.next(), () => Math.round(random.next())]) {
      const handed = Array.from({ length: count }, () => {
        const { dueAtMs, untilMs } = pace.take(NOW, NOW, null);
        assert.ok(untilMs > dueAtMs, "there is time to hand it over");
        return dueAtMs + Math.floor((untilMs - dueAtMs) * lateness());
      });
      const most = mostWithin(handed, limit.unitMs);
      assert.ok(most <= limit.amount, `${most}`);
      // Random lateness may only make less of it.
      if (lateness() === 0 && count > limit.amount) assert.ok(most >= Math.floor(limit.amount * 0.9), `only ${most}`);
    }
  });

  test(`at ${name} a bulk takes at most a twentieth longer than its limit says`, () => {
    const pace = new Pace(limit, 0);
    const first = pace.take(NOW, NOW, null);
    assert.equal(first.dueAtMs, NOW, "the first goes at once");
    let last = first;
    for (let count = 1; count < 2_000; count++) last = pace.take(NOW, NOW, null);
    const ideal = (1_999 / limit.amount) * limit.unitMs;
    const taken = last.dueAtMs - NOW;
    assert.ok(taken >= ideal && taken <= ideal * 1.051 + 100, `${taken} of ${ideal} ms`);
  });
}

test("slots of which most would fall into one millisecond are a millionth of a second apart", () => {
  assert.equal(slotEveryUs({ amount: 2 ** 31 - 1, unitMs: MINUTE }), 1);
});

test("a release that is a moment late takes the slot as it was meant, and one that is later does not make up for lost time", () => {
  const limit = { amount: 60, unitMs: MINUTE };
  const every = slotEveryUs(limit) / 1_000;
  const pace = new Pace(limit, NOW * 1_000);
  const first = pace.takeDue(NOW + 700, null);
  assert.deepEqual(first, { dueAtMs: NOW + 700, untilMs: NOW + graceMs(limit) });
  assert.equal(pace.nextUs, (NOW + every) * 1_000);

  const later = NOW + HOUR;
  const slots = Array.from({ length: 5 }, () => pace.takeDue(later, null)!);
  assert.equal(slots[0]!.dueAtMs, later);
  assert.ok(slots.filter(({ dueAtMs }) => dueAtMs === later).length <= 2);
  assert.ok(slots.at(-1)!.dueAtMs >= later + 3 * every - 1_000);
});

test("slots fall into the message's window, and go on in its next opening", () => {
  const window: DeliveryWindow = { days: ["THURSDAY", "FRIDAY"], hours: { fromMinute: 600, toMinute: 603 } };
  const pace = new Pace({ amount: 1, unitMs: MINUTE }, 0);
  const times = Array.from({ length: 7 }, () => pace.take(NOW, NOW, window).dueAtMs - NOW);
  const next = DAY;
  assert.deepEqual(
    times.map((time) => Math.floor(time / MINUTE)),
    [0, 1, 2, next / MINUTE, next / MINUTE + 1, next / MINUTE + 2, (7 * DAY) / MINUTE],
  );
});

test("a slot that is not due before a message's end is not taken: the next message has it", () => {
  const limit = { amount: 1, unitMs: MINUTE };
  const nextMs = NOW + 30_000;
  const pace = new Pace(limit, nextMs * 1_000);
  for (const endMs of [NOW + 1, nextMs]) assert.equal(pace.takeDue(NOW, null, endMs), null);
  assert.equal(pace.nextUs, nextMs * 1_000);
  const slot = pace.takeDue(NOW, null, nextMs + 1);
  assert.deepEqual(slot, { dueAtMs: nextMs, untilMs: nextMs + graceMs(limit) });
  assert.equal(pace.startOf(slot!), nextMs);
  assert.ok(pace.behindUs(nextMs) >= pace.nextUs);
});
