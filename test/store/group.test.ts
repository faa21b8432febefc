/** Group commit: what arrives while a transaction is under way, or soon after one, shares the next. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Call, callsOf, GroupCommit, storeOver } from "../../src/store/group.ts";
import type { Store } from "../../src/store/port.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/** A store that answers at once, the sizes of its groups, and a clock that stands. */
function gathering(pauseMs: number | null): { store: Store; groups: number[]; clock: VirtualClock } {
  const clock = new VirtualClock();
  const groups: number[] = [];
  const engine = {
    run: async (calls: readonly Call[]) => {
      groups.push(calls.length);
      return { outcomes: calls.map(() => ({ ok: true as const, value: null })), feed: null };
    },
  };
  const pause = pauseMs === null ? null : { clock, ms: pauseMs };
  return { store: storeOver(callsOf(new GroupCommit(engine, () => undefined, pause))), groups, clock };
}

test("what comes in one turn of the loop is one group, and the next one follows at once", async () => {
  const { store, groups } = gathering(null);
  await Promise.all([store.changeCounter(), store.changeCounter()]);
  await store.changeCounter();
  assert.deepEqual(groups, [2, 1]);
});

test("after a quiet moment nothing waits; soon after another group what comes gathers for a moment", async () => {
  const { store, groups, clock } = gathering(2);
  await store.changeCounter();
  assert.deepEqual(groups, [1]);
  const answers = [store.changeCounter()];
  await nextTurn();
  answers.push(store.changeCounter(), store.changeCounter());
  await nextTurn();
  assert.deepEqual(groups, [1], "they wait");
  await clock.advance(2);
  await Promise.all(answers);
  assert.deepEqual(groups, [1, 3]);
  await clock.advance(10);
  await store.changeCounter();
  assert.deepEqual(groups, [1, 3, 1]);
});
