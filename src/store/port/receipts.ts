/** What carriers say of the parts that they took. */
import type { Receipt } from "../../carriers/port.ts";
import type { MessageKey } from "../../message/message.ts";

/** The name that a carrier gave to a part. */
export interface PartName {
  readonly carrierId: string;
  readonly carrierMessageId: string;
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
}

/** A receipt that matched no message when it came. */
export interface CarrierReceipt extends Receipt {
  readonly carrierId: string;
}

/**
 * No part with its id waits; one does, but to another phone; several do, and which is meant cannot be known; it could not be read.
 */
export type WhyParked = "unmatched" | "foreign" | "doubtful" | "unreadable";

export interface ParkedReceipt extends CarrierReceipt {
  readonly id: number;
  /** 1: it came again after it was applied, or after the last word, and waits a short while only. */
  readonly repeated: 0 | 1;
  readonly why: WhyParked;
  /** How often it has come. */
  readonly times: number;
  /** The message that it is recorded beside, or that has heard what could be read of it. */
  readonly messageKey: MessageKey | null;
}

/** What a carrier said of a part of a message after its last word. */
export interface LaterReceipt extends PartName, Pick<Receipt, "outcome" | "errorId" | "atMs"> {
  readonly messageKey: MessageKey;
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
