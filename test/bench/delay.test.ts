/** Receipts that come later: what the rate is then, and that the load does not wait for them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { HERE } from "../../bench/cycle/checkout.ts";
import { REPORTS, startHeliograph } from "../../bench/cycle/heliograph.ts";
import { type Options, readOptions } from "../../bench/cycle/options.ts";
import { Progress } from "../../bench/cycle/progress.ts";
import { Rig, rateBetween } from "../../bench/cycle/rig.ts";
import { temporaryDirectory } from "../support/service.ts";

/** So many in each of these seconds, evenly. */
const perSecond = (...counts: readonly number[]): Float64Array =>
  Float64Array.from(
    counts.flatMap((count, second) =>
      Array.from({ length: count }, (_, index) => 1000 * (second + (index + 1) / count)),
    ),
  );
const later = (times: Float64Array, ms: number): Float64Array => times.map((atMs) => atMs + ms);

const assertNear = (actual: number, expected: number): void =>
  assert.ok(Math.abs(actual / expected - 1) < 0.01, `${actual} is not about ${expected}`);

test("at a steady pace the rate is the pace, whatever the delay", () => {
  const submits = perSecond(100, 100, 100, 100, 100, 100, 100, 100);
  for (const delayMs of [1_000, 2_000, 3_500]) assertNear(rateBetween(submits, later(submits, delayMs), delayMs), 100);
});

test("what went faster before the first receipt, and slower reports after the last submit, do not count", () => {
  const submits = perSecond(500, 100, 100, 100, 100);
  const reports = perSecond(0, 100, 100, 100, 100, 250, 250);
  assertNear(rateBetween(submits, reports, 1_000), 100);
});

test("reports that fall behind the submits lower the rate", () => {
  const submits = perSecond(100, 100, 100, 100, 100);
  assertNear(rateBetween(submits, perSecond(0, 50, 50, 50, 50, 300), 1_000), 75);
});

test("a round that is over before it was steady has no rate", () => {
  const submits = perSecond(100, 100, 100);
  assert.ok(Number.isNaN(rateBetween(submits, later(submits, 2_000), 2_000)));
});

test("messages that only wait for their receipt let the next ones go", async (t) => {
  const stack = new AsyncDisposableStack();
  t.after(() => stack.disposeAsync());
  const options = readOptions(["--receipt-delay", "3000", "--backlog", "10"]) as Options;
  const directory = await temporaryDirectory(t);
  const rig = await Rig.start(
    {
      options,
      carrier: "smpp",
      directory,
      sink: REPORTS,
      start: (surroundings) =>
        startHeliograph({
          ...{ ...surroundings, options, checkout: HERE, carrier: "smpp" },
          ...{ nodes: 1, database: null, stored: 0, waiting: 0 },
        }),
      progress: new Progress(),
    },
    stack,
  );
  // If ten were all that may wait, these would take a minute and a half.
  const { elapsedMs, reportMs } = await rig.run({ mode: "one", connections: 10, messages: 300, perSecond: null });
  assert.ok(reportMs!.p50 >= 3_000);
  assert.ok(elapsedMs < 45_000, `${elapsedMs} ms`);
});
