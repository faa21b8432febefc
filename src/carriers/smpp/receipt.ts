/**
 * Reads delivery receipts. The standard leaves their text to the carrier, so every carrier writes its own: the optional parameters
 * are believed first, then the text, and what cannot be read is passed over and never thrown. Pure.
 */
import type { ReceiptOutcome } from "../../message/receipt.ts";
import { errorByName, findError } from "../../sms/errors.ts";

/** What a deliver_sm or data_sm says, as far as receipts are concerned. */
export interface DeliveredFacts {
  readonly esmClass: number;
  /** The short message, or the payload (receipt-text.ts). */
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
  /** When the part was submitted, by the carrier's clock, which is taken for UTC; null where it does not say. */
  readonly submittedAtMs: number | null;
  /** There is an id, and a state that is known. */
  readonly isWhole: boolean;
  /** The text has an id or a state, so its octets were read as they were meant. */
  readonly isReadable: boolean;
}

/**
 * esm_class, bits 5 to 2 (SMPP 3.4 §5.2.12). The carrier itself writes receipts and intermediate notifications. The other kinds are what a phone or another
 * customer of the carrier has sent to us: an acknowledgement by the receiver (0x08) or its user (0x10), the end of a conversation (0x18). Those
 * are messages, whatever they say and whatever parameters come with them.
 */
const MESSAGE_TYPE_MASK = 0x3c;
const RECEIPT_TYPES = new Set([0x04, 0x20]);
const SENDER_TYPES = new Set([0x08, 0x10, 0x18]);

/** By esm_class, or by the optional parameters: what the carrier writes, and no phone can. */
export function isMarked({ esmClass, receiptedMessageId, messageState }: DeliveredFacts): boolean {
  const type = esmClass & MESSAGE_TYPE_MASK;
  if (SENDER_TYPES.has(type)) return false;
  return RECEIPT_TYPES.has(type) || (receiptedMessageId !== null && messageState !== null);
}

/** By the shape of the text, which any phone can write. */
export function looksLikeReceipt(text: string): boolean {
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
  const said = byState ?? OUTCOME_BY_WORD.get(fields.stat?.toUpperCase() ?? "");
  const outcome = said ?? "held";
  const code = outcome === "delivered" ? null : (networkCode(facts.networkErrorCode) ?? textCode(fields.err));
  const known = code === null ? undefined : findError(code);
  const id = facts.receiptedMessageId ?? fields.id;
  return {
    id,
    outcome,
    errorId: known?.id ?? ERROR_BY_OUTCOME[outcome],
    submittedAtMs: fields.submitted === null ? null : readDate(fields.submitted),
    isWhole: id !== null && said !== undefined,
    isReadable: fields.id !== null || fields.stat !== null,
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

/** The last date that was read: under load all receipts are of the same one or two minutes. */
let lastRead: { readonly digits: string; readonly atMs: number | null } = { digits: "", atMs: null };

/**
 * YYMMDDhhmm of SMPP 3.4 appendix B, or with seconds, or with the whole year: all three are in use. Carriers name no zone, so it is read as
 * UTC. Null for what is in no calendar.
 */
export function readDate(digits: string): number | null {
  if (lastRead.digits !== digits) lastRead = { digits, atMs: dateOf(digits) };
  return lastRead.atMs;
}

const DIGITS = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?$/;
const MAX_DATE_DIGITS = 14;

function dateOf(digits: string): number | null {
  if (digits.length > MAX_DATE_DIGITS) return null;
  // Twelve digits begin with a year of two, unless that makes no date: 202602121000 would be of the month 26.
  const inThisCentury = digits.length <= 12 ? dateOfYear(`20${digits}`) : null;
  return inThisCentury ?? dateOfYear(digits);
}

function dateOfYear(digits: string): number | null {
  const [, year, month, day, hour, minute, second = "0"] = DIGITS.exec(digits) ?? [];
  if (year === undefined) return null;
  const atMs = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  // The 31st of June would be taken for the 1st of July.
  return new Date(atMs).toISOString().replace(/\D/g, "").startsWith(digits) ? atMs : null;
}

/** A receipt's text is read so far: the standard's has some 150 octets. */
export const MAX_RECEIPT_OCTETS = 1_024;

type FieldName = "id" | "stat" | "err" | "submitted";
type Fields = Record<FieldName, string | null>;

/** What the message said comes last and may hold anything, "stat:" included. */
const LAST_FIELD = "text";
/** The names that the standard has beside the id: where one of these begins, the id ends. */
const OTHER_NAMES = new Set(["sub", "dlvrd", "submit date", "done date", "stat", "err", LAST_FIELD]);
const MAX_NAME_LENGTH = 5;
const DATE = "date";
const DATES = ["submit", "done"];

const isSpace = (code: number): boolean => code <= 0x20 || code === 0xa0;
const isWord = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || // digits
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x61 && code <= 0x7a) ||
  code === 0x5f;
const endsValue = (code: number): boolean => isSpace(code) || code === 0x2c || code === 0x3b; // comma, semicolon

function fieldsOf(text: string): Fields {
  const plain = PLAIN.exec(text);
  return plain === null ? readFields(text) : { id: plain[1]!, stat: plain[3]!, err: plain[4]!, submitted: plain[2]! };
}

/** As the standard writes it, which most do: at one go, and with the same result. */
const PLAIN =
  /^id:([\w-]{1,65}) sub:\d{3} dlvrd:\d{3} submit date:(\d{10,14}) done date:\d{10,14} stat:([A-Z]{7}) err:(\w{1,8}) text:/i;

/**
 * "id:… sub:… dlvrd:… submit date:… done date:… stat:… err:… text:…", in any order, case and spacing, with any of them missing; of a field
 * that comes twice the first counts. From colon to colon, looking back for a name and ahead for a value: what is looked at grows with the
 * text and no faster, whatever is in it. A value is a word; only an id may have several, if one of the standard's names follows.
 */
function readFields(text: string): Fields {
  const fields: Fields = { id: null, stat: null, err: null, submitted: null };
  const length = Math.min(text.length, MAX_RECEIPT_OCTETS);
  let behind = 0; // where the last colon was: no name reaches back beyond it
  let isBehindId = false;
  for (let colon = text.indexOf(":"); colon >= 0 && colon < length; colon = text.indexOf(":", colon + 1)) {
    const { name, start } = nameBefore(text, behind, colon);
    if (isBehindId && OTHER_NAMES.has(name)) fields.id = wordsBetween(text, behind, start) ?? fields.id;
    if (name === LAST_FIELD) break;
    const field = name === "submit date" ? "submitted" : name;
    behind = colon + 1;
    isBehindId = field === "id" && fields.id === null;
    if (!isField(field) || fields[field] !== null) continue;
    fields[field] = valueBehind(text, colon + 1, length);
  }
  return fields;
}

function isField(name: string): name is FieldName {
  return name === "id" || name === "stat" || name === "err" || name === "submitted";
}

/** The name that a colon ends, in small letters, and where it begins; the names of dates have two words. */
function nameBefore(text: string, from: number, colon: number): { readonly name: string; readonly start: number } {
  const end = endOfWord(text, from, colon);
  const start = startOfWord(text, from, end);
  const name = end - start > MAX_NAME_LENGTH ? "" : text.slice(start, end).toLowerCase();
  if (name !== DATE) return { name, start };
  const endBefore = endOfWord(text, from, start);
  for (const date of DATES) {
    const at = endBefore - date.length;
    if (at < from || text.slice(at, endBefore).toLowerCase() !== date) continue;
    if (at === startOfWord(text, from, at)) return { name: `${date} ${DATE}`, start: at };
  }
  return { name, start };
}

/** All that stands between, if nothing but spaces parts it. */
function wordsBetween(text: string, from: number, to: number): string | null {
  let start = from;
  while (start < to && isSpace(text.charCodeAt(start))) start++;
  const end = endOfWord(text, start, to);
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (endsValue(code) && code !== 0x20) return null;
  }
  return end === start ? null : text.slice(start, end);
}

function endOfWord(text: string, from: number, before: number): number {
  let end = before;
  while (end > from && isSpace(text.charCodeAt(end - 1))) end--;
  return end;
}

function startOfWord(text: string, from: number, end: number): number {
  let start = end;
  while (start > from && isWord(text.charCodeAt(start - 1))) start--;
  return start;
}

function valueBehind(text: string, from: number, length: number): string | null {
  let start = from;
  while (start < length && isSpace(text.charCodeAt(start))) start++;
  let end = start;
  while (end < length && !endsValue(text.charCodeAt(end))) end++;
  return end === start ? null : text.slice(start, end);
}
