/**
 * Who a message is from and to: which addresses are accepted, and what type of number (TON) and numbering plan (NPI) an
 * SMPP carrier is told.
 */
import { DEFAULT_ALPHABET, septetLength } from "./alphabets.ts";

export interface AddressType {
  ton: number;
  npi: number;
}

const INTERNATIONAL: AddressType = Object.freeze({ ton: 1, npi: 1 });
const NETWORK_SPECIFIC: AddressType = Object.freeze({ ton: 3, npi: 0 });
const ALPHANUMERIC: AddressType = Object.freeze({ ton: 5, npi: 0 });

const DESTINATION = /^[0-9]{4,15}$/;
const NUMERIC_SENDER = /^[0-9]{3,15}$/;
const LETTER = /\p{L}/u;
const CONTROL = /\p{Cc}/u;
/**
 * 3GPP TS 23.040 §9.1.2.5: an address holds 10 octets, which is 11 septets. An extension character takes two of them.
 */
const SENDER_SEPTETS = Math.floor((10 * 8) / 7);
/**
 * Short codes have up to 8 digits (Australia, India); an international number that short exists only on a few islands.
 */
const SHORT_CODE_DIGITS = 8;

/** Destinations are in international form without the plus sign. */
export const DESTINATION_TYPE: AddressType = INTERNATIONAL;

const [PLUS, ZERO] = [0x2b, 0x30];

/**
 * The number without the plus sign, or the two zeros, that say that it is in international form: the one form in which numbers are kept, compared
 * and told. Not by a regular expression: it is done for every destination.
 */
export function plainPhone(number: string): string {
  const first = number.charCodeAt(0);
  if (first === PLUS) return number.slice(1);
  return first === ZERO && number.charCodeAt(1) === ZERO ? number.slice(2) : number;
}

/** A number of the service's own, without the plus sign that people write before it; a name as it is. */
export function plainSender(from: string): string {
  return from.charCodeAt(0) === PLUS && NUMERIC_SENDER.test(from.slice(1)) ? from.slice(1) : from;
}

/** What a number and a sender are, for whoever writes one. */
export const NUMBER_FORM = "4 to 15 digits, with its country's code";
export const SENDER_FORM = "3 to 15 digits, or 1 to 11 characters of the GSM alphabet with a letter";

/** 4 to 15 digits. */
export function isDestination(to: string): boolean {
  return DESTINATION.test(to);
}

/** 3 to 15 digits, or up to 11 GSM characters of which one at least is a letter. */
export function isSender(from: string): boolean {
  if (NUMERIC_SENDER.test(from)) return true;
  if (from.length > SENDER_SEPTETS) return false;
  const septets = septetLength(from, DEFAULT_ALPHABET.codes);
  return septets !== undefined && septets <= SENDER_SEPTETS && LETTER.test(from) && !CONTROL.test(from);
}

const DIGITS = /^[0-9]*$/;
const some = (count: number, what: string): string => `has ${count} ${what}${count === 1 ? "" : "s"}`;

/** Why something is no number, with the rule, as the rest of a sentence about it; null for one that is. */
export function numberFault(to: string): string | null {
  if (isDestination(to)) return null;
  return `${DIGITS.test(to) ? some(to.length, "digit") : "is not of digits alone"}: a number has ${NUMBER_FORM}`;
}

/** The same of a sender. In ASCII: a character that cannot stand there is told by its code point. */
export function senderFault(from: string): string | null {
  return isSender(from) ? null : `${senderReason(from)}: a sender has ${SENDER_FORM}`;
}

function senderReason(from: string): string {
  if (DIGITS.test(from)) return from === "" ? "is empty" : some(from.length, "digit");
  if (from.length > SENDER_SEPTETS) return some(from.length, "character");
  const isForeign = (letter: string) => septetLength(letter, DEFAULT_ALPHABET.codes) === undefined;
  const foreign = [...from].find((letter) => CONTROL.test(letter) || isForeign(letter));
  if (foreign !== undefined)
    return `has U+${foreign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")} in it`;
  return LETTER.test(from) ? "has characters that count as two, and too many of them" : "has no letter";
}

/** Which senders an account may use. */
export interface SenderRules {
  readonly defaultSender: string | null;
  /** Null for any. The default sender is allowed in any case. */
  readonly allowedSenders: readonly string[] | null;
}

/** The sender of a message, which names one or leaves it to its account; empty where neither has one. */
export function chosenSender(named: string | null | undefined, { defaultSender }: SenderRules): string {
  return plainSender(named || (defaultSender ?? ""));
}

export function maySendAs({ allowedSenders, defaultSender }: SenderRules, from: string): boolean {
  return allowedSenders === null || from === defaultSender || allowedSenders.includes(from);
}

export function senderType(from: string): AddressType {
  if (!NUMERIC_SENDER.test(from)) return ALPHANUMERIC;
  return from.length <= SHORT_CODE_DIGITS ? NETWORK_SPECIFIC : INTERNATIONAL;
}
