/** All that is known of one message. */
import type { ReportAttempt } from "../../message/callback.ts";
import type { KeptConversion } from "../../message/conversion.ts";
import type { LinkClicks } from "../../message/links.ts";
import type { ReportBatch } from "../../message/message.ts";
import type { LifeOfRow } from "../schema/message.ts";
import type { LaterReceipt, PartName } from "./receipts.ts";

export interface LivePosting {
  readonly id: number;
  readonly atMs: number;
  readonly kind: "charge" | "refund";
  readonly amountMicros: bigint;
  /** Of a charge: how many parts it pays for, which may be those of several messages. */
  readonly partCount: number | null;
}

/** A report that waits to be taken, or was given up. */
export interface UntakenReport {
  readonly id: string;
  /** What is sent, and where. */
  readonly batch: ReportBatch;
  readonly attempts: number;
  readonly dueAtMs: number;
  readonly deadAtMs: number | null;
  readonly reason: string | null;
  readonly history: readonly ReportAttempt[];
}

/** A step that was noted (events/trace.ts); its detail is JSON. */
export interface TraceStep {
  readonly subject: string;
  readonly atMs: number;
  readonly kind: string;
  readonly detail: string;
}

export interface MessageLife extends LifeOfRow {
  readonly accountKey: string;
  readonly bulk: { readonly state: "open" | "paused" | "canceled"; readonly sendAtMs: number } | null;
  readonly postings: readonly LivePosting[];
  readonly reports: readonly UntakenReport[];
  readonly parts: readonly PartName[];
  readonly later: readonly LaterReceipt[];
  readonly links: readonly LinkClicks[];
  readonly conversion: KeptConversion | null;
  readonly trace: readonly TraceStep[];
}
