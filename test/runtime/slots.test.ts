/** A map whose values can be collected once they are gone. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SlotMap } from "../../src/runtime/slots.ts";
import fc from "../support/chance.ts";

test("it does what a Map does, in the same order", () => {
  const step = fc.record({ key: fc.integer({ min: 0, max: 9 }), value: fc.integer(), adds: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const map = new Map<number, number>();
      const slots = new SlotMap<number, number>();
      for (const { key, value, adds } of steps) {
        if (adds) {
          map.set(key, value);
          slots.set(key, value);
        } else {
          assert.equal(slots.delete(key), map.delete(key));
        }
        assert.equal(slots.get(key), map.get(key));
        assert.equal(slots.size, map.size);
        assert.deepEqual([...slots.entries()], [...map.entries()]);
        assert.deepEqual([...slots.values()], [...map.values()]);
      }
      slots.clear();
      assert.deepEqual([...slots.entries()], []);
    }),
  );
});

test("what is taken out while it is walked through does not come", () => {
  const slots = new SlotMap<string, number>();
  for (const [index, key] of ["a", "b", "c"].entries()) slots.set(key, index);
  const seen: string[] = [];
  for (const [key] of slots.entries()) {
    seen.push(key);
    slots.delete("b");
  }
  assert.deepEqual(seen, ["a", "c"]);
});
