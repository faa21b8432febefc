/**
 * A unit of work: one transaction of a group of commands, with what it gathers beside its rows: the feed for delivery, the report
 * batches, and how to undo changes in memory when the transaction fails.
 */
import type { QueuedMessage, ReportBatch, ReportBatchItem, ReportFacts } from "../message/message.ts";
import { formRules, type PushedForm } from "../message/report-form.ts";
import type { Feed, LaneName } from "./port/delivery.ts";
import type { Settled } from "./settled.ts";

/** Whom a report is for, and where it goes. */
export interface ReportTarget {
  readonly accountId: number;
  readonly url: string;
  readonly form: PushedForm;
}

export interface PendingBatch extends ReportTarget {
  readonly kind: ReportBatch["kind"];
  /** All of the kind. */
  readonly items: ReportBatchItem[];
  /** Stored batches with an earlier item of a message of this one: the newest of them must be settled first. */
  afterId: string | null;
  /** A batch of this same unit that must go first. */
  readonly afterPending: PendingBatch | null;
  /** Messages that have several reports, or one more: their rows are told the batch's id. */
  readonly ordered: string[];
}

type ItemOf<Kind> = Extract<ReportBatch, { kind: Kind }>["items"][number];

export class Unit {
  readonly messages: QueuedMessage[] = [];
  readonly overflowed = new Map<string, LaneName>();
  readonly batches: PendingBatch[] = [];
  /** Ids of batches that wait no longer for another. */
  readonly unblocked: string[] = [];
  earliestDueAtMs: number | null = null;
  /** It changed accounts or catalogue. */
  changed = false;
  /** The receipts that it applied, by their names (commands/receipts/repeats.ts). */
  readonly settled = new Map<number, Settled>();
  /** It made reports that another node has to push. */
  reportsWait = false;
  readonly #open = new Map<string, PendingBatch>();
  readonly #lastOfMessage = new Map<string, PendingBatch>();
  readonly #undo: (() => void)[] = [];
  readonly #afterwards: (() => void)[] = [];

  onRollback(undo: () => void): void {
    this.#undo.push(undo);
  }

  onCommit(run: () => void): void {
    this.#afterwards.push(run);
  }

  /** The transaction is known to have gone through. */
  committed(): void {
    for (const run of this.#afterwards) run();
  }

  rollback(): void {
    for (const undo of this.#undo.reverse()) undo();
  }

  /** What it has for delivery, with these reports; null when there is nothing. */
  feed(reports: readonly ReportBatch[]): Feed | null {
    const { messages, earliestDueAtMs, reportsWait } = this;
    const overflowed = [...this.overflowed.values()];
    const isEmpty =
      messages.length + reports.length + overflowed.length === 0 && earliestDueAtMs === null && !reportsWait;
    return isEmpty ? null : { messages, reports, overflowed, earliestDueAtMs, ...(reportsWait ? { reportsWait } : {}) };
  }

  due(atMs: number): void {
    if (this.earliestDueAtMs === null || atMs < this.earliestDueAtMs) this.earliestDueAtMs = atMs;
  }

  overflow(lane: LaneName): void {
    this.overflowed.set(`${lane.accountId}/${lane.carrierId}`, lane);
  }

  /**
   * Adds a delivery report. Those of one unit for one URL share batches. `order` is given for a message with several reports: its
   * key, and the stored batch with its previous report if that one is not settled yet.
   */
  report(target: ReportTarget, facts: ReportFacts, order: { key: string; afterId: string | null } | null): void {
    this.#add({ ...target, kind: "delivery" }, facts, order);
  }

  /** Whether it has a report of this message, of those that `order` was given for. */
  hasReport(key: string): boolean {
    return this.#lastOfMessage.has(key);
  }

  /** Adds what else is told to a URL: a message from a phone, an alert about a balance, a click on a link. */
  tell<Kind extends "incoming" | "alert" | "click">(kind: Kind, target: ReportTarget, facts: ItemOf<Kind>): void {
    this.#add({ ...target, kind }, facts, null);
  }

  #add(
    target: ReportTarget & Pick<PendingBatch, "kind">,
    facts: ReportBatchItem,
    order: { key: string; afterId: string | null } | null,
  ): void {
    const previous = order === null ? null : (this.#lastOfMessage.get(order.key) ?? null);
    const afterId = previous === null ? (order?.afterId ?? null) : null;
    const id = `${target.kind} ${target.accountId} ${target.form} ${afterId ?? ""} ${target.url}`;
    const maxItems = target.kind === "click" ? 1 : formRules(target.form).maxItems;
    let batch = previous !== null && previous.items.length < maxItems ? previous : this.#open.get(id);
    if (batch === undefined || batch.items.length >= maxItems || (previous !== null && batch !== previous)) {
      batch = { ...target, items: [], afterId, afterPending: previous, ordered: [] };
      this.batches.push(batch);
      this.#open.set(id, batch);
    }
    batch.items.push(facts);
    if (order !== null) {
      batch.ordered.push(order.key);
      this.#lastOfMessage.set(order.key, batch);
    }
  }
}
