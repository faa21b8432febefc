/** Receipts that no part waits for: those that are parked until theirs comes, and those that came after the last word about it. */
import type { ReceiptOutcome } from "../../message/receipt.ts";
import { digits, int, long, type NewRow, oneOf, oneOfInts, type Row, Table, text } from "./table.ts";

/**
 * No part with its id waits; one does, but to another phone; several do, and which is meant cannot be known; it could not be read.
 */
export type WhyParked = "unmatched" | "foreign" | "doubtful" | "unreadable";

export const PARKED = new Table("parked_receipt", ["id"], {
  id: long({ numbered: true }),
  carrierId: text({ column: "carrier_id" }),
  carrierMessageId: text({ column: "carrier_message_id" }),
  outcome: oneOf<ReceiptOutcome>()(),
  errorId: int({ column: "error_id" }),
  atMs: long({ column: "at_ms" }),
  mccMnc: text({ column: "mcc_mnc", null: true }),
  to: text({ column: "recipient", null: true }),
  other: text({ column: "other_address", null: true }),
  /** 1: it came again after it was applied, or after the last word, and waits a short while only. */
  repeated: oneOfInts<0 | 1>()(),
  why: oneOf<WhyParked>()(),
  /** How often it has come. */
  times: int(),
  submittedAtMs: long({ column: "submitted_at_ms", null: true }),
  octets: text({ null: true }),
  /** The message that it is recorded beside, or that has heard what could be read of it. */
  messageKey: digits({ column: "message_key", null: true }),
});

export type ParkedReceipt = Row<typeof PARKED>;
export type NewParkedReceipt = Omit<NewRow<typeof PARKED>, "id">;

export const LATER = new Table("later_receipt", ["messageKey", "carrierMessageId", "outcome"], {
  messageKey: digits({ column: "message_key" }),
  carrierMessageId: text({ column: "carrier_message_id" }),
  outcome: oneOf<ReceiptOutcome>()(),
  carrierId: text({ column: "carrier_id" }),
  errorId: int({ column: "error_id" }),
  atMs: long({ column: "at_ms" }),
});

export type LaterReceipt = Row<typeof LATER>;
