/** One step of a node's look around: what it finds is handed out once, however long it took. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LookStep } from "../../src/store/postgres/look-step.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

test("what a slow run finds is handed out before the next run begins, and nothing is handed out twice", async () => {
  const clock = new VirtualClock();
  const slow = Promise.withResolvers<string>();
  let runs = 0;
  const step = new LookStep<string>(
    clock,
    () => (++runs === 1 ? slow.promise : Promise.resolve(`found ${runs}`)),
    (error) => assert.fail(error as Error),
  );
  const first = step.take();
  await clock.advance(1_000);
  assert.equal(await first, null, "it is not waited for");
  assert.equal(await step.take(), null, "it still goes on");
  slow.resolve("found 1");
  await step.ended();
  assert.deepEqual([await step.take(), await step.take(), await step.take()], ["found 1", "found 2", "found 3"]);
  assert.equal(runs, 3);
});

test("a run that fails is followed by another", async () => {
  const faults: unknown[] = [];
  let runs = 0;
  const step = new LookStep<number>(
    new VirtualClock(),
    async () => {
      if (++runs === 1) throw new Error("away");
      return runs;
    },
    (error) => faults.push(error),
  );
  assert.deepEqual([await step.take(), await step.take()], [null, 2]);
  assert.equal(faults.length, 1);
});
