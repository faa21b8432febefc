/** A run counts only as what it was. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { cutsOf } from "./cuts.ts";
import type { Entry } from "./trace.ts";

const FAILURE = { life: 0, flush: "commit", number: 3 } as const;
const entry = (kind: "flush begun" | "flushed" | "flush failed", number: number): Entry => {
  return { kind, atNs: 0n, file: 1n, flush: "commit", number };
};
const FLUSHED = [entry("flush begun", 1), entry("flushed", 1), entry("flush begun", 2), entry("flushed", 2)];

test("no power is cut in a run whose flush was to fail and did not", () => {
  assert.deepEqual(cutsOf(FLUSHED, FAILURE, 10, 1), []);
  assert.equal(cutsOf(FLUSHED, null, 10, 1).length, 10);
});

test("in a run with a failed flush the power is cut behind it", () => {
  const entries = [...FLUSHED, entry("flush begun", 3), entry("flush failed", 3), ...FLUSHED];
  const cuts = cutsOf(entries, FAILURE, 10, 1);
  assert.equal(cuts.length, 10);
  assert.ok(cuts.every((cut) => cut.entries >= 6));
});
