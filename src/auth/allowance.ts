/** How often something may be done in a while, under a name or for all: a bound on what others can make this node write. */
import type { Clock } from "../runtime/clock.ts";

export interface AllowanceOptions {
  readonly clock: Clock;
  readonly most: number;
  readonly eachMs: number;
}

/** What is counted under one name begins anew with each span of time; a span's names are forgotten with it. */
export class Allowance {
  readonly #options: AllowanceOptions;
  readonly #taken = new Map<string, number>();
  #spanEndsMs = 0;

  constructor(options: AllowanceOptions) {
    this.#options = options;
  }

  /** Whether there is one left; takes it. Names must be of something that there are only so many of, such as users. */
  take(name = ""): boolean {
    const { clock, most, eachMs } = this.#options;
    if (clock.monotonic() >= this.#spanEndsMs) {
      this.#taken.clear();
      this.#spanEndsMs = clock.monotonic() + eachMs;
    }
    const taken = this.#taken.get(name) ?? 0;
    if (taken >= most) return false;
    this.#taken.set(name, taken + 1);
    return true;
  }
}
