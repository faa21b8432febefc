/** Group commit: what arrives while a transaction is under way, or soon after one, shares the next. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Call, callsOf, GroupCommit, storeOver } from "../../src/store/group.ts";
import type { Store } from "../../src/store/port/store.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

interface Gathering {
  readonly store: Store;
  /** For what nobody waits for. */
  readonly soon: Store;
  readonly groups: number[];
  readonly clock: VirtualClock;
}

/** A store that answers at once, the sizes of its groups, and a clock that stands. */
function gathering(pauseMs: number | null): Gathering {
  const clock = new VirtualClock();
  const groups: number[] = [];
  const engine = {
    run: async (calls: readonly Call[]) => {
      groups.push(calls.length);
      return { outcomes: calls.map(() => ({ ok: true as const, value: null })), feed: null };
    },
  };
  const pause = pauseMs === null ? null : { clock, ms: { awaited: pauseMs, soon: 2 * pauseMs } };
  const group = new GroupCommit(engine, () => undefined, pause);
  return { store: storeOver(callsOf(group)), soon: storeOver(callsOf(group, "soon")), groups, clock };
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

test("what nobody waits for gathers for longer, and goes along with what somebody waits for", async () => {
  const { store, soon, groups, clock } = gathering(2);
  await soon.changeCounter();
  const answers = [soon.changeCounter()];
  await nextTurn();
  await clock.advance(2);
  assert.deepEqual(groups, [1], "it waits");
  answers.push(store.changeCounter());
  await Promise.all(answers);
  assert.deepEqual(groups, [1, 2], "no group before had anything that was waited for");
  answers.push(soon.changeCounter(), store.changeCounter());
  await nextTurn();
  assert.deepEqual(groups, [1, 2]);
  await clock.advance(2);
  await Promise.all(answers);
  assert.deepEqual(groups, [1, 2, 2]);
  answers.push(soon.changeCounter());
  await nextTurn();
  await clock.advance(3);
  assert.deepEqual(groups, [1, 2, 2]);
  await clock.advance(1);
  await Promise.all(answers);
  assert.deepEqual(groups, [1, 2, 2, 1]);
  assert.equal(clock.timersPending, 0);
});

test("an engine does what can wait when nobody does, a little at a time", async () => {
  const done: string[] = [];
  let left = 3;
  const engine = {
    run: async (calls: readonly Call[]) => {
      done.push("group");
      return { outcomes: calls.map(() => ({ ok: true as const, value: null })), feed: null };
    },
    onIdle: () => {
      done.push("rest");
      return --left > 0;
    },
  };
  const store = storeOver(callsOf(new GroupCommit(engine, () => undefined)));
  await store.changeCounter();
  assert.deepEqual(done, ["group"]);
  await Promise.all([store.changeCounter(), nextTurn().then(nextTurn).then(nextTurn)]);
  assert.deepEqual(done, ["group", "group", "rest", "rest", "rest"]);
});
