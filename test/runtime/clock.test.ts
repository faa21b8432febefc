/** What is done again and again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Interval } from "../../src/runtime/clock.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

test("looks that began at any moment are made at the same ones", async () => {
  const clock = new VirtualClock();
  const wakes = new Set<number>();
  const looks: Interval[] = [];
  let runs = 0;
  for (const everyMs of [500, 1_000, 1_000, 5_000]) {
    await clock.advance(130);
    looks.push(
      Interval.together(clock, everyMs, async () => {
        runs++;
        wakes.add(clock.monotonic());
      }),
    );
  }
  await clock.advance(10_000 - clock.monotonic());
  assert.deepEqual(
    [...wakes].filter((atMs) => atMs % 500 !== 0),
    [],
  );
  assert.equal(runs, 20 + 9 + 9 + 1, "none is made more often");
  await Promise.all(looks.map((each) => each.stop()));
  assert.equal(clock.timersPending, 0);
});
