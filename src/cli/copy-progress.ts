/** How far a long command is: a bar that is drawn again in its place on a terminal, a line every few seconds anywhere else. */
import { type Clock, systemClock } from "../runtime/clock.ts";

export interface Advance {
  readonly what: string;
  readonly rows: number;
  readonly total: number;
  /** Rows that an earlier run had done: they say nothing about the pace. */
  readonly earlier: number;
  /** What is counted, if not rows. */
  readonly unit?: string;
}

export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const DRAW_EVERY_MS = 100;
const LINE_EVERY_MS = 5_000;
const BAR_CELLS = 12;
/** Some terminals do not say how wide they are, or say 0. */
const UNKNOWN_COLUMNS = 80;
/** What is left is not worth telling before there is a pace. */
const PACE_AFTER_MS = 1_000;

export class ProgressBar {
  readonly #screen: Screen;
  readonly #clock: Clock;
  readonly #startedAt: number;
  #shownAt: number;
  #drawn = false;

  constructor(screen: Screen = process.stderr, clock: Clock = systemClock) {
    this.#screen = screen;
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
    this.#shownAt = this.#startedAt;
  }

  show(advance: Advance): void {
    const now = this.#clock.monotonic();
    const isOver = advance.rows >= advance.total && this.#drawn;
    if (now - this.#shownAt < (this.#isTerminal ? DRAW_EVERY_MS : LINE_EVERY_MS) && !isOver) return;
    this.#shownAt = now;
    const text = describe(advance, now - this.#startedAt);
    if (!this.#isTerminal) {
      this.#screen.write(`${text}\n`);
      return;
    }
    this.#drawn = true;
    const filled = Math.floor((BAR_CELLS * advance.rows) / Math.max(1, advance.total));
    const line = `${"█".repeat(filled)}${"░".repeat(BAR_CELLS - filled)} ${text}`;
    // Back to the line's beginning, and its rest cleared; a line that broke in two could not be drawn over.
    this.#screen.write(`\r\u001b[K${line.slice(0, (this.#screen.columns || UNKNOWN_COLUMNS) - 1)}`);
  }

  /** Leaves the line for whatever is written next. */
  end(): void {
    if (this.#drawn) this.#screen.write("\r\u001b[K");
    this.#drawn = false;
  }

  get #isTerminal(): boolean {
    return this.#screen.isTTY === true;
  }
}

function describe({ what, rows, total, earlier, unit = "rows" }: Advance, elapsedMs: number): string {
  const rate = ((rows - earlier) / Math.max(1, elapsedMs)) * 1_000;
  const left =
    rate === 0 || elapsedMs < PACE_AFTER_MS ? "" : `, ${formatDuration(((total - rows) / rate) * 1_000)} left`;
  const percent = Math.floor((100 * rows) / Math.max(1, total));
  return `${percent}%  ${grouped(rows)} of ${grouped(total)} ${unit}, ${grouped(Math.round(rate))}/s${left} (${what})`;
}

/** "1,234,567" */
export function grouped(count: number | bigint): string {
  return count.toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

/** "45 s", "3 min 20 s", "2 h 5 min" */
export function formatDuration(durationMs: number): string {
  const seconds = Math.ceil(durationMs / 1_000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}
