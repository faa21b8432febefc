/** The page that Prometheus reads: its grammar, its escapes, and the bound on names that others choose. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addDistributions,
  counter,
  expose,
  gauge,
  Histogram,
  histogram,
  LabelNames,
  seriesBy,
} from "../../src/runtime/metrics.ts";
import { metricOf, parseMetrics } from "../support/exposition.ts";

test("whatever is in a label or a help comes back as it was", () => {
  const strange = ['a "b"', "c\\d", "e\nf", "\\n", '\\"', "}", ',x="1"', "ä 漢 😀", ""];
  const page = expose([
    gauge(
      "some_gauge",
      "A help with a \\ and a\nline",
      strange.map((name, value) => ({ labels: { name, kind: "x" }, value })),
    ),
  ]);
  const { samples, help } = parseMetrics(page).get("some_gauge")!;
  assert.deepEqual(
    samples.map(({ labels }) => labels.name),
    strange,
  );
  assert.equal(help, "A help with a \\\\ and a\\nline");
});

test("what several parts have under one name stands together, with one help and one type", () => {
  const of = (thread: string) => gauge("heap_bytes", "The heap", [{ labels: { thread }, value: 1 }]);
  const page = expose([of("edge"), counter("other_total", "Another", 7), of("store")]);
  const families = parseMetrics(page);
  assert.deepEqual([...families.keys()], ["heap_bytes", "other_total"]);
  assert.deepEqual(
    families.get("heap_bytes")!.samples.map(({ labels }) => labels.thread),
    ["edge", "store"],
  );
});

test("numbers are written as Prometheus reads them", () => {
  const values = { small: 1e-9, large: 1e21, negative: -1.5, infinite: Number.POSITIVE_INFINITY, none: Number.NaN };
  const page = expose([gauge("some_gauge", "Some", seriesBy("name", values))]);
  for (const [name, value] of Object.entries(values))
    assert.equal(metricOf(page, "some_gauge", { name }), value, `${name} in\n${page}`);
});

test("an observation is in the bucket of the first bound that it does not pass, and in all behind", () => {
  const times = new Histogram([1, 2, 5]);
  for (const value of [0, 1, 1.5, 2, 3, 5, 6, 1_000]) times.observe(value);
  const page = expose([histogram("times_seconds", "Times", times.distribution)]);
  const { samples } = parseMetrics(page).get("times_seconds")!;
  const buckets = samples.filter(({ name }) => name.endsWith("_bucket"));
  assert.deepEqual(
    buckets.map(({ labels, value }) => [labels.le, value]),
    [
      ["1", 2],
      ["2", 4],
      ["5", 6],
      ["+Inf", 8],
    ],
  );
  assert.equal(metricOf(page, "times_seconds_sum"), 1_018.5);
  const twice = addDistributions(times.distribution, times.distribution);
  assert.equal(metricOf(expose([histogram("times_seconds", "Times", twice)]), "times_seconds_count"), 16);
});

test("of names that others choose the first so many are labels for good, and the rest are one", () => {
  const names = new LabelNames(2);
  assert.deepEqual(
    ["a", "b", "c", "a", "d", "b"].map((name) => names.of(name)),
    ["a", "b", "other", "a", "other", "b"],
  );
});
