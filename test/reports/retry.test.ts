/** When a report is tried again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readRetryAfterMs, retryDelayMs } from "../../src/reports/pushing/retry.ts";
import { MINUTE_MS } from "./fixtures.ts";

const rules = { retries: 20, jitter: 0.1, retryAfterLimitMs: 60 * MINUTE_MS };
const never = { next: () => 0 };

test("the n-th retry waits 1 + n² minutes, and 20 of them last 41.5 hours", () => {
  const waits = Array.from({ length: 20 }, (_, retry) => retryDelayMs(rules, never, retry + 1, null)!);
  assert.deepEqual(
    waits.slice(0, 4).map((ms) => ms / MINUTE_MS),
    [1, 2, 5, 10],
  );
  assert.equal(waits.reduce((sum, ms) => sum + ms, 0) / (60 * MINUTE_MS), 41.5);
});

test("after the twentieth retry there is none", () => {
  assert.equal(retryDelayMs(rules, never, 21, null), null);
  assert.equal(retryDelayMs(rules, never, 21, 5000), null);
});

test("chance makes a wait a little longer, never shorter", () => {
  assert.equal(retryDelayMs(rules, { next: () => 0.5 }, 1, null), 1.05 * MINUTE_MS);
});

test("a receiver that asks for more time gets it, up to a limit; one that asks for less does not", () => {
  assert.equal(retryDelayMs(rules, never, 1, 5 * MINUTE_MS), 5 * MINUTE_MS);
  assert.equal(retryDelayMs(rules, never, 1, 1e15), 60 * MINUTE_MS);
  assert.equal(retryDelayMs(rules, never, 1, Number.POSITIVE_INFINITY), 60 * MINUTE_MS);
  assert.equal(retryDelayMs(rules, never, 1, 1000), MINUTE_MS);
});

test("Retry-After is read as seconds or as a date", () => {
  const nowMs = Date.UTC(2026, 1, 12, 10, 0, 0);
  const cases: [string, number | null][] = [
    ["120", 120_000],
    [" 0 ", 0],
    ["9".repeat(400), Number.POSITIVE_INFINITY],
    ["Thu, 12 Feb 2026 10:01:30 GMT", 90_000],
    ["Thu, 12 Feb 2026 09:00:00 GMT", 0],
    ["soon", null],
    ["", null],
  ];
  for (const [value, expected] of cases) assert.equal(readRetryAfterMs(value, nowMs), expected, value);
});
