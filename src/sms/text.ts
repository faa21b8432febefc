/**
 * The one way in for everything above SMPP: a client's text becomes what the phone shows, the encoding that carries it, and the number of parts
 * that it costs.
 */
import type { Encoding, LanguageCode } from "./encodings.ts";
import { type Measure, measure } from "./parts.ts";
import { type Transliteration, transliterate } from "./transliteration.ts";

export { type Encoding, LANGUAGE_CODES, type LanguageCode } from "./encodings.ts";
export { TRANSLITERATIONS, type Transliteration } from "./transliteration.ts";
export { decodeUserData, encodeParts, type UserData } from "./userdata.ts";

/** A longer text is refused. */
export const MAX_PARTS = 25;

export interface TextOptions {
  languageCode?: LanguageCode;
  /** Whether the language's single shift table may be used. Default true. */
  singleShift?: boolean;
  /** Whether its locking table may be used. Default false: a phone that does not know it shows every word wrong, not just an accent. */
  lockingShift?: boolean;
  transliteration?: Transliteration;
}

export interface PreparedText {
  /** After transliteration: what the phone shows. */
  text: string;
  encoding: Encoding;
  partCount: number;
  /** How many more characters of one unit fit before there is one part more. */
  charactersRemaining: number;
}

export function prepareText(text: string, options: TextOptions): PreparedText {
  const shown = options.transliteration === undefined ? text : transliterate(text, options.transliteration);
  const plain = measure(shown, "gsm7");
  if (plain !== undefined) return prepared(shown, "gsm7", plain);

  const best = options.languageCode === undefined ? undefined : fewestParts(shown, options.languageCode, options);
  if (best !== undefined) return best;
  // A lone surrogate has no form in UTF-8, so no store would give it back: the phone shows the replacement character.
  const wellFormed = shown.toWellFormed();
  return prepared(wellFormed, "ucs2", measure(wellFormed, "ucs2")!);
}

/**
 * Of the language's encodings that hold the text, the one with the fewest parts, the first of equals. UCS-2 need not compete: an escaped character
 * takes 14 bits, so even with both headers there is room for 73 of them in a part, and for 67 in UCS-2.
 */
function fewestParts(text: string, languageCode: LanguageCode, options: TextOptions): PreparedText | undefined {
  const { singleShift = true, lockingShift = false } = options;
  let best: PreparedText | undefined;
  for (const { encoding, single, locking } of NATIONAL_ENCODINGS[languageCode]) {
    if ((single && !singleShift) || (locking && !lockingShift)) continue;
    const measured = measure(text, encoding);
    if (measured === undefined || (best !== undefined && best.partCount <= measured.partCount)) continue;
    best = prepared(text, encoding, measured);
  }
  return best;
}

interface NationalEncoding {
  encoding: Encoding;
  single: boolean;
  locking: boolean;
}

/** The gentlest first: a phone that lacks a single shift table shows the plain letter, one that lacks a locking table shows nonsense. */
const NATIONAL_ENCODINGS: Readonly<Record<LanguageCode, readonly NationalEncoding[]>> = {
  TR: [
    { encoding: "gsm7+tr.s", single: true, locking: false },
    { encoding: "gsm7+tr.l", single: false, locking: true },
    { encoding: "gsm7+tr.ls", single: true, locking: true },
  ],
  ES: [{ encoding: "gsm7+es.s", single: true, locking: false }],
  PT: [
    { encoding: "gsm7+pt.s", single: true, locking: false },
    { encoding: "gsm7+pt.l", single: false, locking: true },
    { encoding: "gsm7+pt.ls", single: true, locking: true },
  ],
};

function prepared(text: string, encoding: Encoding, { partCount, charactersRemaining }: Measure): PreparedText {
  return { text, encoding, partCount, charactersRemaining };
}
