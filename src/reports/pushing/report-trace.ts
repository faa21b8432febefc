/**
 * What is noted of tries to push reports, for people (events/trace.ts). A try is noted once for its batch, and in short: most tries fail when a
 * receiver is away for long, and then the store has enough to do. What is sent stays in the report's row until its receiver has it, and so does
 * which messages it is about. Only then, when the row goes, it is noted which report they were in.
 */
import { NO_TRACE, SUBJECT, type Trace } from "../../events/trace.ts";
import type { ReportAttempt } from "../../message/callback.ts";
import type { DeliveryBatch, ReportBatch } from "../../message/message.ts";
import { bodyOf } from "../rendering/report-body.ts";

const MAX_BODY_LENGTH = 2_000;
const MAX_URL_LENGTH = 500;
/** Of the names in one note: a note has a bound, and those of a large batch are in several. */
const MAX_NAMES_LENGTH = 3_000;

export class ReportTrace {
  readonly #trace: Trace;

  constructor(trace: Trace | undefined) {
    this.#trace = trace ?? NO_TRACE;
  }

  /** Whether it is worth a note that the receiver has it: that is smooth, unless it took more than one try, or a replay. */
  isWanted({ attempts, tried }: ReportBatch): boolean {
    return this.#trace.all || (this.#trace.isOn && (attempts > 0 || tried === true));
  }

  taken(batch: ReportBatch, attempt: ReportAttempt): void {
    this.#safely(batch, (delivery) => {
      this.#noteNames(delivery);
      this.#note(delivery, attempt, null, false);
    });
  }

  /** `attempt` is null where another batch's try spoke for this one, or it was never sent: the report's row says that much. */
  failed(batch: ReportBatch, reason: string, retryAtMs: number | null, attempt: ReportAttempt | null): void {
    if (!this.#trace.isOn || (attempt === null && !this.#trace.all)) return;
    const tried = attempt ?? { atMs: 0, status: null, durationMs: 0, reason, excerpt: "" };
    this.#safely(batch, (delivery) => this.#note(delivery, tried, retryAtMs, retryAtMs === null));
  }

  /** What cannot be noted stops nothing. */
  #safely(batch: ReportBatch, note: (delivery: DeliveryBatch) => void): void {
    if (batch.kind !== "delivery") return;
    try {
      note(batch);
    } catch (error) {
      this.#trace.failed(error);
    }
  }

  #note(batch: DeliveryBatch, attempt: ReportAttempt, retryAtMs: number | null, isDead: boolean): void {
    const { id, items, attempts, url } = batch;
    const isTaken = retryAtMs === null && !isDead;
    this.#trace.note(SUBJECT.report(id), "attempt", {
      try: attempts + 1,
      url: url.slice(0, MAX_URL_LENGTH),
      items: items.length,
      // The same on every try.
      body: this.#trace.all && attempts === 0 ? bodyOf(batch).slice(0, MAX_BODY_LENGTH).toWellFormed() : null,
      status: attempt.status,
      reason: isTaken ? null : attempt.reason,
      excerpt: attempt.excerpt,
      tookMs: attempt.durationMs,
      retryAtMs,
      isDead,
    });
  }

  /** A message is found by its account and the time at which it ended: so one note does for all that ended about then. */
  #noteNames({ id, accountId, items }: DeliveryBatch): void {
    for (const [subject, some] of Map.groupBy(items, ({ doneAtMs }) => SUBJECT.ended(accountId, doneAtMs)))
      for (const names of inNotes(some.map(({ messageId }) => messageId)))
        this.#trace.note(subject, "reported", { report: id, names });
  }
}

/** As many names together as a note has room for. */
function* inNotes(names: readonly string[]): Generator<string[]> {
  let note: string[] = [];
  let length = 0;
  for (const name of names) {
    // With its quotes, its comma, and what JSON writes for some characters.
    const more = JSON.stringify(name).length + 1;
    if (note.length > 0 && length + more > MAX_NAMES_LENGTH) {
      yield note;
      note = [];
      length = 0;
    }
    note.push(name);
    length += more;
  }
  if (note.length > 0) yield note;
}
