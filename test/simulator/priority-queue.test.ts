import assert from "node:assert/strict";
import { test } from "node:test";
import { PriorityQueue } from "../../src/simulator/priority-queue.ts";
import fc from "../support/chance.ts";

test("whatever is noted and taken, the next is always the earliest, and of those the one noted first", () => {
  const note = fc.integer({ min: 0, max: 20 });
  const take = fc.constant(null);
  fc.assert(
    fc.property(fc.array(fc.oneof(note, note, take), { maxLength: 200 }), (steps) => {
      const queue = new PriorityQueue<string>();
      const plain: { dueMs: number; item: string }[] = [];
      for (const [place, dueMs] of steps.entries()) {
        if (dueMs === null) {
          assert.equal(queue.take(), plain.shift()?.item);
        } else {
          const item = `${dueMs}, noted at ${place}`;
          queue.note(dueMs, item);
          plain.push({ dueMs, item });
          plain.sort((a, b) => a.dueMs - b.dueMs); // stable
        }
        assert.equal(queue.size, plain.length);
        assert.equal(queue.nextDueMs, plain[0]?.dueMs ?? Number.POSITIVE_INFINITY);
      }
    }),
  );
});

test("what is cleared is gone", () => {
  const queue = new PriorityQueue<string>();
  queue.note(1, "one");
  queue.clear();
  assert.equal(queue.size, 0);
  assert.equal(queue.take(), undefined);
});
