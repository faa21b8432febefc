/**
 * Long work in slices. However many have long work to do, one slice is done in a turn of the event loop, so that everything else on it is
 * answered in between; and accounts take turns, so that nobody's work waits for all of somebody else's.
 */
import { FairQueue } from "./fair-queue.ts";

export class Slices {
  readonly #waiting = new FairQueue<() => void>();
  #isArmed = false;

  /** Resolves when the account's next slice may be done. */
  turn(accountId: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(accountId, resolve);
      this.#arm();
    });
  }

  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    setImmediate(() => {
      this.#isArmed = false;
      const next = this.#waiting.shift();
      if (next === undefined) return;
      next();
      this.#arm();
    });
  }
}
