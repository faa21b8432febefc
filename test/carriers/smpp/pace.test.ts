/** The pace of a carrier: never more than its parts a second, over any second. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Pace } from "../../../src/carriers/smpp/pace.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";

/** The most that went within any one second. */
function busiestSecond(times: readonly number[]): number {
  return Math.max(0, ...times.map((start) => times.filter((time) => time >= start && time < start + 1_000).length));
}

test("over any second no more parts go than the profile allows, however hard it is pushed", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 30 }),
      fc.array(fc.integer({ min: 1, max: 700 }), { maxLength: 30 }),
      async (limit, pauses) => {
        const clock = new VirtualClock();
        const pace = new Pace(limit, clock);
        const times: number[] = [];
        for (const pause of [0, ...pauses]) {
          if (pause > 0) await clock.advance(pause);
          while (pace.room() > 0) {
            pace.sent();
            times.push(clock.monotonic());
          }
          assert.ok(pace.waitMs() > 0);
        }
        assert.ok(busiestSecond(times) <= limit);
      },
    ),
    { numRuns: 30 },
  );
});

test("waiting as long as it says brings room, and the whole pace is used", async () => {
  const clock = new VirtualClock();
  const pace = new Pace(10, clock);
  let sent = 0;
  while (clock.monotonic() < 10_000) {
    while (pace.room() > 0) {
      pace.sent();
      sent++;
    }
    await clock.advance(pace.waitMs());
    assert.ok(pace.room() > 0);
  }
  assert.ok(sent >= 100 && sent <= 110, `${sent} in ten seconds`);
});

test("a busy carrier is sent half as much, and gradually more again, up to the profile's limit", async () => {
  const clock = new VirtualClock();
  const pace = new Pace(100, clock);
  for (let part = 0; part < 80; part++) pace.sent();
  for (let answer = 0; answer < 10; answer++) pace.slowDown();
  assert.equal(Math.round(pace.current), 40, "a whole window of busy answers counts once");
  await clock.advance(3_000);
  assert.ok(pace.current > 50 && pace.current < 60);
  await clock.advance(60_000);
  assert.equal(pace.current, 100);
});

test("a carrier that is always busy still gets a part a second", async () => {
  const clock = new VirtualClock();
  const pace = new Pace(100, clock);
  for (let second = 0; second < 20; second++) {
    pace.slowDown();
    await clock.advance(1_000);
  }
  assert.equal(pace.room(), 1);
  pace.sent();
  assert.ok(pace.waitMs() <= 1_000);
});

test("without a limit there is always room, until the carrier says otherwise", () => {
  const pace = new Pace(Number.POSITIVE_INFINITY, new VirtualClock());
  for (let part = 0; part < 10_000; part++) pace.sent();
  assert.ok(pace.room() > 1_000_000);
  pace.slowDown();
  assert.ok(pace.room() <= 5_000);
});

test("a share of less than one a second is one in so many seconds, and a larger share is used at once", async () => {
  const clock = new VirtualClock();
  const pace = new Pace(20, clock);
  pace.limit = 0.25;
  const times: number[] = [];
  for (let turn = 0; turn < 5; turn++) {
    while (pace.room() > 0) {
      pace.sent();
      times.push(clock.monotonic());
    }
    await clock.advance(pace.waitMs());
  }
  assert.deepEqual(times, [0, 4_000, 8_000, 12_000, 16_000]);
  pace.limit = 20;
  assert.equal(pace.room(), 20);
});

test("a second's parts go evenly, but for a few at once after a pause", async () => {
  const clock = new VirtualClock();
  const pace = new Pace(500, clock);
  const times: number[] = [];
  while (clock.monotonic() < 3_000) {
    while (pace.room() > 0) {
      pace.sent();
      times.push(clock.monotonic());
    }
    await clock.advance(pace.waitMs());
  }
  assert.ok(times.length >= 1_490 && times.length <= 1_510, `${times.length} in three seconds`);
  const gaps = times.slice(1).map((time, index) => time - times[index]!);
  assert.ok(Math.max(...gaps) <= 45, `a gap of ${Math.max(...gaps)} ms`);
  await clock.advance(5_000);
  assert.equal(pace.room(), 20);
});
