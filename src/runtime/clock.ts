/**
 * The clock: the one place where the program learns what time it is and asks to be woken.
 * Everything that waits takes a Clock, so that a test can run days in milliseconds.
 */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since 1970, as the machine believes. It may step back. */
  now(): number;
  /** A reading that only grows, in milliseconds with fractions: for durations. */
  monotonic(): number;
  after(delayMs: number, run: () => void): Timer;
}

/** setTimeout fires at once for longer delays than this (2^31 - 1 ms, some 24.8 days). */
const MAX_TIMEOUT_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, Math.min(Math.max(delayMs, 0), MAX_TIMEOUT_MS));
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Nanoseconds that only grow, the same for all threads of the process: for what they tell each other in shared memory. */
export function machineNs(): bigint {
  return process.hrtime.bigint();
}

/** Resolves after so long. */
export function sleep(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => clock.after(delayMs, resolve));
}

/** What `work` comes to; `late` where that takes longer than the limit. */
export async function within<Result, Late>(
  clock: Pick<Clock, "after">,
  limitMs: number,
  work: Promise<Result>,
  late: Late,
): Promise<Result | Late> {
  const tooLong = Promise.withResolvers<Late>();
  const timer = clock.after(limitMs, () => tooLong.resolve(late));
  try {
    return await Promise.race([work, tooLong.promise]);
  } finally {
    timer.cancel();
  }
}

/** Looks are made together, so often at most: each wakes a thread that may have nothing else to do. */
const TOGETHER_MS = 500;

/** How long to wait, for about `delayMs`, until a moment at which others wake too. */
export function togetherMs(clock: Clock, delayMs: number): number {
  const nowMs = clock.monotonic();
  return Math.round((nowMs + delayMs) / TOGETHER_MS) * TOGETHER_MS - nowMs;
}

/** Runs `work` again and again, `everyMs` after the last run ended, until stopped. */
export class Interval {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #work: () => Promise<void>;
  #timer: Timer | null = null;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;
  readonly #together: boolean;

  /** It waits for about `everyMs`, and wakes when others do: for looks that nobody waits for to the moment. */
  static together(clock: Clock, everyMs: number, work: () => Promise<void>): Interval {
    return new Interval(clock, everyMs, work, true);
  }

  constructor(clock: Clock, everyMs: number, work: () => Promise<void>, together = false) {
    this.#clock = clock;
    // Of less than that, some would be made at once.
    this.#together = together && everyMs >= TOGETHER_MS;
    this.#everyMs = everyMs;
    this.#work = work;
    this.#arm();
  }

  #arm(): void {
    const delayMs = this.#together ? togetherMs(this.#clock, this.#everyMs) : this.#everyMs;
    this.#timer = this.#clock.after(delayMs, () => {
      this.#running = this.#work().finally(() => {
        if (!this.#stopped) this.#arm();
      });
    });
  }

  /** Resolves when the run under way, if any, has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#running;
  }
}
