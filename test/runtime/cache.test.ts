import assert from "node:assert/strict";
import { test } from "node:test";
import { boundedCache, expiringCache, sizedCache } from "../../src/runtime/cache.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

test("past the bound the entry used longest ago makes room", () => {
  const cache = boundedCache<string, number>(2);
  cache.set("a", 1).set("b", 2);
  cache.get("a");
  cache.set("c", 3);
  assert.deepEqual([cache.get("a"), cache.get("b"), cache.get("c")], [1, undefined, 3]);
});

test("an entry is gone when its time is over by our clock, also one that was set when that began", async () => {
  const clock = new VirtualClock();
  const cache = expiringCache<string, number>(10, 1_000, clock);
  cache.set("a", 1);
  await clock.advance(999);
  assert.equal(cache.get("a"), 1);
  await clock.advance(1);
  assert.equal(cache.get("a"), undefined);
});

test("a bound on sizes counts what each entry has", () => {
  const cache = sizedCache<string, readonly number[]>(3, (list) => list.length);
  cache.set("a", [1]).set("b", [1, 2]);
  cache.set("a", [1, 2]);
  assert.deepEqual([cache.has("a"), cache.has("b"), cache.calculatedSize], [true, false, 2]);
});
