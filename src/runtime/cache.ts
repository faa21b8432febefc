/**
 * Bounded caches, by lru-cache: past the bound the entry that was used longest ago makes room. A Map can be such a cache too, but once it is full V8
 * walks over the entries that were deleted from its front: 20 µs for each new one of 10,000, where this takes 0.4.
 */
import { LRUCache } from "lru-cache";
import type { Clock } from "./clock.ts";

type Something = NonNullable<unknown>;

export type BoundedCache<Key extends Something, Value extends Something> = LRUCache<Key, Value>;

export function boundedCache<Key extends Something, Value extends Something>(max: number): BoundedCache<Key, Value> {
  return sizedCache(max, () => 1);
}

/**
 * The bound is on the sum of what its values count for, 1 at least. A value must not change in place. Places are made as they are needed: with
 * lru-cache's `max` all of them would be made at the start, 4 MB for 100,000.
 */
export function sizedCache<Key extends Something, Value extends Something>(
  maxSize: number,
  sizeOf: (value: Value) => number,
): BoundedCache<Key, Value> {
  return new LRUCache({ maxSize, sizeCalculation: sizeOf });
}

/** Its entries are gone when they were set so long ago: whole milliseconds, 2 at least. */
export function expiringCache<Key extends Something, Value extends Something>(
  max: number,
  ttlMs: number,
  clock: Clock,
): BoundedCache<Key, Value> {
  // The clock is read each time, and not once a millisecond by a timer. There a reading of 0, with which a test's clock begins, means "no time",
  // and an entry is still fresh when its age is just the ttl.
  const perf = { now: () => clock.monotonic() + 1 };
  return new LRUCache({ maxSize: max, sizeCalculation: () => 1, ttl: ttlMs - 1, ttlResolution: 0, perf });
}
