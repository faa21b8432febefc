/**
 * What the scripts share: replacing letters by a table, keeping the case, and taking a letter and its combining accents
 * for one letter.
 */

/**
 * By UTF-16 unit: what the letter becomes. A capital that becomes several letters has only the first of them capital.
 */
export type LetterTable = readonly (string | undefined)[];

export type Replacement = readonly [letter: string, becomes: string];

/** A table from a list of letters and what they become. Of two for the same letter the later counts. */
function letterTable(replacements: Iterable<Replacement>): LetterTable {
  const byUnit = new Map<number, string>();
  for (const [letter, replacement] of replacements) {
    if (replacement.length > MAX_REPLACEMENT) throw new RangeError(`${replacement} is too long for ${letter}`);
    byUnit.set(letter.charCodeAt(0), replacement);
  }
  const table = new Array<string | undefined>(Math.max(...byUnit.keys()) + 1).fill(undefined);
  for (const [unit, replacement] of byUnit) table[unit] = replacement;
  return table;
}

/** The same, made when a text first needs it: together they are tens of thousands of places. */
export function lazyTable(replacements: () => Iterable<Replacement>): () => LetterTable {
  let table: LetterTable | undefined;
  return () => {
    table ??= letterTable(replacements());
    return table;
  };
}

/**
 * The result is collected as UTF-16 units and decoded once: joining thousands of one-letter strings costs twice as much
 * (95 against 47 µs for the 25 parts of a Cyrillic text). Decoding turns a lone surrogate into the replacement
 * character.
 */
export function replaceLetters(text: string, table: LetterTable): string {
  const source = ACCENT.test(text) ? composeLetters(text, table) : text;
  const result = new Uint16Array(source.length * MAX_REPLACEMENT);
  let length = 0;
  for (let index = 0; index < source.length; index++) {
    const unit = source.charCodeAt(index);
    const replacement = unit < 0x80 || unit >= table.length ? undefined : table[unit];
    if (replacement === undefined) {
      result[length++] = unit;
      continue;
    }
    const letters =
      replacement.length > 1 && isCapital(replacement.charAt(0)) ? inCase(replacement, source, index) : replacement;
    for (let at = 0; at < letters.length; at++) result[length++] = letters.charCodeAt(at);
  }
  return utf16.decode(result.subarray(0, length));
}

const MAX_REPLACEMENT = 4;
const utf16 = new TextDecoder("utf-16le", { ignoreBOM: true });

const ACCENT = /[\u0300-\u036f]/;
const ACCENTED = /\P{M}[\u0300-\u036f]+/gu;

/**
 * A letter of the table written as base and accents becomes that letter, without the accents that it has no composed
 * form for.
 */
function composeLetters(text: string, table: LetterTable): string {
  return text.replace(ACCENTED, (cluster) => {
    const composed = compose(cluster);
    return table[composed.charCodeAt(0)] === undefined ? cluster : composed.charAt(0);
  });
}

/**
 * Composes letters and accents (NFC). Sorting the accents of one letter takes the square of their number (2 s for
 * 64,000), so no more are looked at than the 30 of Unicode's stream-safe text format, which no language comes near.
 */
export function compose(text: string): string {
  return COMPOSABLE.test(text) ? text.replace(TOO_MANY_MARKS, "$1").normalize("NFC") : text;
}

/**
 * Marks, and all scripts but Latin, Greek and Cyrillic. Most texts have none of these and nothing to compose, which
 * this finds out at a twentieth of the cost.
 */
const COMPOSABLE = /[\u0300-\u036f]|[\u0483-\u0489]|[\u0530-\u1fff]|[\u20d0-\uffff]/;
const TOO_MANY_MARKS = /(\p{M}{30})\p{M}+/gu;

/**
 * The capital at this place became several letters: all of them are capital in a word of capitals, as its neighbours
 * tell. `Щука` is `Shchuka`, `ЩУКА` is `SHCHUKA`, and at the end of a word, `БОРЩ`, the letter before decides.
 */
function inCase(replacement: string, text: string, index: number): string {
  const next = text.charAt(index + 1);
  const decisive = isLetter(next) ? next : text.charAt(index - 1);
  return isCapital(decisive) ? replacement.toUpperCase() : replacement;
}

function isLetter(character: string): boolean {
  return character.toLowerCase() !== character.toUpperCase();
}

function isCapital(character: string): boolean {
  return character.toLowerCase() !== character;
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
