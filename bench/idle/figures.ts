/** When a service is quiet, what it takes of the machine then, and how that is printed. */
import { cell, decimal, hundredths, megabytes, table } from "../cycle/cells.ts";
import { total } from "../cycle/ratios.ts";
import { type Spread, spreadOf } from "../cycle/statistics.ts";
import type { Usage } from "../cycle/subject.ts";

/** One start of a service, when it was quiet. */
export interface IdleRound {
  /** From listening to being quiet. */
  readonly quietAfterSeconds: number;
  /** Of a core, in percent, by thread. */
  readonly corePercent: Readonly<Record<string, number>>;
  readonly wakeUpsPerSecond: Readonly<Record<string, number>>;
  readonly memoryBytes: number;
  readonly peakMemoryBytes: number;
}

export interface IdleResult {
  readonly name: string;
  readonly rounds: readonly IdleRound[];
}

/** So many seconds are compared with as many before them. */
const LOOK_SECONDS = 3;
const STILL_FALLING = 0.8;
/** A service that takes less of each second is quiet, whatever it did before. */
const QUIET_MICROS = 1_000;

/** Whether the CPU time, of each second since the start, has stopped falling: what is left is what the service always does. */
export function isQuiet(micros: readonly number[]): boolean {
  const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
  if (micros.length < 2 * LOOK_SECONDS) return false;
  const last = sum(micros.slice(-LOOK_SECONDS));
  return (
    last < LOOK_SECONDS * QUIET_MICROS || last >= STILL_FALLING * sum(micros.slice(-2 * LOOK_SECONDS, -LOOK_SECONDS))
  );
}

/** What each thread used between two looks, a second. */
export function ratesOf(
  before: Usage,
  after: Usage,
  seconds: number,
): Pick<IdleRound, "corePercent" | "wakeUpsPerSecond"> {
  const rates = (past: Readonly<Record<string, number>>, now: Readonly<Record<string, number>>, unit: number) =>
    Object.fromEntries(
      Object.entries(now).map(([part, value]) => [part, (value - (past[part] ?? 0)) / seconds / unit]),
    );
  // A percent of a core is ten milliseconds of each second.
  return {
    corePercent: rates(before.cpuMicros, after.cpuMicros, 10_000),
    wakeUpsPerSecond: rates(before.wakeUps, after.wakeUps, 1),
  };
}

type Figure = (round: IdleRound) => number;

const FIGURES: Readonly<Record<string, { value: Figure; form: (value: number) => string; parts?: keyof IdleRound }>> = {
  "share of a core, %": { value: ({ corePercent }) => total(corePercent), form: hundredths, parts: "corePercent" },
  "wake-ups a second": {
    value: ({ wakeUpsPerSecond }) => total(wakeUpsPerSecond),
    form: decimal,
    parts: "wakeUpsPerSecond",
  },
  memory: { value: ({ memoryBytes }) => memoryBytes, form: megabytes },
  "peak memory": { value: ({ peakMemoryBytes }) => peakMemoryBytes, form: megabytes },
};

function spread(rounds: readonly IdleRound[], value: Figure): Spread {
  return spreadOf(rounds.map(value));
}

export function idleRatios([first, other]: readonly IdleResult[]): { figure: string; ratio: Spread }[] {
  if (first === undefined || other === undefined) return [];
  return Object.entries(FIGURES).map(([figure, { value }]) => ({
    figure,
    ratio: spreadOf(first.rounds.map((round, index) => value(round) / value(other.rounds[index]!))),
  }));
}

export function printIdle(results: readonly IdleResult[]): string[] {
  const lines: string[] = [];
  for (const { name, rounds } of results) {
    const rows: [string, string][] = [
      [
        "quiet after, s",
        cell(
          spread(rounds, (round) => round.quietAfterSeconds),
          decimal,
        ),
      ],
    ];
    for (const [title, { value, form, parts }] of Object.entries(FIGURES)) {
      rows.push([title, cell(spread(rounds, value), form)]);
      if (parts === undefined) continue;
      const partOf = (round: IdleRound) => round[parts] as Readonly<Record<string, number>>;
      for (const part of new Set(rounds.flatMap((round) => Object.keys(partOf(round)))))
        rows.push([
          `  ${part}`,
          cell(
            spread(rounds, (round) => partOf(round)[part] ?? 0),
            form,
          ),
        ]);
    }
    lines.push("", name, ...table(rows));
  }
  const [first, other] = results;
  if (first !== undefined && other !== undefined) {
    const rows = idleRatios(results).map(({ figure, ratio }): [string, string] => [figure, cell(ratio, hundredths)]);
    lines.push("", `${first.name}, divided by ${other.name}, by neighbouring rounds`, ...table(rows));
  }
  return lines;
}
