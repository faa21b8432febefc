/**
 * Reads delivery receipts. The standard leaves their text to the carrier, so every carrier writes its own: the optional parameters
 * are believed first, then the text, and what cannot be read is passed over and never thrown. Pure.
 */
import { errorByName, findError } from "../../sms/errors.ts";
import type { ReceiptOutcome } from "../port.ts";

/** What a deliver_sm or data_sm says, as far as receipts are concerned. */
export interface DeliveredFacts {
  readonly esmClass: number;
  /** The short message, or the payload, an octet a character. */
  readonly text: string;
  readonly receiptedMessageId: string | null;
  readonly messageState: number | null;
  /** Network type and code: three octets (SMPP 3.4 §5.3.2.31). */
  readonly networkErrorCode: Uint8Array | null;
}

export interface ReadReceipt {
  /** As the carrier wrote it; null when there is none to be found. */
  readonly id: string | null;
  readonly outcome: ReceiptOutcome;
  readonly errorId: number;
}

/** esm_class, bits 5 to 2 (SMPP 3.4 §5.2.12): a receipt, an acknowledgement by the phone's user, an intermediate notification. */
const MESSAGE_TYPE_MASK = 0x3c;
const RECEIPT_TYPES = new Set([0x04, 0x08, 0x20]);

/** Receipts that come without the mark all look like this. */
const RECEIPT_TEXT = /\bid\s*:.*\bstat\s*:/is;

/** By esm_class, then by the optional parameters, then by the shape of the text. */
export function isReceipt({ esmClass, text, receiptedMessageId, messageState }: DeliveredFacts): boolean {
  if (RECEIPT_TYPES.has(esmClass & MESSAGE_TYPE_MASK)) return true;
  if (receiptedMessageId !== null && messageState !== null) return true;
  return RECEIPT_TEXT.test(text);
}

/** message_state (SMPP 3.4 §5.2.28, and 5.0 §4.7.15 for 0 and 9). */
const OUTCOME_BY_STATE: Readonly<Record<number, ReceiptOutcome>> = {
  0: "held", // scheduled
  1: "held", // en route
  2: "delivered",
  3: "expired",
  4: "undeliverable", // deleted
  5: "undeliverable",
  6: "held", // accepted
  7: "lost", // unknown
  8: "rejected",
  9: "undeliverable", // skipped
};

/** The words of SMPP 3.4 appendix B, and those that carriers are known to write in their place. */
const OUTCOME_BY_WORD: Readonly<Record<string, ReceiptOutcome>> = {
  DELIVRD: "delivered",
  DELIVERED: "delivered",
  DELIVRED: "delivered",
  EXPIRED: "expired",
  DELETED: "undeliverable",
  UNDELIV: "undeliverable",
  UNDELIVERABLE: "undeliverable",
  UNDELIVERED: "undeliverable",
  FAILED: "undeliverable",
  SKIPPED: "undeliverable",
  REJECTD: "rejected",
  REJECTED: "rejected",
  BLOCKED: "rejected",
  UNKNOWN: "lost",
  ACCEPTD: "held",
  ACCEPTED: "held",
  ENROUTE: "held",
  BUFFERED: "held",
  BUFFRED: "held",
  QUEUED: "held",
};

/** What a failure is called when the network's code says nothing we know. */
const ERROR_BY_OUTCOME: Readonly<Record<ReceiptOutcome, number>> = {
  held: 0,
  delivered: 0,
  undeliverable: errorByName("EC_FAILED_MESSAGE_DELIVERY").id,
  rejected: errorByName("EC_SMS_REJECTED_BY_MOBILE_OPERATOR").id,
  expired: errorByName("EC_MESSAGE_EXPIRED").id,
  lost: errorByName("EC_UNKNOWN_ERROR").id,
};

export function readReceipt(facts: DeliveredFacts): ReadReceipt {
  // What the message said comes last and may hold anything, "stat:" included.
  const [head = ""] = facts.text.split(MESSAGE_TEXT, 1);
  // A state that nobody has heard of says nothing final: the message goes on waiting for one that does.
  const byState = facts.messageState === null ? undefined : OUTCOME_BY_STATE[facts.messageState];
  const outcome = byState ?? OUTCOME_BY_WORD[field(head, "stat")?.toUpperCase() ?? ""] ?? "held";
  const code = outcome === "delivered" ? null : (networkCode(facts.networkErrorCode) ?? textCode(head));
  const known = code === null ? undefined : findError(code);
  return {
    id: facts.receiptedMessageId ?? field(head, "id"),
    outcome,
    errorId: known?.id ?? ERROR_BY_OUTCOME[outcome],
  };
}

function networkCode(octets: Uint8Array | null): number | null {
  if (octets === null || octets.length < 3) return null;
  const code = (octets[1]! << 8) | octets[2]!;
  return code === 0 ? null : code;
}

/** "id:… sub:… dlvrd:… submit date:… done date:… stat:… err:… text:…", in any order, case and spacing, with any of them missing. */
const FIELDS = {
  id: /\bid\s*:\s*([^\s,;]+)/i,
  stat: /\bstat\s*:\s*([^\s,;]+)/i,
  err: /\berr\s*:\s*([^\s,;]+)/i,
};
const MESSAGE_TEXT = /\btext\s*:/i;

function field(head: string, name: keyof typeof FIELDS): string | null {
  return FIELDS[name].exec(head)?.[1] ?? null;
}

function textCode(head: string): number | null {
  const error = field(head, "err");
  return error !== null && /^\d{1,5}$/.test(error) && Number(error) > 0 ? Number(error) : null;
}
