/**
 * What this node has committed, by the numbers of its groups. The database says the last one of each line's connection: if it says less, another
 * server has taken over that had not received all (an asynchronous standby), and what this node has in memory is no longer what is stored.
 */
import { type Clock, systemClock } from "../../runtime/clock.ts";
import { counted } from "../../runtime/text.ts";

/** The last group of one connection. */
export interface LastGroup {
  readonly writer: number;
  readonly group: number;
}

/** What the database does not have of that which was committed. */
export interface Setback {
  readonly groups: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Groups that are remembered for each connection: minutes of them under load. */
const MAX_REMEMBERED = 20_000;

interface Committed {
  readonly group: number;
  readonly atMs: number;
}

export class CommittedGroups {
  readonly #clock: Clock;
  readonly #lines: Committed[][];

  constructor(writers: number, clock: Clock = systemClock) {
    this.#clock = clock;
    this.#lines = Array.from({ length: writers }, () => []);
  }

  add(writer: number, group: number): void {
    const line = this.#lines[writer]!;
    line.push({ group, atMs: this.#clock.now() });
    if (line.length > MAX_REMEMBERED) line.splice(0, MAX_REMEMBERED / 2);
  }

  /** Of each connection; 0 before the first. */
  get last(): LastGroup[] {
    return this.#lines.map((line, writer) => ({ writer, group: line.at(-1)?.group ?? 0 }));
  }

  lastOf(writer: number): number {
    return this.#lines[writer]!.at(-1)?.group ?? 0;
  }

  /** What is beyond these of the database. */
  beyond(found: readonly LastGroup[]): Setback {
    const times = found.flatMap(({ writer, group }) =>
      this.#lines[writer]!.filter((committed) => committed.group > group).map(({ atMs }) => atMs),
    );
    const [fromMs, untilMs] = times.reduce(
      ([from, until], atMs) => [Math.min(from, atMs), Math.max(until, atMs)],
      [Number.POSITIVE_INFINITY, 0],
    );
    return { groups: times.length, fromMs: Math.min(fromMs, this.#clock.now()), untilMs };
  }
}

/** A line for people. */
export function toldSetback({ groups, fromMs, untilMs }: Setback): string {
  const [from, until] = [fromMs, untilMs].map((ms) => new Date(ms).toISOString());
  return `the database is ${counted(groups, "group")} behind what was written: messages acknowledged between ${from} and ${until} may be missing`;
}
