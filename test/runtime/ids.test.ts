/** Ids: new each time, whatever the clock says, for all threads of a node. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { firstIdAt, IdSource, nthId } from "../../src/runtime/ids.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

test("two threads that count in the same memory never take the same id, and each has its own in one row", () => {
  const clock = new VirtualClock();
  const store = new IdSource(clock, 5);
  const edge = new IdSource(clock, 5, 0n, store.memory);
  const taken: string[] = [];
  for (let round = 0; round < 100; round++) {
    const first = edge.take(3);
    taken.push(...[0, 1, 2].map((index) => nthId(first, index)), store.take(1));
    if (round % 10 === 0) clock.stepBack(round % 20 === 0 ? 5_000 : -3_000);
  }
  assert.equal(new Set(taken).size, 400);
  assert.deepEqual(
    taken,
    taken.toSorted((one, other) => (BigInt(one) < BigInt(other) ? -1 : 1)),
  );
  assert.equal(store.highest.toString(), taken.at(-1));
  assert.equal(edge.highest, store.highest);
});

test("a clock that is beyond reason makes ids of 63 bits, and they go on when it is right again", () => {
  const clock = new VirtualClock();
  const ids = new IdSource(clock, 1023);
  const before = BigInt(ids.take(1));
  const years = 8_000 * 365 * 86_400_000;
  clock.stepBack(-years);
  const ahead = BigInt(ids.take(1_000_000));
  assert.ok(before < ahead && ahead + (1_000_000n << 10n) < 2n ** 63n);
  assert.ok(firstIdAt(clock.now()) < 2n ** 63n);
  clock.stepBack(years);
  assert.equal(BigInt(ids.take(1)), ahead + (1_000_000n << 10n));
});

test("what was taken before is behind, also of another node", () => {
  const clock = new VirtualClock();
  const after = firstIdAt(clock.now() + 60_000) + 700n;
  assert.ok(BigInt(new IdSource(clock, 0, after).take(1)) > after);
});
