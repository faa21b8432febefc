/** A store of reports in memory, for tests of pushing alone: it keeps the promises of the port, and can be made to fail. */
import type { CallbackPolicy, ReportFailure } from "../../src/message/callback.ts";
import type { ReportBatch, ReportFacts } from "../../src/message/message.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import { SecretFault } from "../../src/runtime/secrets.ts";
import { StoreUnavailable } from "../../src/store/port/errors.ts";
import type { DueReports, ReportStore } from "../../src/store/port/reports.ts";

interface Row {
  batch: ReportBatch;
  dueAtMs: number;
  held: boolean;
}

export class MemoryReportStore implements ReportStore {
  readonly #clock: Clock;
  readonly undelivered = new Map<string, Row>();
  readonly delivered: string[] = [];
  readonly deadLetters: ReportFailure[] = [];
  readonly failures: ReportFailure[] = [];
  readonly releases: { readonly id: string; readonly dueAtMs: number }[] = [];
  secrets: readonly string[] = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"];
  retryMinutes: readonly number[] | null = null;
  /** Schedules of accounts that have one of their own. */
  readonly schedules = new Map<number, readonly number[]>();
  /** Accounts whose secrets no key opens. */
  readonly sealed = new Set<number>();
  /** As long as it is set, every call is refused. */
  failing = false;
  /** A call with one of these ids in it is refused, whole. */
  readonly poisoned = new Set<string>();
  refusals = 0;
  calls = 0;
  #callsNow = 0;
  mostCallsNow = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Commits batches and hands them out, as acceptance of a receipt does. */
  commit(batches: readonly ReportBatch[]): readonly ReportBatch[] {
    for (const batch of batches) this.undelivered.set(batch.id, { batch, dueAtMs: this.#clock.now(), held: true });
    return batches;
  }

  /** Commits batches that nobody holds, as an earlier run leaves them. */
  leave(batches: readonly ReportBatch[], dueAtMs = this.#clock.now()): void {
    for (const batch of batches) this.undelivered.set(batch.id, { batch, dueAtMs, held: false });
  }

  /** The process that held batches is gone. */
  restart(): void {
    for (const row of this.undelivered.values()) row.held = false;
  }

  reportsDelivered({ ids }: { ids: readonly string[] }): Promise<void> {
    return this.#call(() => {
      this.#refusePoison(ids);
      for (const id of ids) if (this.undelivered.delete(id)) this.delivered.push(id);
    });
  }

  reportsFailed({ failures }: { failures: readonly ReportFailure[] }): Promise<void> {
    return this.#call(() => {
      this.#refusePoison(failures.map(({ id }) => id));
      for (const failure of failures) {
        const row = this.undelivered.get(failure.id)!;
        this.failures.push(failure);
        if (failure.retryAtMs === null) {
          this.undelivered.delete(failure.id);
          this.deadLetters.push(failure);
        } else {
          row.batch = { ...row.batch, attempts: failure.attempts };
          row.dueAtMs = failure.retryAtMs;
          row.held = false;
        }
      }
    });
  }

  reportsReleased({
    releases,
  }: {
    releases: readonly { readonly id: string; readonly dueAtMs: number }[];
  }): Promise<void> {
    return this.#call(() => {
      for (const release of releases) {
        const row = this.undelivered.get(release.id)!;
        this.releases.push(release);
        row.dueAtMs = release.dueAtMs;
        row.held = false;
      }
    });
  }

  dueReports({ nowMs, limit }: { nowMs: number; limit: number }): Promise<DueReports> {
    return this.#call(() => {
      const free = [...this.undelivered.values()].filter((row) => !row.held);
      const due = free.filter((row) => row.dueAtMs <= nowMs);
      due.sort((a, b) => a.dueAtMs - b.dueAtMs);
      const rows = due.slice(0, limit);
      for (const row of rows) row.held = true;
      const later = free.filter((row) => !row.held).map((row) => row.dueAtMs);
      const more = due.length > limit;
      const nextDueAtMs = more || later.length === 0 ? null : Math.min(...later);
      return { batches: rows.map(({ batch }) => batch), more, nextDueAtMs };
    });
  }

  mergeReports({ ids: [first, ...others] }: { ids: readonly string[] }): Promise<void> {
    return this.#call(() => {
      this.#refusePoison([first!, ...others]);
      const into = this.undelivered.get(first!)!;
      const merged = others.map((id) => this.undelivered.get(id)!.batch);
      const items = [into.batch, ...merged].flatMap((batch) => batch.items as ReportFacts[]);
      into.batch = { ...into.batch, items } as ReportBatch;
      for (const id of others) this.undelivered.delete(id);
    });
  }

  callbackPolicy({ accountId }: { accountId: number }): Promise<CallbackPolicy> {
    return this.#call(() => {
      if (this.sealed.has(accountId)) throw new SecretFault("no key opens it");
      return { secrets: this.secrets, retryMinutes: this.schedules.get(accountId) ?? this.retryMinutes };
    });
  }

  accountKey({ accountId }: { accountId: number }): Promise<string | null> {
    return this.#call(() => `ACCOUNT${accountId}`);
  }

  #refusePoison(ids: readonly string[]): void {
    if (!ids.some((id) => this.poisoned.has(id))) return;
    this.refusals++;
    throw new Error("a value that no column takes");
  }

  async #call<T>(work: () => T): Promise<T> {
    this.calls++;
    this.#callsNow++;
    this.mostCallsNow = Math.max(this.mostCallsNow, this.#callsNow);
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#callsNow--;
    if (this.failing) throw new StoreUnavailable("the store is restarting");
    return work();
  }
}
