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

/** By esm_class, or by the optional parameters: what the carrier writes, and no phone can. */
export function isMarked({ esmClass, receiptedMessageId, messageState }: DeliveredFacts): boolean {
  return RECEIPT_TYPES.has(esmClass & MESSAGE_TYPE_MASK) || (receiptedMessageId !== null && messageState !== null);
}

/** By the shape of the text, which any phone can write. */
export function looksLikeReceipt({ text }: DeliveredFacts): boolean {
  const { id, stat } = fieldsOf(text);
  return id !== null && stat !== null && OUTCOME_BY_WORD.has(stat.toUpperCase());
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
const OUTCOME_BY_WORD: ReadonlyMap<string, ReceiptOutcome> = new Map(
  Object.entries({
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
  }),
);

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
  const fields = fieldsOf(facts.text);
  // A state that nobody has heard of says nothing final: the message goes on waiting for one that does.
  const byState = facts.messageState === null ? undefined : OUTCOME_BY_STATE[facts.messageState];
  const outcome = byState ?? OUTCOME_BY_WORD.get(fields.stat?.toUpperCase() ?? "") ?? "held";
  const code = outcome === "delivered" ? null : (networkCode(facts.networkErrorCode) ?? textCode(fields.err));
  const known = code === null ? undefined : findError(code);
  return {
    id: facts.receiptedMessageId ?? fields.id,
    outcome,
    errorId: known?.id ?? ERROR_BY_OUTCOME[outcome],
  };
}

function networkCode(octets: Uint8Array | null): number | null {
  if (octets === null || octets.length < 3) return null;
  const code = (octets[1]! << 8) | octets[2]!;
  return code === 0 ? null : code;
}

function textCode(error: string | null): number | null {
  return error !== null && /^\d{1,5}$/.test(error) && Number(error) > 0 ? Number(error) : null;
}

/** A receipt's text is read so far: the standard's has some 150 octets. */
export const MAX_RECEIPT_OCTETS = 1_024;

type FieldName = "id" | "stat" | "err";
type Fields = Record<FieldName, string | null>;

/** What the message said comes last and may hold anything, "stat:" included. */
const LAST_FIELD = "text";
const MAX_NAME_LENGTH = 4;

const isSpace = (code: number): boolean => code <= 0x20 || code === 0xa0;
const isWord = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || // digits
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x61 && code <= 0x7a) ||
  code === 0x5f;
const endsValue = (code: number): boolean => isSpace(code) || code === 0x2c || code === 0x3b; // comma, semicolon

/**
 * "id:… sub:… dlvrd:… submit date:… done date:… stat:… err:… text:…", in any order, case and spacing, with any of them missing; of a field
 * that comes twice the first counts. From colon to colon, looking back for a name and ahead for a value: what is looked at grows with the
 * text and no faster, whatever is in it.
 */
function fieldsOf(text: string): Fields {
  const fields: Fields = { id: null, stat: null, err: null };
  const length = Math.min(text.length, MAX_RECEIPT_OCTETS);
  let behind = 0; // where the last colon was: no name reaches back beyond it
  for (let colon = text.indexOf(":"); colon >= 0 && colon < length; colon = text.indexOf(":", colon + 1)) {
    const name = nameBefore(text, behind, colon);
    behind = colon + 1;
    if (name === LAST_FIELD) break;
    if (!isField(name) || fields[name] !== null) continue;
    fields[name] = valueBehind(text, colon + 1, length);
  }
  return fields;
}

function isField(name: string): name is FieldName {
  return name === "id" || name === "stat" || name === "err";
}

/** The word before a colon, in small letters; empty for one that is too long to be a name. */
function nameBefore(text: string, from: number, colon: number): string {
  let end = colon;
  while (end > from && isSpace(text.charCodeAt(end - 1))) end--;
  let start = end;
  while (start > from && isWord(text.charCodeAt(start - 1))) start--;
  return end - start > MAX_NAME_LENGTH ? "" : text.slice(start, end).toLowerCase();
}

function valueBehind(text: string, from: number, length: number): string | null {
  let start = from;
  while (start < length && isSpace(text.charCodeAt(start))) start++;
  let end = start;
  while (end < length && !endsValue(text.charCodeAt(end))) end++;
  return end === start ? null : text.slice(start, end);
}
