/**
 * Messages that a carrier puts off by themselves (Submission "not now"): their phone is full or away, and others go on meanwhile. A message
 * waits twice as long each time. A short wait is a timer here. What waits longer, or is one too many, waits in the store, where it takes no
 * room from messages that could go.
 */
import type { MessageKey } from "../message/message.ts";
import { backoffMs } from "../runtime/backoff.ts";
import { type BoundedCache, boundedCache } from "../runtime/cache.ts";

/** How often a message may be put off. The waits of all these times are five minutes; the next such answer gives the message up. */
const MAX_COUNT = 10;
const MAX_WAIT_MS = 60_000;
/** Longer waits are for the store. */
const MAX_TIMER_MS = 2_000;
/** Timers of one carrier: so many, and no more than this share of a lane, or a lane could be full of messages that wait. */
export const MAX_TIMERS = 100;
const MAX_SHARE_OF_LANE = 0.1;
/** Times in the store are multiples of this: what comes due together is claimed together. */
const DUE_STEP_MS = 1_000;
/** Messages whose put-offs are counted. Beyond that the one that was not put off for longest is forgotten, and counts anew. */
const MAX_COUNTED = 100_000;

export class PutOffs {
  readonly #maxTimers: number;
  /** One that goes at last is not taken out: every message would have to be looked for. It is forgotten as the oldest. */
  readonly #counts: BoundedCache<MessageKey, number>;

  constructor(laneMessages: number, maxCounted = MAX_COUNTED) {
    this.#maxTimers = Math.min(MAX_TIMERS, Math.floor(laneMessages * MAX_SHARE_OF_LANE));
    this.#counts = boundedCache(maxCounted);
  }

  /** The message is put off once more. False if that is too often. */
  add(key: MessageKey): boolean {
    const count = (this.#counts.get(key) ?? 0) + 1;
    if (count > MAX_COUNT) this.#counts.delete(key);
    else this.#counts.set(key, count);
    return count <= MAX_COUNT;
  }

  /** How long it waits this time, if the first wait is so long. */
  waitMs(key: MessageKey, firstMs: number): number {
    const count = this.#counts.get(key) ?? 1;
    return backoffMs({ firstMs, maxMs: Math.max(firstMs, MAX_WAIT_MS), jitter: 0 }, count);
  }

  /** Whether a message waits here, beside so many others of its carrier. */
  isForTimer(waitMs: number, timers: number): boolean {
    return waitMs <= MAX_TIMER_MS && timers < this.#maxTimers;
  }

  /** When a message that waits in the store is due. */
  dueAtMs(nowMs: number, waitMs: number, expiresAtMs: number): number {
    return Math.min(Math.ceil((nowMs + waitMs) / DUE_STEP_MS) * DUE_STEP_MS, expiresAtMs);
  }
}
