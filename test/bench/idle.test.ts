/** What the benchmark says of a service that has nothing to do: on figures that are made up. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type IdleRound, idleRatios, isQuiet, printIdle, ratesOf } from "../../bench/idle/figures.ts";

test("a service is quiet when its CPU time has stopped falling", () => {
  assert.equal(isQuiet([]), false);
  assert.equal(isQuiet([20_000, 20_000, 20_000, 20_000, 20_000]), false, "too few to tell");
  assert.equal(isQuiet([500_000, 200_000, 100_000, 50_000, 30_000, 25_000]), false);
  assert.equal(isQuiet([500_000, 24_000, 21_000, 22_000, 20_000, 23_000, 19_000]), true);
  assert.equal(isQuiet([9_000, 4_000, 2_000, 900, 900, 900]), true, "next to nothing");
});

test("what a thread used is told for a second", () => {
  const before = { cpuMicros: { edge: 1_000_000 }, wakeUps: { edge: 100 }, waitMicros: null };
  const after = { cpuMicros: { edge: 1_200_000, store: 50_000 }, wakeUps: { edge: 300, store: 10 }, waitMicros: null };
  assert.deepEqual(ratesOf(before, after, 10), {
    corePercent: { edge: 2, store: 0.5 },
    wakeUpsPerSecond: { edge: 20, store: 1 },
  });
});

function round(times: number): IdleRound {
  return {
    quietAfterSeconds: 6,
    corePercent: { edge: times, store: 2 * times },
    wakeUpsPerSecond: { edge: 10 * times },
    memoryBytes: times * 2 ** 20,
    peakMemoryBytes: 2 * times * 2 ** 20,
  };
}

test("two checkouts are compared by neighbouring rounds", () => {
  const results = [
    { name: "here", rounds: [round(2), round(9), round(4)] },
    { name: "there", rounds: [round(1), round(3), round(4)] },
  ];
  const expected = { median: 2, least: 1, most: 3 };
  assert.deepEqual(
    idleRatios(results),
    ["share of a core, %", "wake-ups a second", "memory", "peak memory"].map((figure) => ({ figure, ratio: expected })),
  );
  assert.deepEqual(printIdle(results).slice(0, 10), [
    "",
    "here",
    "  quiet after, s      6.0",
    "  share of a core, %  12.00 (6.00 – 27.00)",
    "    edge              4.00 (2.00 – 9.00)",
    "    store             8.00 (4.00 – 18.00)",
    "  wake-ups a second   40.0 (20.0 – 90.0)",
    "    edge              40.0 (20.0 – 90.0)",
    "  memory              4 MB (2 MB – 9 MB)",
    "  peak memory         8 MB (4 MB – 18 MB)",
  ]);
});
