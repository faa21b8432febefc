/**
 * What became of batches, on its way to the store. Outcomes of one turn of the event loop go together; those that come while a
 * call is under way wait for the next, so under load a call carries hundreds. When the store fails they are kept and
 * brought again: each call may be repeated without harm.
 */
import type { ReportFailure } from "../message/callback.ts";
import type { Clock, Timer } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { ReportRelease, ReportStore } from "./port.ts";

/** `items` says how many of them leave memory with it. */
export type Outcome =
  | { readonly kind: "delivered"; readonly items: number; readonly id: string }
  | { readonly kind: "failed"; readonly items: number; readonly failure: ReportFailure }
  | { readonly kind: "released"; readonly items: number; readonly release: ReportRelease };

export interface OutcomesOptions {
  readonly store: ReportStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly storeRetryMs: number;
  /** The store has it. */
  readonly recorded: (outcome: Outcome) => void;
}

export class Outcomes {
  readonly #options: OutcomesOptions;
  #waiting: Outcome[] = [];
  #busy = false;
  #abandoned = false;
  #pause: Timer | null = null;
  #whenEmpty: (() => void)[] = [];

  constructor(options: OutcomesOptions) {
    this.#options = options;
  }

  add(outcome: Outcome): void {
    this.#waiting.push(outcome);
    if (this.#busy) return;
    this.#busy = true;
    setImmediate(() => this.#bring());
  }

  /** Resolves when the store has everything. Ask for a bound around it: a store that is gone never has. */
  empty(): Promise<void> {
    return this.#busy ? new Promise((resolve) => this.#whenEmpty.push(resolve)) : Promise.resolve();
  }

  /** Brings nothing any more: the store still has these batches as undelivered. */
  abandon(): void {
    this.#abandoned = true;
    this.#pause?.cancel();
  }

  async #bring(): Promise<void> {
    const { clock, storeRetryMs } = this.#options;
    const outcomes = this.#waiting;
    this.#waiting = [];
    const kept = await this.#record(outcomes);
    if (this.#abandoned) return;
    if (kept.length > 0) {
      this.#waiting = kept.concat(this.#waiting);
      this.#pause = clock.after(storeRetryMs, () => this.#bring());
    } else if (this.#waiting.length > 0) {
      setImmediate(() => this.#bring());
    } else {
      this.#busy = false;
      for (const resolve of this.#whenEmpty.splice(0)) resolve();
    }
  }

  /** Returns those that the store did not take. */
  async #record(outcomes: readonly Outcome[]): Promise<Outcome[]> {
    const { store } = this.#options;
    const delivered = outcomes.filter((outcome) => outcome.kind === "delivered");
    const failed = outcomes.filter((outcome) => outcome.kind === "failed");
    const released = outcomes.filter((outcome) => outcome.kind === "released");
    const kept = await Promise.all([
      this.#call(delivered, () => store.reportsDelivered({ ids: delivered.map(({ id }) => id) })),
      this.#call(failed, () => store.reportsFailed({ failures: failed.map(({ failure }) => failure) })),
      this.#call(released, () => store.reportsReleased({ releases: released.map(({ release }) => release) })),
    ]);
    return kept.flat();
  }

  async #call(outcomes: readonly Outcome[], call: () => Promise<void>): Promise<readonly Outcome[]> {
    if (outcomes.length === 0) return [];
    try {
      await call();
    } catch (error) {
      this.#options.log.warn(
        { err: error, count: outcomes.length },
        "the store did not take the outcomes of reports, trying again",
      );
      return outcomes;
    }
    for (const outcome of outcomes) this.#options.recorded(outcome);
    return [];
  }
}
