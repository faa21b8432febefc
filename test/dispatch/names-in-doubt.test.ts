/** Which messages are in doubt, whatever the order in which the store comes to know of them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { InDoubt } from "../../src/dispatch/in-doubt.ts";
import fc, { cases } from "../support/chance.ts";

test("a message is in doubt until each time that it was handed over is settled, and a time that was settled counts no more", () => {
  const inDoubt = new InDoubt();
  const [first, other, again] = [inDoubt.add("1"), inDoubt.add("2"), inDoubt.add("1")];
  assert.deepEqual(new Set(inDoubt.keys()), new Set(["1", "2"]));
  assert.equal(inDoubt.size, 2);
  inDoubt.settle(first);
  inDoubt.settle(first);
  assert.deepEqual([...inDoubt.keys()], ["1", "2"]);
  inDoubt.settle(again);
  inDoubt.settle(other);
  inDoubt.settle(again);
  assert.equal(inDoubt.size, 0);
});

test("whichever are settled, the others are left", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50), { maxLength: 100 }), (places) => {
      const inDoubt = new InDoubt();
      const left = Array.from({ length: 30 }, (_, key) => inDoubt.add(String(key)));
      for (const place of places) {
        const [settled] = left.splice(place, 1);
        if (settled !== undefined) inDoubt.settle(settled);
        if (place % 3 === 0) left.push(inDoubt.add(`new ${place} ${left.length} ${Math.imul(place, left.length)}`));
        assert.deepEqual(
          [...inDoubt.keys()].reverse(),
          left.map(({ key }) => key),
        );
      }
    }),
    { numRuns: cases(100) },
  );
});
