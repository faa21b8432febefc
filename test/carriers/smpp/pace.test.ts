/** The pace of a carrier: never more than its parts a second, over any second, at the socket. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CarrierPace } from "../../../src/carriers/pace/carrier-pace.ts";
import { SentLog } from "../../../src/carriers/pace/sent-log.ts";
import fc, { cases } from "../../support/chance.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";

/** The most that went within any one second. */
function busiestSecond(times: readonly number[]): number {
  const sorted = times.toSorted((one, other) => one - other);
  let first = 0;
  let most = 0;
  for (const [last, time] of sorted.entries()) {
    while (sorted[first]! <= time - 1_000) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

/** One part, written at once. */
function send(pace: CarrierPace): void {
  pace.gathered();
  pace.written(1);
}

const untilEmpty = (pace: CarrierPace, sent: () => void): void => {
  while (pace.room() > 0) {
    send(pace);
    sent();
  }
};

test("over any second no more parts are written than the profile allows, whatever the socket holds back", async () => {
  const step = fc.record({
    pauseMs: fc.integer({ min: 1, max: 700 }),
    /** Of what was gathered this share is written before the pause, the rest later. */
    written: fc.constantFrom(0, 0.3, 1),
  });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 60 }), fc.array(step, { maxLength: 40 }), async (limit, steps) => {
      const clock = new VirtualClock();
      const pace = new CarrierPace(limit, clock);
      const times: number[] = [];
      let going = 0;
      const write = (count: number): void => {
        pace.written(count);
        for (let part = 0; part < count; part++) times.push(clock.monotonic());
        going -= count;
      };
      for (const { pauseMs, written } of steps) {
        for (; pace.room() > 0; going++) pace.gathered();
        write(Math.ceil(going * written));
        assert.ok(pace.waitMs() > 0);
        await clock.advance(pauseMs);
      }
      write(going);
      assert.ok(busiestSecond(times) <= limit, `${busiestSecond(times)} with ${limit}`);
    }),
    { numRuns: cases(100) },
  );
});

test("a limit that changes holds from the next part on, also where the carrier is set up anew", async () => {
  const change = fc.record({
    forMs: fc.integer({ min: 1, max: 3_000 }),
    limit: fc.integer({ min: 1, max: 60 }),
    isReplaced: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 8 }), async (changes) => {
      const clock = new VirtualClock();
      const log = new SentLog();
      let pace = new CarrierPace(30, clock, log);
      const times: number[] = [];
      for (const { forMs, limit, isReplaced } of changes) {
        if (isReplaced) pace = new CarrierPace(limit, clock, log);
        else pace.limit = limit;
        const endMs = clock.monotonic() + forMs;
        while (clock.monotonic() < endMs) {
          while (pace.room() > 0) {
            send(pace);
            times.push(clock.monotonic());
            const inSecond = times.filter((time) => time > clock.monotonic() - 1_000).length;
            assert.ok(inSecond <= limit, `the ${inSecond}th in a second, with ${limit}`);
          }
          await clock.advance(Math.min(pace.waitMs(), endMs - clock.monotonic()));
        }
      }
    }),
    { numRuns: cases(50) },
  );
});

test("what waits to be written counts as going now, and again as gone when it is written", async () => {
  const clock = new VirtualClock();
  const pace = new CarrierPace(10, clock);
  while (pace.room() > 0) pace.gathered();
  await clock.advance(5_000);
  assert.equal(pace.room(), 0, "none of them has gone: they may go at any moment");
  pace.written(10);
  await clock.advance(1_000);
  assert.equal(pace.room(), 0, "by the carrier's clock a second may be a little shorter");
  await clock.advance(20);
  assert.equal(pace.room(), 10);
});

test("a carrier that is set up anew does not begin its second anew", async () => {
  const clock = new VirtualClock();
  const log = new SentLog();
  const before = new CarrierPace(20, clock, log);
  for (let part = 0; part < 15; part++) send(before);
  await clock.advance(500);
  assert.equal(new CarrierPace(20, clock, log).room(), 5);
  assert.equal(new CarrierPace(10, clock, log).room(), 0);
  const unlimited = new CarrierPace(Number.POSITIVE_INFINITY, clock, log);
  for (let part = 0; part < 100; part++) send(unlimited);
  assert.equal(new CarrierPace(50, clock, log).room(), 0, "nor after one without a limit");
});

test("waiting as long as it says brings room, and the pace is used but for its margin", async () => {
  const clock = new VirtualClock();
  const pace = new CarrierPace(10, clock);
  let sent = 0;
  while (clock.monotonic() < 10_000) {
    untilEmpty(pace, () => sent++);
    await clock.advance(pace.waitMs());
    assert.ok(pace.room() > 0);
  }
  assert.ok(sent >= 97 && sent <= 107, `${sent} in ten seconds`);
});

test("without a limit there is always room, until the carrier throttles", async () => {
  const clock = new VirtualClock();
  const pace = new CarrierPace(Number.POSITIVE_INFINITY, clock);
  for (let part = 0; part < 10_000; part++) send(pace);
  assert.equal(pace.room(), Number.POSITIVE_INFINITY);
  for (let turn = 0; turn < 30; turn++) {
    const { stamp } = pace;
    for (let part = 0; part < 10; part++) {
      send(pace);
      pace.answered(stamp, true);
    }
    await clock.advance(10);
  }
  assert.ok(pace.facts.paceFound! < 1_000, `${pace.facts.paceFound} a second`);
  assert.ok(pace.room() < 20);
});

test("a share of less than one a second is one in so many seconds, and a larger share is used at once", async () => {
  const clock = new VirtualClock();
  const pace = new CarrierPace(20, clock);
  pace.limit = 0.25;
  const times: number[] = [];
  for (let turn = 0; turn < 5; turn++) {
    untilEmpty(pace, () => times.push(clock.monotonic()));
    await clock.advance(pace.waitMs());
  }
  assert.deepEqual(times, [0, 4_080, 8_160, 12_240, 16_320]);
  pace.limit = 20;
  assert.equal(pace.room(), 20);
});

test("a second's parts go evenly, but for a few at once after a pause", async () => {
  const clock = new VirtualClock();
  const pace = new CarrierPace(500, clock);
  const times: number[] = [];
  while (clock.monotonic() < 3_000) {
    untilEmpty(pace, () => times.push(clock.monotonic()));
    await clock.advance(pace.waitMs());
  }
  assert.ok(times.length >= 1_460 && times.length <= 1_510, `${times.length} in three seconds`);
  const gaps = times.slice(1).map((time, index) => time - times[index]!);
  assert.ok(Math.max(...gaps) <= 45, `a gap of ${Math.max(...gaps)} ms`);
  await clock.advance(5_000);
  assert.equal(pace.room(), 20);
});
