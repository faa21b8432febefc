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

/** Runs `work` again and again, `everyMs` after the last run ended, until stopped. */
export class Interval {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #work: () => Promise<void>;
  #timer: Timer | null = null;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(clock: Clock, everyMs: number, work: () => Promise<void>) {
    this.#clock = clock;
    this.#everyMs = everyMs;
    this.#work = work;
    this.#arm();
  }

  #arm(): void {
    this.#timer = this.#clock.after(this.#everyMs, () => {
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
