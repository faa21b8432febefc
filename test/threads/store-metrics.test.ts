/** The groups of the store's thread are counted by what became of what they were to change. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/runtime/clock.ts";
import type { Call, CallOutcome } from "../../src/store/group.ts";
import { GroupMetrics } from "../../src/threads/store-metrics.ts";

const READ: Call = { command: "balance", input: { accountId: 1 } };
const WRITE: Call = { command: "accept", input: {} };
const DONE: CallOutcome = { ok: true, value: null };
const FULL: CallOutcome = { ok: false, error: new Error("database or disk is full") };

async function groupsAfter(calls: readonly Call[], outcomes: readonly CallOutcome[]): Promise<Record<string, number>> {
  const groups = new GroupMetrics(systemClock);
  await groups.run({ run: async () => ({ outcomes, feed: null }) }, calls);
  const { series } = groups.metrics().find(({ name }) => name === "heliograph_store_groups_total")!;
  return Object.fromEntries(
    (series as { labels: Record<string, string>; value: number }[]).map(({ labels, value }) => [labels.outcome, value]),
  );
}

test("a group whose writes fail has failed, also where something was read beside them", async () => {
  assert.deepEqual(await groupsAfter([READ, WRITE], [DONE, FULL]), { committed: 0, failed: 1 });
  assert.deepEqual(await groupsAfter([WRITE, READ, WRITE], [FULL, DONE, DONE]), { committed: 1, failed: 0 });
  assert.deepEqual(await groupsAfter([READ], [DONE]), { committed: 0, failed: 0 }, "what only reads is not counted");
});
