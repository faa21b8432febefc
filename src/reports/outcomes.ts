/**
 * What became of batches, on its way to the store. Outcomes of one turn of the event loop go together; those that come while a
 * call is under way wait for the next, so under load a call carries hundreds. When the store fails they are kept and
 * brought again: each call may be repeated without harm. When it is well and will not take one of them, the others are brought without
 * that one, and nothing waits for it. When it will not take one after the other it is not well, and they are kept.
 */
import type { ReportFailure } from "../message/callback.ts";
import type { Clock, Timer } from "../runtime/clock.ts";
import { SetAsideLimit, writeIsolated } from "../runtime/isolate.ts";
import { type Log, LogLimiter } from "../runtime/log.ts";
import type { ReportRelease, ReportStore } from "./port.ts";

interface OutcomeOf {
  readonly accountId: number;
  /** How many items leave memory with it. */
  readonly items: number;
}

export type Outcome = OutcomeOf &
  (
    | { readonly kind: "delivered"; readonly id: string }
    | { readonly kind: "failed"; readonly failure: ReportFailure }
    | { readonly kind: "released"; readonly release: ReportRelease }
  );

export interface OutcomesOptions {
  readonly store: ReportStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly storeRetryMs: number;
  /** Whether a failure of the store says nothing of what it was told. */
  readonly isStoreAway: (error: unknown) => boolean;
  /** The store has it, or never will. */
  readonly recorded: (outcome: Outcome) => void;
}

export class Outcomes {
  readonly #options: OutcomesOptions;
  #waiting: Outcome[] = [];
  #busy = false;
  /** Calls that are being tried in pieces, beside the others. */
  #isolating = 0;
  #abandoned = false;
  readonly #pauses = new Set<Timer>();
  readonly #asideLimit: SetAsideLimit;
  readonly #limiter: LogLimiter;
  #whenEmpty: (() => void)[] = [];

  constructor(options: OutcomesOptions) {
    this.#options = options;
    this.#asideLimit = new SetAsideLimit(options.clock);
    this.#limiter = new LogLimiter(options.clock);
  }

  add(outcome: Outcome): void {
    this.#waiting.push(outcome);
    if (this.#busy) return;
    this.#busy = true;
    setImmediate(() => this.#bring());
  }

  /** Resolves when the store has everything. Ask for a bound around it: a store that is gone never has. */
  empty(): Promise<void> {
    return this.#isEmpty ? Promise.resolve() : new Promise((resolve) => this.#whenEmpty.push(resolve));
  }

  /** Brings nothing any more: the store still has these batches as undelivered. */
  abandon(): void {
    this.#abandoned = true;
    for (const pause of this.#pauses) pause.cancel();
  }

  get #isEmpty(): boolean {
    return !this.#busy && this.#isolating === 0;
  }

  #settle(): void {
    if (this.#isEmpty) for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }

  #afterPause(run: () => void): void {
    const pause = this.#options.clock.after(this.#options.storeRetryMs, () => {
      this.#pauses.delete(pause);
      run();
    });
    this.#pauses.add(pause);
  }

  async #bring(): Promise<void> {
    const outcomes = this.#waiting;
    this.#waiting = [];
    const kept = await this.#record(outcomes);
    if (this.#abandoned) return;
    if (kept.length > 0) {
      this.#waiting = kept.concat(this.#waiting);
      this.#afterPause(() => this.#bring());
    } else if (this.#waiting.length > 0) {
      setImmediate(() => this.#bring());
    } else {
      this.#busy = false;
      this.#settle();
    }
  }

  /** Returns those that the store could not take now. */
  async #record(outcomes: readonly Outcome[]): Promise<Outcome[]> {
    const { store } = this.#options;
    const kept = await Promise.all([
      this.#call(
        outcomes.filter((outcome) => outcome.kind === "delivered"),
        (delivered) => store.reportsDelivered({ ids: delivered.map(({ id }) => id) }),
      ),
      this.#call(
        outcomes.filter((outcome) => outcome.kind === "failed"),
        (failed) => store.reportsFailed({ failures: failed.map(({ failure }) => failure) }),
      ),
      this.#call(
        outcomes.filter((outcome) => outcome.kind === "released"),
        (released) => store.reportsReleased({ releases: released.map(({ release }) => release) }),
      ),
    ]);
    return kept.flat();
  }

  async #call<Some extends Outcome>(
    outcomes: readonly Some[],
    write: (outcomes: readonly Some[]) => Promise<void>,
  ): Promise<readonly Some[]> {
    const { log, isStoreAway } = this.#options;
    if (outcomes.length === 0) return [];
    try {
      await write(outcomes);
    } catch (error) {
      const isAway = isStoreAway(error);
      log.warn({ err: error, count: outcomes.length }, "the store did not take the outcomes of reports, trying again");
      if (!isAway) void this.#isolate(outcomes, write);
      return isAway ? outcomes : [];
    }
    this.#taken(outcomes);
    return [];
  }

  /** Never rejects. What no try helps stays held in the store: the next start of the service hands it out again. */
  async #isolate<Some extends Outcome>(
    outcomes: readonly Some[],
    write: (outcomes: readonly Some[]) => Promise<void>,
  ): Promise<void> {
    const { log, isStoreAway } = this.#options;
    this.#isolating++;
    await writeIsolated(outcomes, {
      write: async (some) => {
        await write(some);
        this.#taken(some);
      },
      isPassing: isStoreAway,
      pause: () => new Promise((resolve) => this.#afterPause(() => resolve(!this.#abandoned))),
      setAside: async (outcome, error) => {
        if (!this.#asideLimit.take(outcome.kind)) {
          this.#limiter.write(outcome.kind, (more) =>
            log.error({ err: error, ...more }, "the store does not take what became of one report after the other"),
          );
          return false;
        }
        log.error({ err: error, outcome }, "the store does not take what became of a report");
        this.#taken([outcome]);
        return true;
      },
    });
    this.#isolating--;
    this.#settle();
  }

  #taken(outcomes: readonly Outcome[]): void {
    for (const outcome of outcomes) this.#options.recorded(outcome);
  }
}
