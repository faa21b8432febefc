/**
 * How a text is prepared and counted, with the transliteration handed in: its tables are half a megabyte, and the browser loads them when a
 * text needs them. The server has them at hand (text.ts).
 */
import { ENCODING_NAMES, ENCODINGS, type Encoding, type LanguageChoice } from "./encodings.ts";
import { capacity, type Measure, measure } from "./parts.ts";
import type { Transliteration } from "./transliteration/names.ts";

/** A longer text is refused. */
export const MAX_PARTS = 25;

export interface TextOptions {
  languageCode?: LanguageChoice | undefined;
  /**
   * Whether the language's single shift table may be used. Default true. Both false are as if absent: clients that always say all they know
   * send them beside the language whose table they want.
   */
  singleShift?: boolean | undefined;
  /**
   * Whether its locking table may be used. Default false, but for AUTODETECT: a phone that does not know it shows every word wrong, not
   * just an accent.
   */
  lockingShift?: boolean | undefined;
  transliteration?: Transliteration | undefined;
}

export interface PreparedText {
  /** After transliteration: what the phone shows. */
  text: string;
  encoding: Encoding;
  partCount: number;
  /** How many more characters of one unit fit before there is one part more. */
  charactersRemaining: number;
}

/** Every UTF-16 unit of a text takes a unit of its encoding at least, so as it stands no longer one fits: 25 times 153. */
export const MAX_TEXT_LENGTH = MAX_PARTS * Math.max(...ENCODING_NAMES.map((name) => capacity(name).several));
/**
 * A longer text is not transliterated, but counted as it stands, and refused. Transliteration drops some units: accents that stand apart
 * from their letter, soft signs, what joins several emoji into one. There is no bound to how many of these somebody could string together,
 * but in what people write there are two to a letter at most, as in Vietnamese written apart: three units become one.
 */
export const MAX_TRANSLITERATED_LENGTH = 3 * MAX_TEXT_LENGTH;

type Transliterate = (text: string, transliteration: Transliteration) => string;

export function prepareWith(text: string, options: TextOptions, transliterate: Transliterate): PreparedText {
  const plain = measure(text, "gsm7");
  if (plain !== undefined) return prepared(text, "gsm7", plain);
  if (options.transliteration === undefined || text.length > MAX_TRANSLITERATED_LENGTH) return smallest(text, options);
  const shown = transliterate(text, options.transliteration);
  const measured = measure(shown, "gsm7");
  return measured === undefined ? smallest(shown, options) : prepared(shown, "gsm7", measured);
}

/** The smallest encoding of a text that is not GSM. */
function smallest(text: string, options: TextOptions): PreparedText {
  const national = options.languageCode === undefined ? undefined : fewestParts(text, options.languageCode, options);
  if (national !== undefined) return national;
  // A lone surrogate has no form in UTF-8, so no store would give it back: the phone shows the replacement character.
  const wellFormed = text.toWellFormed();
  return prepared(wellFormed, "ucs2", measure(wellFormed, "ucs2")!);
}

/**
 * Of the language's encodings that hold the text, the one with the fewest parts, the first of equals. UCS-2 need not
 * compete: an escaped character takes 14 bits, so a part with both tables in its header holds at least 73 of them, and
 * 67 in UCS-2.
 */
function fewestParts(text: string, languageCode: LanguageChoice, options: TextOptions): PreparedText | undefined {
  let best: PreparedText | undefined;
  for (const encoding of NATIONAL_ENCODINGS[languageCode]) {
    if (!mayUse(encoding, options)) continue;
    const measured = measure(text, encoding);
    if (measured === undefined || (best !== undefined && best.partCount <= measured.partCount)) continue;
    best = prepared(text, encoding, measured);
  }
  return best;
}

/**
 * The gentlest first: a phone that lacks a single shift table shows the plain letter, one that lacks a locking table
 * shows nonsense.
 */
export const NATIONAL_ENCODINGS: Readonly<Record<LanguageChoice, readonly Encoding[]>> = {
  TR: ["gsm7+tr.s", "gsm7+tr.l", "gsm7+tr.ls"],
  ES: ["gsm7+es.s"],
  PT: ["gsm7+pt.s", "gsm7+pt.l", "gsm7+pt.ls"],
  AUTODETECT: ["gsm7+tr.s", "gsm7+es.s", "gsm7+pt.s", "gsm7+tr.l", "gsm7+pt.l", "gsm7+tr.ls", "gsm7+pt.ls"],
  NONE: [],
};

/** Whether the client allows the shift tables of an encoding. */
export function mayUse(encoding: Encoding, options: TextOptions): boolean {
  const { shifts } = ENCODINGS[encoding];
  const { languageCode, singleShift = true, lockingShift } = options;
  const areBothFalse = !singleShift && lockingShift === false;
  const mayShiftOnce = singleShift || areBothFalse;
  // Whoever leaves the table to us wants the fewest parts.
  const mayLock = languageCode === "AUTODETECT" ? lockingShift !== false || areBothFalse : lockingShift === true;
  return (shifts.singleShift === undefined || mayShiftOnce) && (shifts.lockingShift === undefined || mayLock);
}

function prepared(text: string, encoding: Encoding, { partCount, charactersRemaining }: Measure): PreparedText {
  return { text, encoding, partCount, charactersRemaining };
}
