/** What is counted and noted of messages on their way: it never stops them, and it never waits for an answer that does not come. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CarrierCounts } from "../../src/dispatch/carrier-counts.ts";
import type { Trace } from "../../src/events/trace.ts";
import { NOW } from "../store/harness.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { numbered, settle, startDispatch, URL_A } from "./setup.ts";

function failingTrace(): Trace & { failures: number } {
  return {
    isOn: true,
    all: true,
    failures: 0,
    note() {
      throw new Error("a note that fails");
    },
    failed() {
      this.failures++;
    },
  };
}

test("notes that fail stop no message, whatever its carrier answers, and no receipt", async (t) => {
  const trace = failingTrace();
  const { bench, carrier, reported } = await startDispatch(t, undefined, undefined, { trace });
  carrier.answer = (_, count) => {
    if (count === 1) return { kind: "later", retryAfterMs: 100 };
    return count === 2 ? { kind: "refused", errorId: 1 } : { kind: "accepted", carrierMessageId: `c${count}` };
  };
  await bench.accept(numbered(bench, 3), { notifyUrl: URL_A });
  await settle(bench);
  await bench.clock.advance(1_000);
  assert.equal(carrier.submitted.length, 4, "the busy one went again");
  for (const carrierMessageId of ["c3", "c4"]) {
    const safe = carrier.receipt({
      carrierMessageId,
      outcome: "undeliverable",
      errorId: 1,
      mccMnc: null,
      to: null,
      atMs: NOW,
    });
    await settle(bench);
    await safe;
  }
  await settle(bench);
  assert.equal(reported.length, 3, "each message has ended");
  assert.ok(trace.failures > 0, "and none of its notes was taken");
});

test("each answer is timed by itself, also behind a message that is never answered", async () => {
  const clock = new VirtualClock(0);
  const counts = new CarrierCounts(clock);
  const lost = counts.handed();
  await clock.advance(30_000);
  const next = counts.handed();
  await clock.advance(5);
  counts.answered(next);
  assert.equal(counts.answerTimes.take()?.medianMs, 5);
  counts.answered(lost);
  const { counts: buckets, sum } = counts.answerSeconds.distribution;
  assert.equal(
    buckets.reduce((all, count) => all + count),
    2,
  );
  assert.equal(sum.toFixed(3), "30.010");
});
