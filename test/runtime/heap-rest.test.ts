/** When a thread gives memory back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { HeapRest } from "../../src/runtime/heap-rest.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

/** How often a thread is collected that is at work for so long in each second, from its start on. */
async function collections(busyMs: readonly number[]): Promise<number> {
  const clock = new VirtualClock();
  let [activeMs, count] = [0, 0];
  new HeapRest({ clock, activeMs: () => activeMs, collect: () => count++ });
  for (const ms of busyMs) {
    activeMs += ms;
    await clock.advance(1_000);
  }
  assert.equal(clock.timersPending, 0, "it is not woken for ever");
  return count;
}

const seconds = (count: number, busyMs: number): number[] => Array<number>(count).fill(busyMs);

test("a thread that has nothing to do after its start is collected once", async () => {
  assert.equal(await collections(seconds(120, 1)), 1);
  assert.equal(
    await collections([...seconds(5, 100), ...seconds(120, 1)]),
    1,
    "what the start leaves to do comes first",
  );
});

test("one that has been at work for long keeps what V8 has made of its code", async () => {
  assert.equal(await collections([...seconds(40, 50), ...seconds(120, 1)]), 0);
});

test("one that has had a message is not looked at any more", async () => {
  const clock = new VirtualClock();
  new HeapRest({ clock, activeMs: () => 0, collect: () => assert.fail("collected") }).stop();
  await clock.advance(60_000);
});

test("a collection leaves no garbage, and nothing of it can be seen afterwards", async () => {
  const clock = new VirtualClock();
  let garbage: object[] | null = [{}];
  const gone = new WeakRef(garbage[0]!);
  new HeapRest({ clock, activeMs: () => 0 });
  garbage = null;
  await clock.advance(10_000);
  assert.equal(gone.deref(), undefined);
  assert.equal("gc" in globalThis, false);
});
