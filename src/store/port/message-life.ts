/** All that is known of one message. */
import type { ReportAttempt } from "../../message/callback.ts";
import type { KeptConversion } from "../../message/conversion.ts";
import type { LinkClicks } from "../../message/links.ts";
import type { MessageKey, ReportBatch } from "../../message/message.ts";
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

export interface MessageLife {
  readonly key: MessageKey;
  readonly accountId: number;
  readonly accountKey: string;
  readonly messageId: string;
  readonly bulkId: string;
  readonly state: "scheduled" | "queued" | "submitted" | "done";
  readonly statusId: number;
  readonly errorId: number;
  readonly carrierId: string | null;
  readonly from: string;
  readonly to: string;
  readonly text: string;
  /** As it is stored: the name of an encoding, or that of a binary message. */
  readonly encoding: string;
  readonly partCount: number;
  readonly flash: boolean;
  readonly pricePerPartMicros: bigint;
  readonly chargedMicros: bigint;
  readonly currency: string;
  readonly notifyUrl: string | null;
  readonly notifyContentType: string;
  readonly intermediateReport: boolean;
  readonly receivedAtMs: number;
  readonly dueAtMs: number;
  readonly sentAtMs: number | null;
  readonly doneAtMs: number | null;
  readonly expiresAtMs: number;
  /** How long it may be sent, from when it first could be. */
  readonly validityMs: number;
  readonly unknownCount: number;
  readonly partsPending: number;
  /** Of a message that stopped in the middle: how many parts its carrier has. */
  readonly partsTaken: number | null;
  readonly window: string | null;
  readonly mccMnc: string | null;
  /** Where its report is fetched: 0 it waits since, 1 it was handed out and comes again at. */
  readonly pull: number | null;
  readonly pullAtMs: number | null;
  readonly carried: Readonly<Record<string, string>>;
  readonly bulk: { readonly state: "open" | "paused" | "canceled"; readonly sendAtMs: number } | null;
  readonly postings: readonly LivePosting[];
  readonly reports: readonly UntakenReport[];
  readonly parts: readonly PartName[];
  readonly later: readonly LaterReceipt[];
  readonly links: readonly LinkClicks[];
  readonly conversion: KeptConversion | null;
  readonly trace: readonly TraceStep[];
}
