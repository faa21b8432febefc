/**
 * How late the event loop of this thread is: a timer is set, and what it is late by is noted. A thread that is busy is looked at every 20 ms. One that
 * has little to do is looked at less often, because each look wakes it, and a timer of a loop that waits is only late when the machine itself is busy.
 */
import { createHistogram, performance } from "node:perf_hooks";
import { type Clock, systemClock, type Timer, togetherMs } from "./clock.ts";

/** How often a loop is looked at that was at work for at least this share of the last second. */
const LOOKS = [
  { share: 0.25, everyMs: 20 },
  { share: 0.02, everyMs: 200 },
  { share: 0, everyMs: 1_000 },
] as const;
const SELDOM_MS = 1_000;

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
  #everyMs: number = SELDOM_MS;
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
    const delayMs = this.#everyMs === SELDOM_MS ? togetherMs(this.#clock, this.#everyMs) : this.#everyMs;
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
    if (forMs < SELDOM_MS - LOOKS[0].everyMs) return;
    const activeMs = this.#activeMs();
    const wasActive = (activeMs - this.#judged.activeMs) / forMs;
    this.#everyMs = LOOKS.find(({ share }) => wasActive >= share)!.everyMs;
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
