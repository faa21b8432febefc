/**
 * The rules for messages that phones send to a number of ours: what an operator says of the number, how parts become a text, and
 * which word at its beginning is a keyword. Pure.
 */
import { HEADER_BIT } from "../sms/binary.ts";
import type { OctetEncoding } from "../sms/body.ts";
import type { Concatenation } from "../sms/header.ts";
import {
  type ReceivedBinary,
  type ReceivedOctets,
  type ReceivedText,
  readAlike,
  textOfPieces,
  textOfReceived,
} from "../sms/received.ts";
import type { CarriedName, GivenOf } from "./fields.ts";
import type { INCOMING_FORMS } from "./report-form.ts";

/** What the operator says of a number: whose it is, where its messages go, and the words that mean something. */
export interface NumberRule extends GivenOf<CarriedName> {
  readonly number: string;
  /** The account's key. */
  readonly account: string;
  /** Where messages are pushed to; without it they wait to be fetched. */
  readonly forwardUrl?: string;
  readonly contentType?: (typeof INCOMING_FORMS)[number];
  /** Words that are told to the client as the message's keyword. */
  readonly keywords?: readonly string[];
  /** The same, and the sender gets nothing more from this account. */
  readonly stopKeywords?: readonly string[];
  /** The same, and the sender is taken off that list again. */
  readonly startKeywords?: readonly string[];
}

/** A message, or a part of one, that a phone sent to a number of ours. */
export interface IncomingPart {
  /** Both without a plus sign. */
  readonly from: string;
  readonly to: string;
  /** What it says by itself; the hex of what is no text. */
  readonly text: string;
  /** Its octets, if they are no text, or if a character may go on in another part: then these count, and not the text. */
  readonly octets?: ReceivedOctets;
  /** The reference tells messages of one phone apart, and only that: those of different widths are never the same number here. */
  readonly concatenation: Concatenation | null;
  /** The carrier's own id, where it has one: what comes again under it is no second message. */
  readonly carrierMessageId?: string;
  readonly atMs: number;
}

/** Where a part belongs, or null for one that is a message by itself. */
export function placeOf(concatenation: Concatenation | null): Concatenation | null {
  if (concatenation === null || concatenation.total < 2) return null;
  // 23.040 §9.2.3.24.1: a part numbered 0, or beyond the number of parts, is read as if the header were not there.
  const { sequence, total } = concatenation;
  return sequence >= 1 && sequence <= total ? concatenation : null;
}

/** What a part says: its octets, or its text where nothing of it can be cut. */
export type PartContent = string | ReceivedOctets;

export interface PlacedPart {
  readonly sequence: number;
  readonly content: PartContent;
}

export interface JoinedParts {
  /** Of octets that are no text, their hex. */
  readonly text: string;
  /** How a client would send these octets; null for a text. */
  readonly binary: OctetEncoding | null;
}

/** Some phones cut characters in two, so parts are joined before they are read. They are in order; some may be missing. */
export function joinParts(parts: readonly PlacedPart[]): JoinedParts {
  const binaries = parts.flatMap(({ content }) => (isBinary(content) ? [content] : []));
  const [first] = binaries;
  if (first === undefined || binaries.length < parts.length) return { text: joinTexts(parts), binary: null };
  // Every part has a header of its own, which says the same.
  const text = first.header + binaries.map(({ hex }) => hex).join("");
  const esmClass = first.header === "" ? 0 : HEADER_BIT;
  return { text, binary: { dataCoding: first.dataCoding, esmClass } };
}

/** Where a part is missing, what stands on both sides of it does not belong together. */
function joinTexts(parts: readonly PlacedPart[]): string {
  const stretches: PlacedPart[][] = [];
  for (const part of parts) {
    const stretch = stretches.at(-1);
    if (stretch?.at(-1)?.sequence === part.sequence - 1) stretch.push(part);
    else stretches.push([part]);
  }
  return stretches.map((stretch) => tidied(textOfStretch(stretch.map(({ content }) => content)))).join("");
}

/** What is half a surrogate pair even now becomes the replacement character, and NUL, which is padding where it comes at all, goes. */
function tidied(text: string): string {
  return text.replaceAll("\0", "").toWellFormed();
}

function textOfStretch(contents: readonly PartContent[]): string {
  let text = "";
  let pieces: ReceivedText[] = [];
  for (const content of contents) {
    const piece = isText(content) ? content : null;
    if (piece === null || (pieces[0] !== undefined && !readAlike(pieces[0], piece))) {
      text += textOfPieces(pieces);
      pieces = [];
    }
    if (piece !== null) pieces.push(piece);
    else text += typeof content === "string" ? content : textOfReceived(content);
  }
  return text + textOfPieces(pieces);
}

function isBinary(content: PartContent): content is ReceivedBinary {
  return typeof content !== "string" && content.charset === "binary";
}

function isText(content: PartContent): content is ReceivedText {
  return typeof content !== "string" && content.charset !== "binary";
}

/** What stands before the first space; longer than any keyword with its punctuation, it is none. */
const FIRST_WORD = /^\s*(\S{1,64})(?=\s|$)/;
const AROUND_WORD = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;

/** As keywords are compared. */
export function inCapitals(word: string): string {
  return word.normalize("NFC").toUpperCase();
}

/** A text's first word, in capitals and without the punctuation around it; null where there is none. */
export function firstWord(text: string): string | null {
  const word = (FIRST_WORD.exec(text)?.[1] ?? "").replace(AROUND_WORD, "");
  return word === "" ? null : inCapitals(word);
}

export interface KeywordFound {
  /** The first word, in capitals, where it is a keyword of the number. */
  readonly keyword: string | null;
  /** Whether the sender wants nothing more, or wants it again. */
  readonly wish: "stop" | "start" | null;
}

export function readKeyword(text: string, rule: NumberRule): KeywordFound {
  const word = firstWord(text);
  const has = (words: readonly string[] = []) => words.some((keyword) => inCapitals(keyword) === word);
  if (word === null) return { keyword: null, wish: null };
  if (has(rule.stopKeywords)) return { keyword: word, wish: "stop" };
  if (has(rule.startKeywords)) return { keyword: word, wish: "start" };
  return { keyword: has(rule.keywords) ? word : null, wish: null };
}

/** The text after its first word. */
export function withoutKeyword(text: string): string {
  return text.replace(FIRST_WORD, "").trim();
}
