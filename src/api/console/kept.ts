/** An answer that is kept for a while: however many ask, it is asked for once, and again when it is too old. */
import type { Clock } from "../../runtime/clock.ts";

export class Kept<Answer> {
  readonly #clock: Clock;
  readonly #ageMs: number;
  readonly #ask: () => Promise<Answer>;
  #kept: { readonly answer: Promise<Answer>; readonly untilMs: number } | null = null;

  constructor(clock: Clock, ageMs: number, ask: () => Promise<Answer>) {
    this.#clock = clock;
    this.#ageMs = ageMs;
    this.#ask = ask;
  }

  get(): Promise<Answer> {
    const nowMs = this.#clock.monotonic();
    if (this.#kept === null || this.#kept.untilMs <= nowMs) {
      const answer = this.#ask();
      // A failure is told to those who asked for it, and not kept.
      answer.catch(() => {
        if (this.#kept?.answer === answer) this.#kept = null;
      });
      this.#kept = { answer, untilMs: nowMs + this.#ageMs };
    }
    return this.#kept.answer;
  }
}
