/**
 * What handsets answer when a part is handed to the network. Most take it; some have to be asked more than once, and for those it is
 * remembered how often they were.
 */
import { type BoundedCache, expiringCache } from "../runtime/cache.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Handset, HandsetAnswer } from "./handsets.ts";

/** Long enough for all parts and retries of one message; then the number plays its part again from the beginning. */
const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 10_000;

export class Answers {
  /** How often a number that does not take a part at its first submit was asked already. */
  readonly #asked: BoundedCache<string, number>;

  constructor(clock: Clock) {
    this.#asked = expiringCache(MAX_REMEMBERED, REMEMBERED_MS, clock);
  }

  next(handset: Handset, number: string): HandsetAnswer {
    const { answers } = handset;
    if (answers.length === 1) return answers[0]!;
    const times = this.#asked.get(number) ?? 0;
    this.#asked.set(number, times + 1);
    return answers[Math.min(times, answers.length - 1)]!;
  }
}
