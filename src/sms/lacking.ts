/**
 * Which characters of a text force it into UCS-2: those that no 7 bit alphabet has which the client allows. What a reader takes for one
 * character (a letter with its accents, a family of emoji) is one here.
 */
import { septetLength } from "./alphabets.ts";
import { ENCODINGS, type Encoding } from "./encodings.ts";
import { graphemes } from "./parts.ts";
import { MAX_TRANSLITERATED_LENGTH, mayUse, NATIONAL_ENCODINGS, type TextOptions } from "./prepared-text.ts";

/** A character and where it stands in the text, in UTF-16 units. */
export interface LackingCharacter {
  readonly index: number;
  readonly character: string;
}

/**
 * Those of the alphabet that lacks the fewest, in the order of the text; none where one has them all. A longer text than anybody can send is
 * looked at as far as one could.
 */
export function lackingCharacters(text: string, options: Omit<TextOptions, "transliteration">): LackingCharacter[] {
  const { languageCode } = options;
  const national = languageCode === undefined ? [] : NATIONAL_ENCODINGS[languageCode];
  const allowed: Encoding[] = ["gsm7", ...national.filter((encoding) => mayUse(encoding, options))];
  let fewest: LackingCharacter[] | null = null;
  for (const encoding of allowed) {
    const lacking = lackingIn(text.slice(0, MAX_TRANSLITERATED_LENGTH), encoding);
    if (fewest === null || lacking.length < fewest.length) fewest = lacking;
    if (lacking.length === 0) break;
  }
  return fewest!;
}

function lackingIn(text: string, encoding: Encoding): LackingCharacter[] {
  const { codes } = ENCODINGS[encoding].alphabet!;
  if (septetLength(text, codes) !== undefined) return [];
  const lacking: LackingCharacter[] = [];
  for (const { segment, index } of graphemes().segment(text))
    if (septetLength(segment, codes) === undefined) lacking.push({ index, character: segment });
  return lacking;
}
