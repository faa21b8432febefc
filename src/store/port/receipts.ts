/** What carriers say of the parts that they took. */
import type { Receipt } from "../../message/receipt.ts";

export type { LaterReceipt, ParkedReceipt, WhyParked } from "../schema/receipts.ts";

/** The name that a carrier gave to a part. */
export interface PartName {
  readonly carrierId: string;
  readonly carrierMessageId: string;
}

export interface CarrierReceipts {
  readonly carrierId: string;
  readonly receipts: readonly Receipt[];
  /** Whoever tells them tells them again: what matches nothing is left alone, where another node may be about to tell of its message. */
  readonly mayBeEarly?: boolean;
}

export interface ReceivedReceipts {
  /**
   * How many were parked, and how many of those were about another phone than the message with their id, or could be about several messages of one
   * id.
   */
  readonly unmatched: number;
  readonly foreign: number;
  readonly doubtful: number;
  /** How many came after the last word about their part, and say something else: they were recorded beside its message. */
  readonly later: number;
  /** How many have come before: they were applied then, or are parked already. */
  readonly repeated: number;
  /** Places of those without the mark of a receipt that are none: no part of their phone waits for them, or nobody knows which. */
  readonly strangers: readonly number[];
  /** Places of those that were left alone, if any were. */
  readonly early?: readonly number[];
}

/** A receipt that matched no message when it came. */
export interface CarrierReceipt extends Receipt {
  readonly carrierId: string;
}

/** So many are recorded beside one message. */
export const MAX_LATER_RECEIPTS = 10;

export interface OutstandingRow {
  readonly rowId: number;
  readonly carrierMessageId: string;
  readonly to: string;
  readonly submittedAtMs: number;
  readonly expiresAtMs: number;
}
