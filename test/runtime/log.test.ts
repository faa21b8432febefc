/** A bound on the lines that a stranger can cause. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LogLimiter } from "../../src/runtime/log.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

test("of one kind so many lines are written a minute, and the next one says how many were left out", async () => {
  const clock = new VirtualClock();
  const limiter = new LogLimiter(clock, 3);
  const lines: unknown[] = [];
  for (let count = 0; count < 1_000; count++) limiter.write("acme malformed", (more) => lines.push(more));
  assert.deepEqual(lines, [{}, {}, {}]);
  limiter.write("other malformed", (more) => lines.push(more));
  assert.equal(lines.length, 4, "others have their own");
  await clock.advance(60_000);
  limiter.write("acme malformed", (more) => lines.push(more));
  assert.deepEqual(lines.at(-1), { leftOut: 997 });
  limiter.write("acme malformed", (more) => lines.push(more));
  assert.deepEqual(lines.at(-1), {});
});

test("the kinds that are remembered have a bound too", () => {
  const limiter = new LogLimiter(new VirtualClock(), 1);
  let lines = 0;
  for (let kind = 0; kind < 5_000; kind++) limiter.write(String(kind), () => lines++);
  limiter.write("4999", () => lines++);
  assert.equal(lines, 5_000, "the newest is remembered");
  limiter.write("0", () => lines++);
  assert.equal(lines, 5_001, "the oldest is forgotten");
});
