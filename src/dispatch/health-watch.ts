/**
 * Watches how well the carriers are (carrier-health.ts): once a second for as long as one of them has something to answer, and not at all while
 * nothing goes. It says so in the log when a carrier becomes sick, and when it is well again.
 */
import type { Clock } from "../runtime/clock.ts";
import { type Log, LogLimiter } from "../runtime/log.ts";
import type { CarrierQueue } from "./carrier-queue.ts";
import type { CarrierRouter } from "./carrier-router.ts";

export interface HealthWatchParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly router: CarrierRouter;
}

const SECOND_MS = 1_000;

export class HealthWatch {
  readonly #parts: HealthWatchParts;
  readonly #limiter: LogLimiter;

  constructor(parts: HealthWatchParts) {
    this.#parts = parts;
    this.#limiter = new LogLimiter(parts.clock);
  }

  /** A message to this phone goes to the carrier. */
  handed(queue: CarrierQueue, to: string): void {
    queue.health.handed(to);
    if (queue.watching === null) this.#wake(queue);
  }

  #wake(queue: CarrierQueue): void {
    queue.watching = this.#parts.clock.after(SECOND_MS, () => this.#look(queue));
  }

  #look(queue: CarrierQueue): void {
    const { health, inFlight, counts } = queue;
    queue.watching = null;
    const wasSick = health.isSick;
    const tookAll = health.takesAll;
    // Only silence asks for it.
    const usualAnswerMs = inFlight > 0 ? (counts.answerTimes.summary?.medianMs ?? 0) : 0;
    health.judge({ inFlight, isFull: queue.free <= 0, usualAnswerMs, atMs: this.#parts.clock.now() });
    if (inFlight > 0) this.#wake(queue);
    if (health.isSick && !wasSick) this.#sick(queue);
    if (health.takesAll && !tookAll) this.#wellAgain(queue);
  }

  #sick(queue: CarrierQueue): void {
    const { carrier, health, counts } = queue;
    counts.sick[health.sign]++;
    this.#limiter.write(`sick ${carrier.id}`, (more) =>
      this.#parts.log.warn(
        { carrier: carrier.id, why: health.facts.why, ...more },
        "a carrier is sick: messages take another carrier of their route where there is one",
      ),
    );
    this.#parts.router.rerouteAll(queue);
  }

  #wellAgain({ carrier }: CarrierQueue): void {
    this.#limiter.write(`well ${carrier.id}`, (more) =>
      this.#parts.log.info({ carrier: carrier.id, ...more }, "a carrier that was sick is well again"),
    );
  }
}
