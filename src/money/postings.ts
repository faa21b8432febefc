/** What moved an account's money, in the words of a statement, and how a walk over it is described. */
import type { MessageKey } from "../message/message.ts";

/**
 * The service's own wallets, one of each for a currency. Money comes from `payments`, the world outside, and goes back there. `revenue` has what
 * messages cost. `corrections` has the other side of what was posted wrong, and `writeOffs` what was given up.
 */
export type ServiceWallet = "payments" | "revenue" | "corrections" | "writeOffs";

/** What the table says of a posting: charges and refunds are of messages, funds are all the rest. */
export type StoredKind = "charge" | "refund" | "funds";

/** `funds` come from outside or go back there; a `transfer` is between two accounts. */
export type PostingKind = StoredKind | "correction" | "transfer" | "writeOff";

/**
 * The kind that a statement tells. Which funds they are is told by the wallet on the other side alone, so that no posting says one thing and does
 * another: `other` is the name of a service's wallet, "" for an account's.
 */
export function postingKindOf(stored: StoredKind, other: string | null): PostingKind {
  if (stored !== "funds" || other === null) return stored;
  if (other === "") return "transfer";
  return OF_WALLET.get(other) ?? "funds";
}

const OF_WALLET: ReadonlyMap<string, PostingKind> = new Map<ServiceWallet, PostingKind>([
  ["corrections", "correction"],
  ["writeOffs", "writeOff"],
]);

/** What an operator does with an account's money, as a request and the audit name it. */
export const FUNDS_MOVES = ["topUp", "takeBack", "correction"] as const;
export type FundsMoveKind = (typeof FUNDS_MOVES)[number];

/** The service's wallet on the other side of it. */
export const WALLET_OF_MOVE: Readonly<Record<FundsMoveKind, ServiceWallet>> = {
  topUp: "payments",
  takeBack: "payments",
  correction: "corrections",
};

/** Where the balance of an account goes that is retired: to another account, out of the service, or nowhere, for a reason. */
export type Settlement =
  | { readonly kind: "transfer"; readonly toKey: string }
  | { readonly kind: "paidOut" }
  | { readonly kind: "writeOff"; readonly reason: string };

export interface Posting {
  readonly id: number;
  readonly atMs: number;
  readonly kind: PostingKind;
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

/**
 * The balance, and what it was right behind a place among the postings. Both are of one moment, so that what is said of the past stays so while money
 * moves. All postings after the place are added up for it: there should be few.
 */
export interface BalanceBehind {
  readonly nowMicros: bigint;
  readonly thenMicros: bigint;
}

/** An account's postings from a time on, and before another. */
export interface PostingRange {
  readonly accountId: number;
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly after: PostingPosition | null;
  readonly limit: number;
  /** From the newest back, and not from the oldest on. */
  readonly newestFirst?: boolean;
}

/** How a walk over what happened is added up: by spans of so many milliseconds since 1970, such as hours or days. */
export interface Totalling {
  readonly stepMs: number;
}

/** What an account's postings of one span come to. None of it is below zero but what was funded, which may be taken too. */
export interface TurnoverStep {
  readonly startMs: number;
  readonly chargedMicros: bigint;
  readonly refundedMicros: bigint;
  /** With corrections, transfers and what was written off. */
  readonly fundedMicros: bigint;
  readonly postings: number;
}

/** A place among an account's messages, by when they were sent. */
export interface SentPosition {
  readonly atMs: number;
  readonly key: MessageKey;
}

/**
 * Messages that a carrier took, by when they were sent: such a charge is not given back any more. A page looks at so many messages as `limit` says, and its
 * `next` says where to go on.
 */
export interface SentRange extends Totalling {
  readonly accountId: number;
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly after: SentPosition | null;
  readonly limit: number;
  readonly newestFirst: boolean;
}

/** What an account's messages to one country over one carrier cost, of those that were sent in one span. */
export interface SentCost {
  readonly startMs: number;
  /** ISO 3166-1; null for a number that begins like none. */
  readonly country: string | null;
  readonly carrierId: string;
  readonly messages: number;
  readonly parts: number;
  readonly amountMicros: bigint;
}

/** Messages from a time on and before another, oldest first. */
export interface TrafficRange extends Omit<SentRange, "newestFirst" | "stepMs"> {
  /** Those alone to numbers that begin so. */
  readonly prefix: string;
  /** So many digits tell numbers apart: as many as the longest prefix of the price lists has. */
  readonly digits: number;
}

/** What one carrier took of an account's messages to numbers that begin alike. */
export interface SentTraffic {
  readonly begins: string;
  /** ISO 3166-1; null for a number that begins like none. */
  readonly country: string | null;
  readonly carrierId: string;
  readonly currency: string;
  readonly messages: number;
  readonly parts: number;
  /** What the account was charged. */
  readonly amountMicros: bigint;
}
