import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Agenda } from "../../src/carriers/simulator/agenda.ts";

test("whatever is noted and taken, the next is always the earliest, and of those the one noted first", () => {
  const note = fc.integer({ min: 0, max: 20 });
  const take = fc.constant(null);
  fc.assert(
    fc.property(fc.array(fc.oneof(note, note, take), { maxLength: 200 }), (steps) => {
      const agenda = new Agenda<string>();
      const plain: { dueMs: number; item: string }[] = [];
      for (const [place, dueMs] of steps.entries()) {
        if (dueMs === null) {
          assert.equal(agenda.take(), plain.shift()?.item);
        } else {
          const item = `${dueMs}, noted at ${place}`;
          agenda.note(dueMs, item);
          plain.push({ dueMs, item });
          plain.sort((a, b) => a.dueMs - b.dueMs); // stable
        }
        assert.equal(agenda.size, plain.length);
        assert.equal(agenda.nextDueMs, plain[0]?.dueMs ?? Number.POSITIVE_INFINITY);
      }
    }),
  );
});

test("what is cleared is gone", () => {
  const agenda = new Agenda<string>();
  agenda.note(1, "one");
  agenda.clear();
  assert.equal(agenda.size, 0);
  assert.equal(agenda.take(), undefined);
});
