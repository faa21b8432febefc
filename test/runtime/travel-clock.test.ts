import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { Interval, systemClock } from "../../src/runtime/clock.ts";
import { TravelClock } from "../../src/runtime/travel-clock.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** As the service does it on each thread. */
function jump(clock: TravelClock, byMs: number): void {
  clock.move(byMs);
  clock.rearm();
}

function setUp(): { real: VirtualClock; clock: TravelClock; fired: string[]; note: (name: string) => () => void } {
  const real = new VirtualClock();
  const clock = new TravelClock(real);
  const fired: string[] = [];
  return { real, clock, fired, note: (name) => () => void fired.push(name) };
}

test("without a jump it is the real clock", async () => {
  const { real, clock, fired, note } = setUp();
  clock.after(1_000, note("one"));
  assert.equal(clock.now(), real.now());
  await real.advance(999);
  assert.deepEqual(fired, []);
  await real.advance(1);
  assert.deepEqual(fired, ["one"]);
});

test("a jump moves the time of day and the monotonic reading alike, and not the clocks of those who stay behind", () => {
  const { real, clock } = setUp();
  const before = { now: clock.now(), monotonic: clock.monotonic() };
  jump(clock, 2 * HOUR_MS);
  assert.equal(clock.now() - before.now, 2 * HOUR_MS);
  assert.equal(clock.monotonic() - before.monotonic, 2 * HOUR_MS);
  assert.equal(clock.outside.now(), clock.now());
  assert.equal(clock.outside.monotonic(), real.monotonic());
  assert.equal(clock.real.now(), real.now());
  assert.equal(clock.offsetMs, 2 * HOUR_MS);
});

test("what came due within a jump fires in the order of its times, and the rest when its time comes", async () => {
  const { real, clock, fired, note } = setUp();
  clock.after(3 * HOUR_MS, note("in three hours"));
  clock.after(90 * MINUTE_MS, note("in ninety minutes"));
  clock.after(MINUTE_MS, note("in a minute, first"));
  clock.after(MINUTE_MS, note("in a minute, second"));
  jump(clock, 2 * HOUR_MS);
  await real.advance(0);
  assert.deepEqual(fired, ["in a minute, first", "in a minute, second", "in ninety minutes"]);
  await real.advance(HOUR_MS - 1);
  assert.equal(fired.length, 3);
  await real.advance(1);
  assert.equal(fired.at(-1), "in three hours");
  assert.equal(real.timersPending, 0);
});

test("a jump from within a timer wakes the others once, and not the one that runs", async () => {
  const { real, clock, fired, note } = setUp();
  clock.after(1_000, () => {
    note("jumps")();
    jump(clock, HOUR_MS);
  });
  clock.after(30 * MINUTE_MS, note("within"));
  clock.after(2 * HOUR_MS, note("beyond"));
  await real.advance(1_000);
  assert.deepEqual(fired, ["jumps", "within"]);
});

test("a timer that was cancelled stays so over a jump, one that another timer of the same jump cancels included", async () => {
  const { real, clock, fired, note } = setUp();
  const early = clock.after(1_000, note("cancelled before"));
  early.cancel();
  const late = clock.after(3_000, note("cancelled by another"));
  clock.after(2_000, () => late.cancel());
  jump(clock, HOUR_MS);
  await real.advance(HOUR_MS);
  assert.deepEqual(fired, []);
  assert.equal(real.timersPending, 0);
});

test("an interval runs once for a jump, however often it would have run meanwhile", async () => {
  const { real, clock, fired, note } = setUp();
  const interval = new Interval(clock, 1_000, async () => note("round")());
  jump(clock, DAY_MS);
  await real.advance(0);
  assert.deepEqual(fired, ["round"]);
  await real.advance(1_000);
  assert.equal(fired.length, 2);
  await interval.stop();
});

test("a timer further away than the system can count does not fire early", async () => {
  const bounded = new VirtualClock();
  const real = {
    now: () => bounded.now(),
    monotonic: () => bounded.monotonic(),
    after: (ms: number, run: () => void) => bounded.after(Math.min(ms, 24 * DAY_MS), run),
  };
  const clock = new TravelClock(real);
  let fired = 0;
  clock.after(60 * DAY_MS, () => fired++);
  await bounded.advance(30 * DAY_MS);
  assert.equal(fired, 0);
  jump(clock, 30 * DAY_MS);
  await bounded.advance(0);
  assert.equal(fired, 1);
});

test("timers of those who stay behind do not hear of a jump", async () => {
  const { real, clock, fired, note } = setUp();
  clock.outside.after(1_000, note("a carrier's answer is late"));
  jump(clock, HOUR_MS);
  await real.advance(999);
  assert.deepEqual(fired, []);
  await real.advance(1);
  assert.equal(fired.length, 1);
});

test("a clock goes forwards only, by whole milliseconds", () => {
  const { clock } = setUp();
  for (const by of [-1, Number.NaN, 0.5, Number.POSITIVE_INFINITY]) assert.throws(() => jump(clock, by), RangeError);
  assert.equal(clock.offsetMs, 0);
});

test("another thread's clock on the same memory has the same time", async () => {
  const clock = new TravelClock(systemClock, TravelClock.memoryAt(MINUTE_MS));
  const module = JSON.stringify(new URL("../../src/runtime/travel-clock.ts", import.meta.url).href);
  const system = JSON.stringify(new URL("../../src/runtime/clock.ts", import.meta.url).href);
  const worker = new Worker(
    `const { workerData, parentPort } = require("node:worker_threads");
     Promise.all([import(${module}), import(${system})]).then(([{ TravelClock }, { systemClock }]) => {
       const clock = new TravelClock(systemClock, workerData);
       clock.after(${HOUR_MS}, () => { parentPort.postMessage("fired"); parentPort.close(); });
       parentPort.on("message", () => clock.rearm());
       parentPort.postMessage(clock.offsetMs);
     });`,
    { eval: true, workerData: clock.memory },
  );
  const heard = () => new Promise((resolve) => worker.once("message", resolve));
  assert.equal(await heard(), MINUTE_MS);
  jump(clock, 2 * HOUR_MS);
  worker.postMessage("rearm");
  assert.equal(await heard(), "fired");
  await worker.terminate();
});
