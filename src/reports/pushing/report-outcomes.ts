/**
 * What became of batches of reports, on its way to the store (store/outcome-recorder.ts). One write waits for the other, so under load a call
 * carries hundreds of batches. What the store will not take stays held there: the next start of the service hands it out again.
 */
import type { AccountNames } from "../../events/account-names.ts";
import type { ReportFailure } from "../../message/callback.ts";
import { OutcomeRecorder } from "../../store/outcome-recorder.ts";
import type { PushOptions } from "./push-settings.ts";

/** What every outcome of a batch says. */
export interface BatchOutcome {
  readonly accountId: number;
  /** How many items leave memory with it. */
  readonly items: number;
}

export interface ReportOutcomesParts extends Pick<PushOptions, "store" | "clock" | "log"> {
  readonly names: AccountNames;
  readonly storeRetryMs: number;
  /** The store has it, or never will. */
  readonly recorded: (outcome: BatchOutcome) => void;
}

export class ReportOutcomes {
  readonly #parts: ReportOutcomesParts;
  readonly recorder: OutcomeRecorder;
  readonly delivered: (outcome: BatchOutcome & { readonly id: string }) => void;
  readonly failed: (outcome: BatchOutcome & { readonly failure: ReportFailure }) => void;
  readonly released: (
    outcome: BatchOutcome & { readonly release: { readonly id: string; readonly dueAtMs: number } },
  ) => void;

  constructor(parts: ReportOutcomesParts) {
    const { store, storeRetryMs } = parts;
    this.#parts = parts;
    this.recorder = new OutcomeRecorder({
      ...parts,
      what: "what became of reports",
      retryMs: storeRetryMs,
      oneAtATime: true,
    });
    this.delivered = this.#kind("delivered", (all) => store.reportsDelivered({ ids: all.map(({ id }) => id) }));
    this.failed = this.#kind("failed", (all) => store.reportsFailed({ failures: all.map(({ failure }) => failure) }));
    this.released = this.#kind("released", (all) =>
      store.reportsReleased({ releases: all.map(({ release }) => release) }),
    );
  }

  #kind<Outcome extends BatchOutcome>(
    name: string,
    write: (outcomes: readonly Outcome[]) => Promise<void>,
  ): (outcome: Outcome) => void {
    const { log, names, recorded } = this.#parts;
    return this.recorder.kind<Outcome>({
      name,
      write: async (outcomes) => {
        await write(outcomes);
        for (const outcome of outcomes) recorded(outcome);
      },
      setAside: async (outcome, error) => {
        names.tell(outcome.accountId, (account) =>
          log.error(
            { err: error, account, outcome: name, items: outcome.items },
            "the store does not take what became of a report",
          ),
        );
        recorded(outcome);
        return true;
      },
    });
  }
}
