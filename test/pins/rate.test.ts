/** Rates: how they are written, and that no span has more events than its rate says, however they come. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Count, countOne, parseRate, parseSpan, uncountOne } from "../../src/pins/rate.ts";
import { seededRandom } from "../../src/runtime/random.ts";

test("spans and rates are read with every unit, and the number one may be left out", () => {
  assert.deepEqual(
    ["15m", "m", "500ms", "2h", "365d", "1s"].map(parseSpan),
    [900_000, 60_000, 500, 7_200_000, 31_536_000_000, 1_000],
  );
  for (const wrong of ["", "15", "0s", "1.5h", "-1s", "1 m", "1w", "999999999999s"])
    assert.equal(parseSpan(wrong), null);
  assert.deepEqual(parseRate("3/1d"), { tries: 3, spanMs: 86_400_000 });
  assert.deepEqual(parseRate("1/d"), { tries: 1, spanMs: 86_400_000 });
  for (const wrong of ["", "3", "/1d", "0/1d", "3/0d", "3/1d/1d", "99999999/1d"]) assert.equal(parseRate(wrong), null);
});

test("in no span are there more events than the rate says, and a wait that is told is enough", () => {
  const random = seededRandom(7);
  for (const rate of [
    { tries: 1, spanMs: 3_000 },
    { tries: 5, spanMs: 10_000 },
    { tries: 500, spanMs: 60_000 },
  ]) {
    let nowMs = Date.UTC(2026, 0, 1);
    let count: Count = [];
    const events: number[] = [];
    for (let step = 0; step < 20_000; step++) {
      nowMs += Math.floor((random.next() ** 3 * 4 * rate.spanMs) / rate.tries);
      const outcome = countOne(count, rate, nowMs);
      if ("count" in outcome) {
        count = outcome.count;
        events.push(nowMs);
        assert.ok(count.length <= 62);
      } else {
        assert.ok(outcome.waitMs > 0 && outcome.waitMs <= rate.spanMs);
        assert.ok("count" in countOne(count, rate, nowMs + outcome.waitMs));
      }
    }
    for (let last = rate.tries; last < events.length; last++)
      assert.ok(events[last]! - events[last - rate.tries]! >= rate.spanMs);
    assert.ok(events.length > 100);
  }
});

test("an event that is taken out makes room for one, and a clock that stepped back locks nobody out for longer", () => {
  const rate = { tries: 2, spanMs: 1_000 };
  const counted = (count: Count, nowMs: number): Count => {
    const outcome = countOne(count, rate, nowMs);
    return "count" in outcome ? outcome.count : assert.fail(`wait ${outcome.waitMs}`);
  };
  const two = counted(counted([], 10_000), 10_001);
  assert.ok("waitMs" in countOne(two, rate, 10_002));
  const one = uncountOne(two, 10_001);
  assert.ok("waitMs" in countOne(counted(one, 10_002), rate, 10_003));
  assert.deepEqual(uncountOne([], 5), []);
  const back = countOne(two, rate, 0);
  assert.ok("waitMs" in back && back.waitMs <= rate.spanMs);
});
