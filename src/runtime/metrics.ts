/**
 * Metrics as plain data, which can cross from one thread to another, and the page that Prometheus reads of them (its text format, version 0.0.4).
 *
 * Whoever counts something keeps plain numbers and histograms, and makes metrics of them when it is asked: what is counted by the thousand
 * costs no more than that. prom-client walks objects for every observation, which took more than a microsecond each.
 *
 * The values of a label are few: outcomes, states and statuses are those of a table, and names that operators choose are bounded (`LabelNames`).
 */

export type Labels = Readonly<Record<string, string>>;

/** How many observations there were of each size. */
export interface Distribution {
  /** The upper bounds of the buckets. */
  readonly bounds: readonly number[];
  /** By bucket, and behind them what was beyond all bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
}

export interface Series {
  readonly labels: Labels;
  readonly value: number | Distribution;
}

/** A number that some part counts, perhaps on another thread, with a series for each set of labels. */
export interface Metric {
  /** As Prometheus has it. */
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly series: readonly Series[];
}

/** One value without labels, or a series for each set of them. */
type Values = number | readonly Series[];

export const counter = (name: string, help: string, values: Values): Metric => metric("counter", name, help, values);
export const gauge = (name: string, help: string, values: Values): Metric => metric("gauge", name, help, values);
export const histogram = (name: string, help: string, values: Distribution | readonly Series[]): Metric =>
  metric("histogram", name, help, isDistribution(values) ? [{ labels: {}, value: values }] : values);

function metric(type: Metric["type"], name: string, help: string, values: Values): Metric {
  return { name, help, type, series: typeof values === "number" ? [{ labels: {}, value: values }] : values };
}

function isDistribution(values: Distribution | readonly Series[]): values is Distribution {
  return "sum" in values;
}

/** A series for each entry of an object whose keys are the values of one label. */
export function seriesBy(label: string, values: Readonly<Record<string, number>>, labels: Labels = {}): Series[] {
  return Object.entries(values).map(([name, value]) => ({ labels: { ...labels, [label]: name }, value }));
}

/** Counts observations by size. One costs a few comparisons and two additions, and no memory. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]!) bucket++;
    this.#counts[bucket]!++;
    this.#sum += value;
  }

  get distribution(): Distribution {
    return { bounds: this.#bounds, counts: [...this.#counts], sum: this.#sum };
  }
}

/** Two histograms of the same bounds as one. */
export function addDistributions(one: Distribution, other: Distribution): Distribution {
  return {
    bounds: one.bounds,
    counts: one.counts.map((count, bucket) => count + other.counts[bucket]!),
    sum: one.sum + other.sum,
  };
}

/** Seconds that a request or an answer takes, from a machine beside this one to somebody who is slow. */
export const ANSWER_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** What all names share that a label has no room for. */
export const OTHER = "other";

/**
 * The values of a label whose names operators choose. The first so many are themselves, for as long as the process runs, and all that come later are
 * `other`: a series that has begun goes on.
 */
export class LabelNames {
  readonly #names = new Set<string>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  of(name: string): string {
    if (this.#names.has(name)) return name;
    if (this.#names.size >= this.#most) return OTHER;
    this.#names.add(name);
    return name;
  }
}

/** The page. What several parts have under one name stands together, as the format asks for. */
export function expose(metrics: readonly Metric[]): string {
  const families = Map.groupBy(metrics, ({ name }) => name);
  const lines: string[] = [];
  for (const [name, [first, ...others]] of families) {
    const { help, type, series } = first!;
    lines.push(`# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`, `# TYPE ${name} ${type}`);
    for (const each of [...series, ...others.flatMap((other) => other.series)]) writeSeries(lines, name, each);
  }
  return `${lines.join("\n")}\n`;
}

function writeSeries(lines: string[], name: string, { labels, value }: Series): void {
  const written = labelsOf(labels);
  if (typeof value === "number") {
    lines.push(`${name}${braced(written)} ${numeral(value)}`);
    return;
  }
  let count = 0;
  value.counts.forEach((inBucket, bucket) => {
    count += inBucket;
    const bound = `le="${numeral(value.bounds[bucket] ?? Number.POSITIVE_INFINITY)}"`;
    lines.push(`${name}_bucket${braced(written === "" ? bound : `${written},${bound}`)} ${count}`);
  });
  lines.push(`${name}_sum${braced(written)} ${numeral(value.sum)}`, `${name}_count${braced(written)} ${count}`);
}

function braced(labels: string): string {
  return labels === "" ? "" : `{${labels}}`;
}

function labelsOf(labels: Labels): string {
  return Object.entries(labels)
    .map(([label, text]) => `${label}="${escaped(text)}"`)
    .join(",");
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function numeral(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value);
}
