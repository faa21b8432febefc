/**
 * The rules for messages that phones send to a number of ours: what an operator says of the number, how parts become a text, and
 * which word at its beginning is a keyword. Pure.
 */
import type { NotifyContentType } from "./message.ts";

/** What the operator says of a number: whose it is, where its messages go, and the words that mean something. */
export interface NumberRule {
  readonly number: string;
  /** The account's key. */
  readonly account: string;
  /** Where messages are pushed to; without it they wait to be fetched. */
  readonly forwardUrl?: string;
  readonly contentType?: NotifyContentType;
  /** Words that are told to the client as the message's keyword. */
  readonly keywords?: readonly string[];
  /** The same, and the sender gets nothing more from this account. */
  readonly stopKeywords?: readonly string[];
  /** The same, and the sender is taken off that list again. */
  readonly startKeywords?: readonly string[];
}

export interface Concatenation {
  readonly reference: number;
  readonly total: number;
  readonly sequence: number;
}

/** Where a part belongs, or null for one that is a message by itself. */
export function placeOf(concatenation: Concatenation | null): Concatenation | null {
  if (concatenation === null || concatenation.total < 2) return null;
  // 23.040 §9.2.3.24.1: a part numbered 0, or beyond the number of parts, is read as if the header were not there.
  const { sequence, total } = concatenation;
  return sequence >= 1 && sequence <= total ? concatenation : null;
}

/**
 * Some phones cut a surrogate pair in two, so parts are joined before anything is mended: what then still has no partner becomes the
 * replacement character, and NUL, which is padding where it comes at all, goes.
 */
export function joinTexts(texts: readonly string[]): string {
  return texts.join("").replaceAll("\0", "").toWellFormed();
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
