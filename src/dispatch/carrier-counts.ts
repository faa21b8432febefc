/**
 * What is counted of one carrier, for whoever watches it. It is on the way of every message, so it is hardly more than numbers that grow. Of the time
 * to the receipt at most twenty in a second are measured, in a bounded memory.
 */
import type { Receipt, ReceiptOutcome } from "../message/receipt.ts";
import type { Clock } from "../runtime/clock.ts";
import { ANSWER_SECONDS, Histogram } from "../runtime/metrics.ts";
import { RecentTimes } from "../runtime/recent-times.ts";
import type { SubmittedPart } from "../store/port/delivery.ts";
import type { Sign } from "./carrier-health.ts";

const SAMPLE_EVERY_MS = 50;
/** Parts whose receipt is waited for: at the fastest some 100 seconds of them. */
const MAX_AWAITED = 2_048;
/** Phones are off for hours. */
const RECEIPT_SECONDS = [0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 43_200, 86_400];

export class CarrierCounts {
  readonly #clock: Clock;
  messages = 0;
  parts = 0;
  refused = 0;
  /** Of those, messages whose outcome stayed unknown. */
  gaveUp = 0;
  /** Answers that it is busy, or takes this message later. */
  later = 0;
  /** Of those, answers that it takes this message later, and others now. */
  putOff = 0;
  unknown = 0;
  /** How often it became sick, by what made it so. */
  readonly sick: Record<Sign, number> = { throttled: 0, unanswered: 0, "put off": 0 };
  readonly receipts: Record<ReceiptOutcome, number> = {
    held: 0,
    delivered: 0,
    undeliverable: 0,
    rejected: 0,
    expired: 0,
    lost: 0,
  };
  /** Refusals and receipts that say no, by the id of their error: as many as there are in the table of errors. */
  readonly reasons = new Map<number, number>();
  readonly answerTimes = new RecentTimes();
  readonly receiptTimes = new RecentTimes();
  readonly answerSeconds = new Histogram(ANSWER_SECONDS);
  readonly receiptSeconds = new Histogram(RECEIPT_SECONDS);
  lastReceiptMs: number | null = null;
  #nextSampleMs = 0;
  /** By the carrier's id of a part: when it was taken. */
  readonly #awaited = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A message of one part goes out: the moment, for when it is answered. */
  handed(): number {
    return this.#clock.monotonic();
  }

  /** It was answered, whatever the answer is. */
  answered(handedAtMs: number): void {
    const tookMs = this.#clock.monotonic() - handedAtMs;
    this.answerTimes.add(tookMs);
    this.answerSeconds.observe(tookMs / 1_000);
  }

  taken(parts: readonly SubmittedPart[], atMs: number): void {
    this.messages++;
    this.parts += parts.length;
    // A clock that was set back is not waited for.
    if (atMs < this.#nextSampleMs && atMs >= this.#nextSampleMs - SAMPLE_EVERY_MS) return;
    const [first] = parts;
    if (first === undefined) return;
    this.#nextSampleMs = atMs + SAMPLE_EVERY_MS;
    this.#awaited.set(first.carrierMessageId, atMs);
    if (this.#awaited.size > MAX_AWAITED) this.#awaited.delete(this.#awaited.keys().next().value!);
  }

  refusedFor(errorId: number): void {
    this.refused++;
    this.#because(errorId);
  }

  received({ carrierMessageId, outcome, errorId, atMs }: Receipt): void {
    this.receipts[outcome]++;
    this.lastReceiptMs = atMs;
    if (outcome === "held") return;
    if (outcome !== "delivered") this.#because(errorId);
    const takenMs = this.#awaited.get(carrierMessageId);
    if (takenMs === undefined) return;
    this.#awaited.delete(carrierMessageId);
    const tookMs = Math.max(0, atMs - takenMs);
    this.receiptTimes.add(tookMs);
    this.receiptSeconds.observe(tookMs / 1_000);
  }

  #because(errorId: number): void {
    this.reasons.set(errorId, (this.reasons.get(errorId) ?? 0) + 1);
  }
}
