/**
 * The 7 bit alphabets of 3GPP TS 23.038: which characters have a code, and which code that is.
 *
 * A *septet* is one 7 bit code. An alphabet is a *locking* table of 128 characters, of one septet each, and a *single
 * shift* table whose characters cost two: the escape and a code. Each table is the default one or that of a language.
 */
import tables from "./data/gsm-alphabets.json" with { type: "json" };

export const ESCAPE = 0x1b;

export type LockingTable = keyof typeof tables.locking;
export type SingleShiftTable = keyof typeof tables.single;

/** In `codes`, what is escaped has this bit beside its code. */
export const ESCAPED = 0x80;
/**
 * In `codes`, a character that the alphabet does not have: an escape after an escape, which 23.038 §6.2.1.1 leaves
 * free.
 */
const ABSENT = ESCAPED | ESCAPE;

export interface Alphabet {
  /**
   * By UTF-16 unit: the code, with `ESCAPED` for one from the single shift table, or `ABSENT`. All 65,536 units have an
   * entry, so that the loops over a text need not check bounds: 0.18 µs for 160 characters instead of 0.37.
   */
  codes: Uint8Array;
  /** By code: the character. */
  locking: readonly string[];
  /** By the code that follows an escape: the character, or undefined. */
  single: readonly (string | undefined)[];
}

const alphabets = new Map<string, Alphabet>();

export function alphabetOf(locking: LockingTable, single: SingleShiftTable): Alphabet {
  const key = `${locking} ${single}`;
  let alphabet = alphabets.get(key);
  if (alphabet === undefined) {
    alphabet = buildAlphabet(locking, single);
    alphabets.set(key, alphabet);
  }
  return alphabet;
}

function buildAlphabet(lockingName: LockingTable, singleName: SingleShiftTable): Alphabet {
  const locking = Array.from(tables.locking[lockingName]);
  const single: (string | undefined)[] = new Array(128).fill(undefined);
  for (const [code, character] of Object.entries(tables.single[singleName])) single[Number(code)] = character;

  const codes = new Uint8Array(0x10000).fill(ABSENT);
  // The locking table last: a character that stands in both takes one septet and not two.
  for (const [code, character] of single.entries()) {
    if (character !== undefined) codes[character.charCodeAt(0)] = ESCAPED | code;
  }
  for (const [code, character] of locking.entries()) {
    if (code !== ESCAPE) codes[character.charCodeAt(0)] = code;
  }
  return { codes, locking, single };
}

/** The septets that the text takes in this alphabet, or undefined if it has a character that the alphabet has not. */
export function septetLength(text: string, codes: Uint8Array): number | undefined {
  let septets = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = codes[text.charCodeAt(index)]!;
    if (code >= ESCAPED) {
      if (code === ABSENT) return undefined;
      septets++;
    }
  }
  return septets;
}

/** The codes of a text that is known to fit the alphabet, one septet an octet. */
export function septetsOf(text: string, codes: Uint8Array): Uint8Array {
  const length = septetLength(text, codes);
  if (length === undefined) throw new RangeError("the text has a character outside its alphabet");
  const septets = new Uint8Array(length);
  let at = 0;
  for (let index = 0; index < text.length; index++) {
    const code = codes[text.charCodeAt(index)]!;
    if (code >= ESCAPED) septets[at++] = ESCAPE;
    septets[at++] = code & 0x7f;
  }
  return septets;
}

/**
 * The text of these septets, as 23.038 §6.2.1.1 has a phone show it: an escaped code that is not in the single shift
 * table shows the character of the locking table, and an escape that is followed by another, or by nothing, shows a
 * space.
 */
export function textOfSeptets(septets: Uint8Array, alphabet: Alphabet): string {
  let text = "";
  for (let index = 0; index < septets.length; index++) {
    const code = septets[index]! & 0x7f;
    if (code !== ESCAPE) {
      text += alphabet.locking[code]!;
      continue;
    }
    const escaped = septets[index + 1];
    if (escaped === undefined || (escaped & 0x7f) === ESCAPE) text += " ";
    else text += alphabet.single[escaped & 0x7f] ?? alphabet.locking[escaped & 0x7f]!;
    index++;
  }
  return text;
}

/** The GSM 7 bit default alphabet with its extension table. */
export const DEFAULT_ALPHABET = alphabetOf("default", "default");

/** Its characters, without the escape. */
export const GSM_CHARACTERS =
  tables.locking.default.replace("\x1b", "") + Object.values(tables.single.default).join("");

/** Whether every character is of the default alphabet or its extension table. */
export function isGsm(text: string): boolean {
  return septetLength(text, DEFAULT_ALPHABET.codes) !== undefined;
}
