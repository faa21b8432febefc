/**
 * The share of the store's time that requests of many messages have while other accounts send. Such a request is one transaction, which takes the time of
 * hundreds of single messages; behind it come the outcomes and receipts of all its messages. Without a share one account could fill the time with them, and
 * every message of the others would wait for one. While nobody else sends they follow each other.
 */
import type { Clock } from "../runtime/clock.ts";

/** After one that took a time, the next one waits for so many times that. */
const PAUSE_FACTOR = 6;
const MAX_PAUSE_MS = 2_000;
/** An account that has sent in so long is one that sends. */
const ACTIVE_MS = 1_000;

interface Sender {
  readonly accountId: number;
  readonly atMs: number;
}

export class BulkShare {
  readonly #clock: Clock;
  /** Who sent a small request last, and the last one before who is another. */
  #last: Sender | null = null;
  #other: Sender | null = null;
  #nextAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** An account sends a small request. */
  sent(accountId: number): void {
    if (this.#last !== null && this.#last.accountId !== accountId) this.#other = this.#last;
    this.#last = { accountId, atMs: this.#clock.monotonic() };
  }

  /** Nobody has sent a small request of late. */
  get isQuiet(): boolean {
    return this.#last === null || this.#clock.monotonic() - this.#last.atMs >= ACTIVE_MS;
  }

  /** A request of many messages begins; to be called at its end. */
  begun(): () => void {
    const fromMs = this.#clock.monotonic();
    return () => {
      const nowMs = this.#clock.monotonic();
      this.#nextAtMs = nowMs + Math.min((nowMs - fromMs) * PAUSE_FACTOR, MAX_PAUSE_MS);
    };
  }

  /** How long a request of many messages of this account has to wait. */
  waitMs(accountId: number): number {
    const nowMs = this.#clock.monotonic();
    const others = [this.#last, this.#other].filter((sender) => sender !== null && sender.accountId !== accountId);
    const areActive = others.some((sender) => nowMs - sender!.atMs < ACTIVE_MS);
    return areActive ? Math.max(0, this.#nextAtMs - nowMs) : 0;
  }
}
