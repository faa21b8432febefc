/** Money that is moved: funds by resellers and by operators, and the balances that they lead to. */
import type { FundsMoveKind } from "../../money/postings.ts";
import type { Actor, Made } from "./accounts.ts";
import type { ReplayGuard } from "./messages.ts";

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
  readonly by?: Actor;
  readonly atMs: number;
}

export type FundingOutcome =
  | { kind: "posted"; transactionId: number }
  | { kind: "no rate"; currency: string }
  /** "nothing left": so little that it is nothing in the account's currency. */
  | { kind: "unknown account" | "below zero" | "too large" | "nothing left" | "conflict" };

/** An operator moves the money of any account, in its own currency. */
export interface FundsMove extends Made {
  /** Whose Idempotency-Key it is; null for the command line, which has none. */
  readonly operatorId: number | null;
  readonly accountKey: string;
  readonly kind: FundsMoveKind;
  /** What the balance changes by. */
  readonly amountMicros: bigint;
  readonly reason: string | null;
  readonly replay: ReplayGuard | null;
}

export type FundsMoveOutcome =
  | { kind: "moved"; transactionId: number; after: Balance; isRepeat?: true }
  | { kind: "unknown account" | "retired" | "conflict" }
  /** The balance as it is, of which so much cannot be taken, or to which so much cannot be added. */
  | { kind: "below limit"; now: Balance; creditLimitMicros: bigint }
  | { kind: "too large"; now: Balance };

export interface Balance {
  readonly balanceMicros: bigint;
  readonly currency: string;
}
