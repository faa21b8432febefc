/** How late an event loop is, on a clock that the test moves. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LoopLag } from "../../src/runtime/loop-lag.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

test("a loop that has nothing to do is woken once a second, one with little to do a few times, and a busy one is looked at every 20 ms", async () => {
  const clock = new VirtualClock();
  let activeMs = 0;
  new LoopLag(clock, () => activeMs);
  const looksIn = async (seconds: number, busyMsASecond: number): Promise<number> => {
    const before = clock.timersSet;
    for (let second = 0; second < seconds; second++) {
      activeMs += busyMsASecond;
      await clock.advance(1_000);
    }
    return clock.timersSet - before;
  };

  assert.equal(await looksIn(10, 1), 10);
  await looksIn(1, 400);
  assert.equal(await looksIn(4, 400), 200);
  await looksIn(2, 50);
  assert.equal(await looksIn(4, 50), 20);
  await looksIn(2, 1);
  assert.equal(await looksIn(10, 1), 10);
});

test("what held the loop up is told once, in seconds", async () => {
  const clock = new VirtualClock();
  const lag = new LoopLag(clock, () => 0);
  await clock.advance(3_000);
  assert.ok(lag.take().max < 1e-6);

  await clock.leap(1_300);
  const { mean, max, percentiles } = lag.take();
  for (const seconds of [mean, max, ...percentiles.map((each) => each.seconds)])
    assert.ok(Math.abs(seconds - 0.3) < 0.001, `${seconds}`);
  assert.deepEqual(
    percentiles.map(({ percent }) => percent),
    [50, 90, 99],
  );
  assert.equal(lag.take().max, 0);

  lag.stop();
  assert.equal(clock.timersPending, 0);
});
