/** When a thread gives memory back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { HeapRest } from "../../src/runtime/heap-rest.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

test("a thread that idles is collected once, and again only when its heap has grown", async () => {
  const clock = new VirtualClock();
  let [heapBytes, activeMs, collections] = [100, 0, 0];
  const rest = new HeapRest({
    clock,
    activeMs: () => activeMs,
    heapBytes: () => heapBytes,
    collect: () => {
      collections++;
      heapBytes = 40;
    },
  });
  const pass = async (seconds: number, busyMsASecond: number): Promise<number> => {
    for (let second = 0; second < seconds; second++) {
      activeMs += busyMsASecond;
      await clock.advance(1_000);
    }
    return collections;
  };
  assert.equal(await pass(30, 500), 0, "while it is at work it is not held up");
  assert.equal(await pass(60, 1), 1);
  heapBytes = 55;
  assert.equal(await pass(60, 1), 1, "it would not be worth it");
  heapBytes = 90;
  assert.equal(await pass(60, 500), 1);
  assert.equal(await pass(60, 1), 2);
  await rest.stop();
  assert.equal(clock.timersPending, 0);
});

test("a collection leaves no garbage, and nothing of it can be seen afterwards", async () => {
  const clock = new VirtualClock();
  let garbage: object[] | null = [{}];
  const gone = new WeakRef(garbage[0]!);
  const rest = new HeapRest({ clock, activeMs: () => 0 });
  garbage = null;
  await clock.advance(10_000);
  assert.equal(gone.deref(), undefined);
  assert.equal("gc" in globalThis, false);
  await rest.stop();
});
