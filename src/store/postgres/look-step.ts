/**
 * One of the things that a look does. It fails alone, and while it is slow the others do not wait for it: what it finds then is for the look
 * after it, and until that has it nothing is begun a second time.
 */
import { type Clock, within } from "../../runtime/clock.ts";

/** So long a look waits for one step: several times as long as all of them take on a database that is well. */
const PATIENCE_MS = 500;

export class LookStep<Found> {
  readonly #clock: Clock;
  readonly #work: () => Promise<Found>;
  readonly #onFault: (error: unknown) => void;
  #underWay: Promise<void> | null = null;
  /** What nobody has taken yet. */
  #found: { readonly value: Found } | null = null;

  constructor(clock: Clock, work: () => Promise<Found>, onFault: (error: unknown) => void) {
    this.#clock = clock;
    this.#work = work;
    this.#onFault = onFault;
  }

  /** What was found since it was last asked; null when it failed, or still goes on. */
  async take(): Promise<Found | null> {
    // A new run would put its own find in the place of one that came late: that goes first.
    if (this.#underWay === null && this.#found === null) {
      this.#underWay = this.#run().finally(() => {
        this.#underWay = null;
      });
      await within(this.#clock, PATIENCE_MS, this.#underWay, undefined);
    }
    const found = this.#found;
    this.#found = null;
    return found?.value ?? null;
  }

  async #run(): Promise<void> {
    try {
      this.#found = { value: await this.#work() };
    } catch (error) {
      this.#onFault(error);
    }
  }

  /** Resolves when nothing of it goes on. */
  async ended(): Promise<void> {
    await this.#underWay;
  }
}
