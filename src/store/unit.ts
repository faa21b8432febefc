/**
 * A unit of work: one transaction of a group of commands, with what it gathers beside its rows: the feed for delivery, the report
 * batches, and how to undo changes in memory when the transaction fails.
 */
import type {
  AlertFacts,
  IncomingFacts,
  MessageKey,
  QueuedMessage,
  ReportBatch,
  ReportBatchItem,
  ReportFacts,
} from "../message/message.ts";
import type { Feed, LaneName } from "./port/delivery.ts";

/** Items for one URL in one request, at most (the API family's limit). */
const BATCH_ITEMS = 100;

/** Whom a report is for, and where it goes. */
export interface ReportTarget {
  readonly accountId: number;
  readonly url: string;
  readonly contentType: string;
}

export interface PendingBatch extends ReportTarget {
  readonly kind: ReportBatch["kind"];
  /** All of the kind. */
  readonly items: ReportBatchItem[];
  /** Stored batches with an earlier item of a message of this one: the newest of them must be settled first. */
  afterId: string | null;
  /** A batch of this same unit that must go first. */
  readonly afterPending: PendingBatch | null;
  /** Messages that have several reports: their rows are told the batch's id. */
  readonly ordered: string[];
}

/** What was said of parts under one name: of which message, and which outcomes, a bit each. */
export interface Settled {
  readonly key: MessageKey;
  readonly outcomes: number;
}

export class Unit {
  readonly messages: QueuedMessage[] = [];
  readonly overflowed = new Map<string, LaneName>();
  readonly batches: PendingBatch[] = [];
  /** Ids of batches that wait no longer for another. */
  readonly unblocked: string[] = [];
  earliestDueAtMs: number | null = null;
  /** It changed accounts or catalogue. */
  changed = false;
  /** The receipts that it applied, by their names (commands/repeats.ts). */
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

  /** Adds a message from a phone, for the URL of the number that it was sent to. */
  forward(target: ReportTarget, facts: IncomingFacts): void {
    this.#add({ ...target, kind: "incoming" }, facts, null);
  }

  /** Adds an alert to whoever watches an account's balance. */
  alert(target: ReportTarget, facts: AlertFacts): void {
    this.#add({ ...target, kind: "alert" }, facts, null);
  }

  #add(
    target: ReportTarget & Pick<PendingBatch, "kind">,
    facts: ReportBatchItem,
    order: { key: string; afterId: string | null } | null,
  ): void {
    const previous = order === null ? null : (this.#lastOfMessage.get(order.key) ?? null);
    const afterId = previous === null ? (order?.afterId ?? null) : null;
    const id = `${target.kind} ${target.accountId} ${target.contentType} ${afterId ?? ""} ${target.url}`;
    let batch = previous !== null && previous.items.length < BATCH_ITEMS ? previous : this.#open.get(id);
    if (batch === undefined || batch.items.length >= BATCH_ITEMS || (previous !== null && batch !== previous)) {
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
