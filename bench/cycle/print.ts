/** The result of a run: for people as a table, for programs as JSON. */
import { cpus, release, totalmem, type } from "node:os";
import { cell, decimal, hundredths, integer, megabytes, table } from "./cells.ts";
import type { Options } from "./options.ts";
import type { ThreadProfile } from "./profile.ts";
import { type Compared, type Ratio, ratios, tailsOf, total } from "./ratios.ts";
import type { Round } from "./rig.ts";
import type { ServerProfile } from "./server-profile.ts";
import type { SoakMinute, SoakResult } from "./soak.ts";
import { type Percentiles, type Spread, spreadOf } from "./statistics.ts";

export interface Measured extends Compared {
  readonly peakMemoryBytes: number | null;
  readonly profile: readonly ThreadProfile[];
  readonly server: ServerProfile | null;
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

/** The machine in a line. */
export function machineLine(): string {
  const { cores, cpu, memoryBytes, system, node } = machine();
  return `${cores} cores, ${cpu}, ${Math.round(memoryBytes / 2 ** 30)} GB, ${system}, Node ${node.slice(1)}`;
}

/** The command of a run. A URL may have a password in it. */
export function commandLine(args: readonly string[]): string {
  return ["npm run bench --", ...args].join(" ").replace(/(:\/\/[^:@/\s]*):[^@\s]*@/g, "$1:…@");
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

function percentiles(rounds: readonly Round[], times: (round: Round) => Percentiles | null) {
  return {
    p50: known(rounds, (round) => times(round)?.p50),
    p99: known(rounds, (round) => times(round)?.p99),
    p999: known(rounds, (round) => times(round)?.p999),
  };
}

/** What the highest rate was, where it was looked for; null where it was not. */
export function summaryOfHighest(highest: readonly Round[]) {
  return highest.length === 0
    ? null
    : {
        messagesPerSecond: spread(highest, (round) => round.messagesPerSecond),
        requestsPerSecond: spread(highest, (round) => round.requestsPerSecond),
        cpuMicrosPerMessage: spread(highest, ({ gatewayMicros }) => total(gatewayMicros)),
      };
}

/** Each figure with its median and how far the rounds lie apart. */
export function summary({ name, rounds, highest, perSecond, peakMemoryBytes, profile, server }: Measured) {
  return {
    name,
    rounds: rounds.length,
    highest: summaryOfHighest(highest),
    intendedRequestsPerSecond: perSecond,
    messagesPerSecond: spread(rounds, (round) => round.messagesPerSecond),
    requestsPerSecond: spread(rounds, (round) => round.requestsPerSecond),
    answerMs: percentiles(rounds, ({ answerMs }) => answerMs),
    submitMs: percentiles(rounds, ({ submitMs }) => submitMs),
    reportMs: percentiles(rounds, ({ reportMs }) => reportMs),
    tails: tailsOf({ rounds }),
    cpuMicrosPerMessage: {
      gatewayTotal: spread(rounds, ({ gatewayMicros }) => total(gatewayMicros)),
      gateway: byName(rounds, ({ gatewayMicros }) => gatewayMicros),
      bench: byName(rounds, ({ benchMicros }) => benchMicros),
    },
    wakeUpsPerMessage: {
      gatewayTotal: spread(rounds, ({ wakeUps }) => total(wakeUps)),
      gateway: byName(rounds, ({ wakeUps }) => wakeUps),
    },
    waitMicrosPerMessage: known(rounds, ({ waitMicros }) => waitMicros),
    peakMemoryBytes,
    writtenBytesPerMessage: known(rounds, ({ writtenBytes, messages }) => perMessage(writtenBytes, messages)),
    logBytesPerMessage: known(rounds, ({ logBytes, messages }) => perMessage(logBytes, messages)),
    flushes: known(rounds, ({ flushes }) => flushes),
    reportsPerRequest: known(rounds, ({ reportsPerRequest }) => reportsPerRequest),
    duplicateSubmits: rounds.reduce((sum, round) => sum + round.duplicateSubmits, 0),
    duplicateReports: rounds.reduce((sum, round) => sum + round.duplicateReports, 0),
    profile,
    server,
  };
}

function perMessage(value: number | null, messages: number): number | null {
  return value === null ? null : value / messages;
}

export function printTable(results: readonly Measured[], options: Options): string[] {
  const lines: string[] = [];
  for (const result of results) {
    lines.push("", result.name, ...table(rowsOf(result)));
    for (const thread of result.profile) lines.push(...printProfile(thread));
    if (result.server !== null) lines.push(...printServer(result.server));
  }
  lines.push("", "Ratios of neighbouring rounds: the median, and in brackets the least and the most");
  for (const { of, to, highest, rounds } of ratios(results, options)) {
    const atHighest = highest.map(({ figure, ratio }) => ({ figure: `highest rate: ${figure}`, ratio }));
    lines.push("", `${of}, divided by ${to}`, ...table(ratioRows([...atHighest, ...rounds])));
  }
  for (const result of results) lines.push("", `${result.name}, by itself`, ...table(ratioRows(tailsOf(result))));
  return lines;
}

function ratioRows(found: readonly Ratio[]): [string, string][] {
  return found.map(({ figure, ratio }) => [figure, cell(ratio, hundredths)]);
}

function rowsOf(result: Measured): [string, string][] {
  const found = summary(result);
  const rows: [string, string][] = [];
  const add = (title: string, figure: Spread | null, form: (value: number) => string): void => {
    if (figure !== null) rows.push([title, cell(figure, form)]);
  };
  if (found.highest !== null) {
    add("highest rate, messages a second", found.highest.messagesPerSecond, integer);
    add("highest rate, CPU µs a message", found.highest.cpuMicrosPerMessage, decimal);
  }
  add("messages a second", found.messagesPerSecond, integer);
  add("requests a second", found.requestsPerSecond, integer);
  const start = result.perSecond === null ? "start" : "intended start";
  for (const [end, times] of [
    ["answer", found.answerMs],
    ["carrier", found.submitMs],
    ["report", found.reportMs],
  ] as const) {
    add(`${start} to ${end}, p50 ms`, times.p50, decimal);
    add(`${start} to ${end}, p99 ms`, times.p99, decimal);
    add(`${start} to ${end}, p99.9 ms`, times.p999, decimal);
  }
  const { gatewayTotal, gateway, bench } = found.cpuMicrosPerMessage;
  if (Object.keys(gateway).length > 0) add("CPU µs a message", gatewayTotal, decimal);
  for (const [name, figure] of Object.entries(gateway)) add(`  ${name}`, figure, decimal);
  for (const [name, figure] of Object.entries(bench)) add(`  (bench) ${name}`, figure, decimal);
  const woken = found.wakeUpsPerMessage;
  if (Object.keys(woken.gateway).length > 0) add("wake-ups a message", woken.gatewayTotal, hundredths);
  for (const [name, figure] of Object.entries(woken.gateway)) add(`  ${name}`, figure, hundredths);
  add("waiting for a core, µs a message", found.waitMicrosPerMessage, decimal);
  if (found.peakMemoryBytes !== null) rows.push(["peak memory", megabytes(found.peakMemoryBytes)]);
  add("bytes written a message", found.writtenBytesPerMessage, integer);
  add("  of these the database's log", found.logBytesPerMessage, integer);
  add("flushes a round", found.flushes, integer);
  add("reports in a push", found.reportsPerRequest, decimal);
  if (found.duplicateSubmits > 0) rows.push(["submitted twice", integer(found.duplicateSubmits)]);
  if (found.duplicateReports > 0) rows.push(["reported twice", integer(found.duplicateReports)]);
  return rows;
}

export function soakLine({ minute, messagesPerSecond, backlog, memoryBytes }: SoakMinute): string {
  return `minute ${minute}: ${integer(messagesPerSecond)} messages a second, backlog ${integer(backlog)} at most, memory ${megabytes(memoryBytes)}`;
}

export function printSoak(
  { name, highest, perSecond }: Pick<Measured, "name" | "highest" | "perSecond">,
  result: SoakResult,
) {
  const { minutes, round, checks } = result;
  return [
    "",
    `${name}, at ${integer(perSecond!)} requests a second`,
    ...minutes.map((minute) => `  ${soakLine(minute)}`),
    ...table(
      rowsOf({
        name,
        service: name,
        load: "",
        mode: "",
        role: "own",
        rounds: [round],
        highest,
        perSecond,
        peakMemoryBytes: null,
        profile: [],
        server: null,
      }),
    ),
    "",
    ...checks.map(({ what, holds, found }) => `${holds ? "holds" : "FAILS"}: ${what} (${found})`),
  ];
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

export function printServer({ statements, waits, busyConnections, tables }: ServerProfile): string[] {
  const columns = (...cells: readonly (string | number)[]): string =>
    cells.map((cell) => (typeof cell === "string" ? cell : cell.toFixed(3)).padStart(10)).join("");
  return [
    "",
    "  PostgreSQL: its dearest statements, a message",
    `  ${columns("µs", "calls", "rows")}`,
    ...statements.map(({ text, micros, calls, rows }) => `  ${columns(micros.toFixed(1), calls, rows)}  ${text}`),
    "",
    `  What its connections waited for, of which ${busyConnections.toFixed(1)} had something to do when any had:`,
    ...waits.map(({ event, share }) => `  ${(100 * share).toFixed(1).padStart(7)} %  ${event}`),
    "",
    "  Rows written, a message",
    `  ${columns("inserted", "updated", "of it hot", "deleted")}`,
    ...tables.map(
      ({ table, inserted, updated, hotUpdated, deleted }) =>
        `  ${columns(inserted, updated, hotUpdated, deleted)}  ${table}`,
    ),
  ];
}
