/** The result of a run: for people as a table, for programs as JSON. */
import { cpus, release, totalmem, type } from "node:os";
import type { Options } from "./options.ts";
import type { ThreadProfile } from "./profile.ts";
import type { Round } from "./rig.ts";
import { type Spread, spreadOf } from "./statistics.ts";

export interface Measured {
  readonly name: string;
  readonly rounds: readonly Round[];
  readonly peakMemoryBytes: number | null;
  readonly profile: readonly ThreadProfile[];
}

export interface Machine {
  readonly system: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly node: string;
}

export function machine(): Machine {
  return {
    system: `${type()} ${release()}`,
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryBytes: totalmem(),
    node: process.version,
  };
}

const spread = (rounds: readonly Round[], value: (round: Round) => number): Spread => spreadOf(rounds.map(value));

/** Nothing unless every round knows it. */
function known(rounds: readonly Round[], value: (round: Round) => number | null | undefined): Spread | null {
  const values = rounds.map(value);
  return values.every((each) => typeof each === "number") ? spreadOf(values) : null;
}

function byName(rounds: readonly Round[], table: (round: Round) => Readonly<Record<string, number>>) {
  const names = [...new Set(rounds.flatMap((round) => Object.keys(table(round))))];
  return Object.fromEntries(names.map((name) => [name, spread(rounds, (round) => table(round)[name] ?? 0)]));
}

function total(table: Readonly<Record<string, number>>): number {
  return Object.values(table).reduce((sum, value) => sum + value, 0);
}

/** Each figure with its median and how far the rounds lie apart. */
export function summary({ name, rounds, peakMemoryBytes, profile }: Measured) {
  return {
    name,
    rounds: rounds.length,
    messagesPerSecond: spread(rounds, (round) => round.messagesPerSecond),
    requestsPerSecond: spread(rounds, (round) => round.requestsPerSecond),
    answerMs: {
      p50: spread(rounds, ({ answerMs }) => answerMs.p50),
      p99: spread(rounds, ({ answerMs }) => answerMs.p99),
      p999: spread(rounds, ({ answerMs }) => answerMs.p999),
    },
    reportMs: {
      p50: known(rounds, ({ reportMs }) => reportMs?.p50),
      p99: known(rounds, ({ reportMs }) => reportMs?.p99),
      p999: known(rounds, ({ reportMs }) => reportMs?.p999),
    },
    cpuMicrosPerMessage: {
      gatewayTotal: spread(rounds, ({ gatewayMicros }) => total(gatewayMicros)),
      gateway: byName(rounds, ({ gatewayMicros }) => gatewayMicros),
      bench: byName(rounds, ({ benchMicros }) => benchMicros),
    },
    waitMicrosPerMessage: known(rounds, ({ waitMicros }) => waitMicros),
    peakMemoryBytes,
    writtenBytesPerMessage: known(rounds, ({ writtenBytes, messages }) => perMessage(writtenBytes, messages)),
    flushes: known(rounds, ({ flushes }) => flushes),
    reportsPerRequest: known(rounds, ({ reportsPerRequest }) => reportsPerRequest),
    duplicateSubmits: rounds.reduce((sum, round) => sum + round.duplicateSubmits, 0),
    duplicateReports: rounds.reduce((sum, round) => sum + round.duplicateReports, 0),
    profile,
  };
}

function perMessage(value: number | null, messages: number): number | null {
  return value === null ? null : value / messages;
}

/** The first result against each later one, round by round: what ran next to each other is compared with each other. */
export function ratios([first, ...others]: readonly Measured[]) {
  return others.map((other) => ({
    of: first!.name,
    to: other.name,
    messagesPerSecond: spreadOf(
      first!.rounds.map((round, index) => round.messagesPerSecond / other.rounds[index]!.messagesPerSecond),
    ),
  }));
}

const integer = (value: number): string => Math.round(value).toLocaleString("en");
const decimal = (value: number): string => value.toFixed(1);
const megabytes = (value: number): string => `${(value / 2 ** 20).toFixed(0)} MB`;

function cell({ median, least, most }: Spread, form: (value: number) => string): string {
  return `${form(median)} (${form(least)} – ${form(most)})`;
}

export function printTable(results: readonly Measured[], { rate, until }: Options): string[] {
  const lines: string[] = [];
  for (const result of results) {
    const found = summary(result);
    const rows: [string, string][] = [
      ["messages a second", cell(found.messagesPerSecond, integer)],
      ["requests a second", cell(found.requestsPerSecond, integer)],
    ];
    const percentiles = (title: string, { p50, p99, p999 }: Record<"p50" | "p99" | "p999", Spread | null>): void => {
      if (p50 !== null) rows.push([`${title}, p50 ms`, cell(p50, decimal)]);
      if (p99 !== null) rows.push([`${title}, p99 ms`, cell(p99, decimal)]);
      if (p999 !== null) rows.push([`${title}, p99.9 ms`, cell(p999, decimal)]);
    };
    const from = rate === null ? "" : "intended ";
    percentiles(`${from}start to answer`, found.answerMs);
    if (until === "report") percentiles(`${from}start to report`, found.reportMs);
    const { gatewayTotal, gateway, bench } = found.cpuMicrosPerMessage;
    if (Object.keys(gateway).length > 0) {
      rows.push(["CPU µs a message", cell(gatewayTotal, decimal)]);
      for (const [name, figure] of Object.entries(gateway)) rows.push([`  ${name}`, cell(figure, decimal)]);
    }
    for (const [name, figure] of Object.entries(bench)) rows.push([`  (bench) ${name}`, cell(figure, decimal)]);
    if (found.waitMicrosPerMessage !== null)
      rows.push(["waiting for a core, µs a message", cell(found.waitMicrosPerMessage, decimal)]);
    if (found.peakMemoryBytes !== null) rows.push(["peak memory", megabytes(found.peakMemoryBytes)]);
    if (found.writtenBytesPerMessage !== null)
      rows.push(["bytes written a message", cell(found.writtenBytesPerMessage, integer)]);
    if (found.flushes !== null) rows.push(["flushes a round", cell(found.flushes, integer)]);
    if (found.reportsPerRequest !== null) rows.push(["reports in a push", cell(found.reportsPerRequest, decimal)]);
    if (found.duplicateSubmits > 0) rows.push(["submitted twice", integer(found.duplicateSubmits)]);
    if (found.duplicateReports > 0) rows.push(["reported twice", integer(found.duplicateReports)]);
    const width = Math.max(...rows.map(([title]) => title.length)) + 2;
    lines.push("", found.name, ...rows.map(([title, value]) => `  ${title.padEnd(width)}${value}`));
    for (const thread of result.profile) lines.push(...printProfile(thread));
  }
  for (const { of, to, messagesPerSecond } of ratios(results)) {
    lines.push("", `${of} does ${cell(messagesPerSecond, (value) => value.toFixed(2))} times the messages of ${to}`);
  }
  return lines;
}

function printProfile({ thread, busyMs, idleMs, areas, functions }: ThreadProfile): string[] {
  const share = (ms: number): string => `${((100 * ms) / Math.max(busyMs, 1)).toFixed(1)} %`.padStart(8);
  const busy = (100 * busyMs) / Math.max(busyMs + idleMs, 1);
  return [
    "",
    `  Thread ${thread}: busy ${busy.toFixed(0)} % of the rounds. Of that, by place:`,
    ...areas.map(({ name, ms }) => `  ${share(ms)}  ${name}`),
    "  and by function, without what it calls:",
    ...functions.map(({ name, ms }) => `  ${share(ms)}  ${name}`),
  ];
}
