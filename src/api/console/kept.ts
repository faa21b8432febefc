/** A question whose answer is kept for a while: however many ask, it is asked once, and again when the answer is too old. */
import type { Clock } from "../../runtime/clock.ts";

export function kept<Answer>(clock: Clock, ageMs: number, ask: () => Promise<Answer>): () => Promise<Answer> {
  let last: { readonly answer: Promise<Answer>; readonly untilMs: number } | null = null;
  return () => {
    const nowMs = clock.monotonic();
    if (last === null || last.untilMs <= nowMs) {
      const answer = ask();
      // A failure is told to those who asked for it, and not kept.
      answer.catch(() => {
        if (last?.answer === answer) last = null;
      });
      last = { answer, untilMs: nowMs + ageMs };
    }
    return last.answer;
  };
}
