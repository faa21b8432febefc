/**
 * How late the event loop of this thread is: a timer is set, and what it is late by is noted. A thread at work is looked at every 20 ms. One that has
 * nothing to do is looked at once a second, because each look wakes it, and a timer of a loop that waits is only late when the machine itself is busy.
 */
import { createHistogram, performance } from "node:perf_hooks";
import { type Clock, systemClock, type Timer, togetherMs } from "./clock.ts";

const LOOK_MS = { busy: 20, idle: 1_000 };
/** A loop that was at work for this share of the last second is busy. */
const BUSY_SHARE = 0.02;

const PERCENTS = [50, 90, 99];

/** How late the loop was, in seconds. */
export interface Lags {
  readonly mean: number;
  readonly max: number;
  readonly percentiles: readonly { readonly percent: number; readonly seconds: number }[];
}

export class LoopLag {
  readonly #clock: Clock;
  readonly #activeMs: () => number;
  readonly #lateNs = createHistogram();
  #timer: Timer | null = null;
  #everyMs = LOOK_MS.idle;
  /** When it was last judged whether the loop is busy, and how long it had been at work until then. */
  #judged: { readonly atMs: number; readonly activeMs: number };

  /** `activeMs` tells how long the loop has been at work since it began. */
  constructor(clock: Clock = systemClock, activeMs = () => performance.eventLoopUtilization().active) {
    this.#clock = clock;
    this.#activeMs = activeMs;
    this.#judged = { atMs: clock.monotonic(), activeMs: activeMs() };
    this.#arm();
  }

  #arm(): void {
    const delayMs = this.#everyMs === LOOK_MS.idle ? togetherMs(this.#clock, this.#everyMs) : this.#everyMs;
    const dueMs = this.#clock.monotonic() + delayMs;
    this.#timer = this.#clock.after(delayMs, () => {
      const nowMs = this.#clock.monotonic();
      // A histogram holds no zeros.
      this.#lateNs.record(Math.max(1, Math.round((nowMs - dueMs) * 1e6)));
      this.#judge(nowMs);
      this.#arm();
    });
  }

  #judge(atMs: number): void {
    const forMs = atMs - this.#judged.atMs;
    if (forMs < LOOK_MS.idle - LOOK_MS.busy) return;
    const activeMs = this.#activeMs();
    this.#everyMs = activeMs - this.#judged.activeMs >= forMs * BUSY_SHARE ? LOOK_MS.busy : LOOK_MS.idle;
    this.#judged = { atMs, activeMs };
  }

  /** What was seen since this was last asked; zeros where nothing was. */
  take(): Lags {
    const { count, mean, max } = this.#lateNs;
    const seconds = (nanoseconds: number): number => (count === 0 ? 0 : nanoseconds / 1e9);
    const percentiles = PERCENTS.map((percent) => ({ percent, seconds: seconds(this.#lateNs.percentile(percent)) }));
    this.#lateNs.reset();
    return { mean: seconds(mean), max: seconds(max), percentiles };
  }

  stop(): void {
    this.#timer?.cancel();
  }
}
