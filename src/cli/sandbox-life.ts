/**
 * The sandbox shows that it lives: a line for each message that is accepted and for what became of it, for each report with its answer, and for what is odd
 * about a request. A flood of messages does not become a flood of lines: those that are too many in a second are counted.
 */
import { type LiveBatch, type LiveEvent, type LiveHub, type LiveKind, missedIn } from "../events/live.ts";
import { type Clock, systemClock, type Timer } from "../runtime/clock.ts";
import { lineOf, type ToldEvent } from "./live-lines.ts";

const MAX_LINES_A_SECOND = 20;
const SECOND_MS = 1_000;
/** Of what nobody reads, so much is kept in memory. */
const MAX_UNREAD_OCTETS = 65_536;
/** That a carrier took it is between two lines that say more. */
const UNTOLD: ReadonlySet<LiveKind> = new Set(["sent"]);

export interface LifeParts {
  readonly live: LiveHub;
  readonly say: (line: string) => void;
  /** False while whoever is to read the lines does not. */
  readonly hasRoom?: () => boolean;
  readonly clock?: Clock;
}

/** Prints as long as the process lives. */
export class SandboxLife {
  readonly #parts: Required<LifeParts>;
  #lines = 0;
  #more = 0;
  #timer: Timer | null = null;

  constructor(parts: LifeParts) {
    this.#parts = { hasRoom: outputHasRoom, clock: systemClock, ...parts };
    parts.live.subscribe((batch) => this.#take(batch));
  }

  #take(batch: LiveBatch): void {
    const { say, hasRoom, clock } = this.#parts;
    this.#more += missedIn(batch);
    for (const event of batch.events) {
      if (UNTOLD.has(event.kind)) continue;
      if (this.#lines++ < MAX_LINES_A_SECOND && hasRoom()) say(lineOf(toldOf(event)));
      else this.#more++;
    }
    this.#timer ??= clock.after(SECOND_MS, () => this.#nextSecond());
  }

  #nextSecond(): void {
    this.#timer = null;
    this.#lines = 0;
    if (this.#more === 0 || !this.#parts.hasRoom()) return;
    this.#parts.say(`… and ${this.#more.toLocaleString("en-US")} more`);
    this.#more = 0;
  }
}

function outputHasRoom(): boolean {
  return process.stdout.writableLength < MAX_UNREAD_OCTETS;
}

function toldOf({ accountId: _, atMs, dueAtMs, report, ...event }: LiveEvent): ToldEvent {
  return { ...event, at: atMs, dueAt: dueAtMs, report: report && { ...report, retryAt: report.retryAtMs } };
}
