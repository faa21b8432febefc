/**
 * What handsets answer when a part is handed to the network. Most take it; some have to be asked more than once, and for those it is
 * remembered how often they were.
 */
import type { Answer, Handset } from "./handsets.ts";

/** Long enough for all parts and retries of one message; then the number plays its part again from the beginning. */
const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 10_000;

/** What a number that does not take a part at its first submit was told already. */
interface Asked {
  readonly times: number;
  readonly lastMs: number;
}

export class Answers {
  /** By number, the one asked longest ago first. */
  readonly #asked = new Map<string, Asked>();

  /** `nowMs` is the monotonic clock's. */
  next(handset: Handset, number: string, nowMs: number): Answer {
    const { answers } = handset;
    if (answers.length === 1) return answers[0]!;
    const asked = this.#asked.get(number);
    const times = asked !== undefined && nowMs - asked.lastMs < REMEMBERED_MS ? asked.times : 0;
    this.#asked.delete(number);
    this.#asked.set(number, { times: times + 1, lastMs: nowMs });
    if (this.#asked.size > MAX_REMEMBERED) this.#asked.delete(this.#asked.keys().next().value!);
    return answers[Math.min(times, answers.length - 1)]!;
  }
}
