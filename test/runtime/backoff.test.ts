import assert from "node:assert/strict";
import { test } from "node:test";
import { backoffMs } from "../../src/runtime/backoff.ts";

const WAITS = { firstMs: 100, maxMs: 1_000, jitter: 0 };

test("a wait doubles with each failure, up to its bound", () => {
  const waits = [0, 1, 2, 3, 4, 5, 2_000, Number.POSITIVE_INFINITY].map((failures) => backoffMs(WAITS, failures));
  assert.deepEqual(waits, [100, 100, 200, 400, 800, 1_000, 1_000, 1_000]);
});

test("chance takes off no more than its share", () => {
  for (const [next, waitMs] of [
    [0, 200],
    [0.5, 300],
    [1, 400],
  ] as const)
    assert.equal(backoffMs({ ...WAITS, jitter: 0.5 }, 3, { next: () => next }), waitMs);
});
