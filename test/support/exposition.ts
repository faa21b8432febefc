/** Reads the page at /metrics strictly: Prometheus' text format, version 0.0.4, and what its users count on beyond the grammar. */
import assert from "node:assert/strict";

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly type: string;
  readonly help: string;
  readonly samples: Sample[];
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const HELP = new RegExp(`^# HELP (${NAME}) (.+)$`);
const TYPE = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram)$`);
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (NaN|[+-]Inf|-?(?:\\d+(?:\\.\\d+)?|\\.\\d+)(?:e[+-]?\\d+)?)$`);
/** A label with its value in quotes, in which only these three are escaped. */
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,(?=[a-zA-Z_])|$)/g;

/** Fails at the first line that is not of the format, and at whatever Prometheus would drop or mix up. */
export function parseMetrics(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  const helps = new Map<string, string>();
  const seen = new Set<string>();
  let current: string | null = null;
  assert.ok(text.endsWith("\n"), "the last line ends too");
  for (const line of text.slice(0, -1).split("\n")) {
    const [, helped, help] = HELP.exec(line) ?? [];
    if (helped !== undefined) {
      assert.ok(!helps.has(helped), `${helped} is described twice`);
      helps.set(helped, help!);
      continue;
    }
    const [, typed, type] = TYPE.exec(line) ?? [];
    if (typed !== undefined) {
      assert.ok(!families.has(typed), `${typed} has two types`);
      assert.ok(helps.has(typed), `${typed} has no word of help before its type`);
      families.set(typed, { type: type!, help: helps.get(typed)!, samples: [] });
      current = typed;
      continue;
    }
    const [, name, written = "", value] = SAMPLE.exec(line) ?? assert.fail(`no line of the format: ${line}`);
    const family = families.get(current ?? "") ?? assert.fail(`${name} comes before any type`);
    const allowed = family.type === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => current + end) : [current];
    assert.ok(allowed.includes(name!), `${name} stands among those of ${current}`);
    const pairs = [...written.matchAll(LABEL)];
    assert.equal(pairs.map(([pair]) => pair).join(""), written, `labels that cannot be read: ${written}`);
    const labels = Object.fromEntries(pairs.map(([, label, content]) => [label!, unescaped(content!)]));
    assert.equal(Object.keys(labels).length, pairs.length, `a label twice: ${line}`);
    const id = `${name} ${JSON.stringify(Object.entries(labels).sort())}`;
    assert.ok(!seen.has(id), `a series twice: ${line}`);
    seen.add(id);
    family.samples.push({ name: name!, labels, value: Number(value!.replace("Inf", "Infinity")) });
  }
  for (const [name, family] of families) if (family.type === "histogram") checkHistogram(name, family.samples);
  return families;
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(["\\n])/g, (_, character: string) => (character === "n" ? "\n" : character));
}

/** Buckets grow with their bounds, the last is without a bound, and it has as many as the count. */
function checkHistogram(name: string, samples: readonly Sample[]): void {
  const seriesOf = ({ labels: { le: _, ...others } }: Sample): string => JSON.stringify(others);
  for (const [series, all] of Map.groupBy(samples, seriesOf)) {
    const buckets = all.filter((one) => one.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) => Number(labels.le!.replace("+Inf", "Infinity")));
    const [sum, count] = ["sum", "count"].map((end) => all.filter((one) => one.name === `${name}_${end}`));
    assert.deepEqual([sum!.length, count!.length], [1, 1], `${name} ${series} has a sum and a count`);
    assert.equal(bounds.at(-1), Number.POSITIVE_INFINITY, `${name} ${series} ends without a bound`);
    for (let at = 1; at < buckets.length; at++) {
      assert.ok(bounds[at]! > bounds[at - 1]!, `bounds of ${name} ${series} grow`);
      assert.ok(buckets[at]!.value >= buckets[at - 1]!.value, `buckets of ${name} ${series} grow`);
    }
    assert.equal(buckets.at(-1)!.value, count![0]!.value, `${name} ${series} counts all`);
  }
}

/** The sum of the series with this name that have these labels, perhaps among others; 0 where there is none. */
export function metricOf(text: string, name: string, labels: Readonly<Record<string, string>> = {}): number {
  const wanted = Object.entries(labels);
  let sum = 0;
  for (const { samples } of parseMetrics(text).values())
    for (const sample of samples)
      if (sample.name === name && wanted.every(([label, value]) => sample.labels[label] === value)) sum += sample.value;
  return sum;
}
