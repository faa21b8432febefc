/**
 * What dispatch notes of messages for people (events/trace.ts). A receipt names a part by its carrier's id, and not the message, so the names of the
 * parts that were last handed over are remembered here, within a bound. A receipt that comes much later, or to another node, is not noted: what it
 * made of the message is in the message. A step that cannot be noted stops nothing.
 */
import { NO_TRACE, SUBJECT, type Trace, type TraceDetails, type TraceKind } from "../events/trace.ts";
import type { MessageKey } from "../message/message.ts";
import type { Receipt } from "../message/receipt.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Ending, Postponed, SubmittedMessage } from "../store/port/delivery.ts";
import type { CarrierQueue } from "./carrier-queue.ts";
import { PartNames } from "./part-names.ts";
import type { Verdict } from "./submitting.ts";

const MAX_RAW_LENGTH = 300;
const SMOOTH: ReadonlySet<string> = new Set(["delivered", "held"]);

/** Which carrier did not take a message, and what it called that. */
export interface EndedBy {
  readonly carrier?: string;
  readonly status?: string | undefined;
}

export class MessageTrace {
  readonly #trace: Trace;
  readonly #clock: Clock;
  readonly #names: PartNames | null;

  constructor(trace: Trace | undefined, clock: Clock) {
    this.#trace = trace ?? NO_TRACE;
    this.#clock = clock;
    this.#names = this.#trace.isOn ? new PartNames() : null;
  }

  /** When a message is handed over, if it is to be noted how long its carrier took to answer. */
  handedOver(): number | null {
    return this.#trace.all ? this.#clock.monotonic() : null;
  }

  /** What a carrier answered, before anything is made of it. */
  answered({ carrier, handed }: CarrierQueue, key: MessageKey, verdict: Verdict, sinceMs: number | null): void {
    const tookMs = sinceMs === null ? null : Math.round(this.#clock.monotonic() - sinceMs);
    if (verdict.kind === "again" && verdict.cause !== "room") {
      const { cause, afterMs, isUnknown, status } = verdict;
      this.#note(key, "again", { carrier: carrier.id, cause, afterMs, isUnknown, tookMs, status });
    } else if (tookMs !== null) {
      const use = { inFlight: handed.unrecorded, window: carrier.window };
      this.#note(key, "answer", { carrier: carrier.id, tookMs, ...use });
    }
  }

  submitted({ key, carrierId, parts, refusedErrorId }: SubmittedMessage, to: string, status?: string): void {
    if (!this.#trace.isOn) return;
    for (const { carrierMessageId } of parts) this.#names?.remember(carrierId, carrierMessageId, to, key);
    if (!this.#trace.all && refusedErrorId === null) return;
    const ids = parts.map(({ carrierMessageId }) => carrierMessageId);
    this.#note(key, "submitted", { carrier: carrierId, ids, refusedErrorId, status });
  }

  ended({ key, event, errorId }: Ending, by: EndedBy): void {
    this.#note(key, "ended", { event, errorId, ...by });
  }

  postponed({ key, event, dueAtMs }: Postponed): void {
    if (this.#trace.all || event !== "window closed") this.#note(key, "postponed", { event, dueAtMs });
  }

  rerouted(key: MessageKey, carrierId: string): void {
    this.#note(key, "rerouted", { carrier: carrierId });
  }

  /** `raw` is the receipt as it came. */
  receipt(carrierId: string, receipt: Receipt, raw: string | null): void {
    const { carrierMessageId: id, outcome, errorId, mccMnc: network, to, atMs } = receipt;
    if (!this.#trace.isOn || (!this.#trace.all && SMOOTH.has(outcome))) return;
    // A carrier may use an id again, for another's message.
    const key = this.#names?.find(carrierId, id, to) ?? null;
    if (key === null) return;
    const clipped = raw === null ? null : raw.slice(0, MAX_RAW_LENGTH).toWellFormed();
    this.#note(key, "receipt", { carrier: carrierId, id, outcome, errorId, network, raw: clipped }, atMs);
  }

  #note<Kind extends TraceKind>(key: MessageKey, kind: Kind, detail: TraceDetails[Kind], atMs?: number): void {
    if (!this.#trace.isOn) return;
    try {
      this.#trace.note(SUBJECT.message(key), kind, detail, atMs);
    } catch (error) {
      this.#trace.failed(error);
    }
  }
}
