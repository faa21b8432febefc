/** What the benchmark makes of what it has counted: the arithmetic, on figures that are made up. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { closedCountMs } from "../../bench/cycle/rig.ts";

test("with few messages under way the generator hears of each at once, and with many from time to time", () => {
  assert.deepEqual([1, 79, 800, 4_000, 1_000_000].map(closedCountMs), [0, 0, 10, 50, 50]);
});
