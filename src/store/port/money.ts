/** Money: balances, postings and funds. */
import type { MessageKey } from "../../message/message.ts";
import type { ReplayGuard } from "./messages.ts";

export interface Posting {
  readonly id: number;
  readonly atMs: number;
  readonly kind: "charge" | "refund" | "funds";
  /** What the account's balance changed by. */
  readonly amountMicros: bigint;
  readonly messageKey: MessageKey | null;
  readonly partCount: number | null;
  readonly description: string | null;
}

/** A place among an account's postings. */
export interface PostingPosition {
  readonly atMs: number;
  readonly id: number;
}

/** An account's postings from a time on, and before another. */
export interface PostingRange {
  readonly accountId: number;
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly after: PostingPosition | null;
  readonly limit: number;
}

export interface Funding {
  readonly resellerId: number;
  readonly accountKey: string;
  readonly amountMicros: bigint;
  /** The currency of the amount, or null for the account's own. */
  readonly currency: string | null;
  /** Units of the account's currency for one unit of `currency`, in micros, by account currency. */
  readonly ratesMicros: Readonly<Record<string, bigint>>;
  readonly description: string;
  readonly replay: ReplayGuard | null;
  readonly atMs: number;
}

export type FundingOutcome =
  | { kind: "posted"; transactionId: number }
  | { kind: "unknown account" }
  | { kind: "below zero" }
  | { kind: "too large" }
  | { kind: "nothing left" } // so little that it is nothing in the account's currency
  | { kind: "no rate"; currency: string }
  | { kind: "conflict" };

export interface Balance {
  readonly balanceMicros: bigint;
  readonly currency: string;
}

/** Found wrong by `verifyLedger`; empty when all is well. */
export type LedgerFault = string;
