/**
 * How carriers differ in writing: what they take for the alphabet of a text, and of a sender's name. A text is counted and priced as its
 * carrier will send it, so what it becomes there is worked out here for both, by one function.
 */
import { DEFAULT_ALPHABET, isGsm, septetsOf } from "./alphabets.ts";
import { type Body, isOctets } from "./body.ts";
import { asciiFromGsm, latin1FromGsm } from "./transliteration/smaller.ts";

export const TEXT_ALPHABETS = ["gsm", "gsm packed", "latin1", "ascii"] as const;
export type TextAlphabet = (typeof TEXT_ALPHABETS)[number];

export const MISSING_LETTERS = ["transliterate", "ucs2"] as const;

export interface TextWriting {
  /** What the carrier takes data_coding 0 for. Default "gsm". */
  readonly alphabet?: TextAlphabet;
  /** What becomes of a GSM text with letters that this alphabet lacks. Default "transliterate". */
  readonly missingLetters?: (typeof MISSING_LETTERS)[number];
}

interface SmallAlphabet {
  /** A text that it can hold. */
  readonly holds: RegExp;
  /** Makes one of a GSM text. */
  readonly rewrite: (text: string) => string;
}

/**
 * Those in place of GSM, an octet a character. Of each, what GSM does not have is not used. A form feed is of all three: in GSM's extension it is the page
 * break, and a text is neither changed nor sent in UCS-2 for it.
 */
const SMALL_ALPHABETS: Readonly<Partial<Record<TextAlphabet, SmallAlphabet>>> = {
  latin1: { holds: /^[\n\f\r\x20-\x7e\xa0-\xff]*$/, rewrite: latin1FromGsm },
  ascii: { holds: /^[\n\f\r\x20-\x7e]*$/, rewrite: asciiFromGsm },
};

/** Whether every text goes to the carrier as it is. */
export function takesGsm({ alphabet = "gsm" }: TextWriting): boolean {
  return SMALL_ALPHABETS[alphabet] === undefined;
}

/**
 * The body as it goes to the carrier; the very same where nothing changes. A part for a smaller alphabet has as many characters as it has
 * in GSM, and an extension character counts as two there as well: so `gsm7` measures both.
 */
export function bodyFor(body: Body, { alphabet = "gsm", missingLetters = "transliterate" }: TextWriting): Body {
  const small = SMALL_ALPHABETS[alphabet];
  const { text, encoding } = body;
  if (small === undefined || encoding === "ucs2" || isOctets(encoding)) return body;
  if (encoding === "gsm7" && small.holds.test(text)) return body;
  if (encoding === "gsm7" && missingLetters === "transliterate") {
    const written = small.rewrite(text);
    if (small.holds.test(written)) return { text: written, encoding };
  }
  // A text with a language's table too: all carriers understand UCS-2.
  return { text, encoding: "ucs2" };
}

export const NAME_ALPHABETS = ["latin1", "gsm", "ascii"] as const;
export type NameAlphabet = (typeof NAME_ALPHABETS)[number];

export interface NameWriting {
  /** What the octets of a sender's name are. Default "latin1". */
  readonly nameAlphabet?: NameAlphabet;
}

/** Septets are all below 0x80. Written so that it works in a browser too. */
const ascii = new TextDecoder();

const LATIN1_NAME = /^[\x20-\x7e\xa0-\xff]*$/;
const ASCII_NAME = /^[\x20-\x7e]*$/;

const NAMES: Readonly<Record<NameAlphabet, (from: string) => string | null>> = {
  latin1: (from) => (LATIN1_NAME.test(from) ? from : null),
  ascii: (from) => (ASCII_NAME.test(from) ? from : null),
  gsm: (from) => {
    // The code of `@` is 0, which ends the field.
    if (!isGsm(from) || from.includes("@")) return null;
    return ascii.decode(septetsOf(from, DEFAULT_ALPHABET.codes));
  },
};

/** A sender as the octets of an SMPP address, which are the codes of these characters, or null where the alphabet lacks one of its letters. */
export function writtenSender(from: string, { nameAlphabet = "latin1" }: NameWriting): string | null {
  return NAMES[nameAlphabet](from);
}

/** Of all alphabets: ASCII but `@`. */
const PLAIN = /^[\x20-\x3f\x41-\x7e]*$/;

/** Says of a carrier whether it can write a sender. One whose writing is not known takes any. */
export type SenderFilter = (writing: NameWriting | undefined) => boolean;

/** Null for a sender that every carrier can write, as nearly all are. */
export function senderFilter(from: string): SenderFilter | null {
  if (PLAIN.test(from)) return null;
  const possible = new Set(NAME_ALPHABETS.filter((nameAlphabet) => writtenSender(from, { nameAlphabet }) !== null));
  return (writing) => writing === undefined || possible.has(writing.nameAlphabet ?? "latin1");
}
