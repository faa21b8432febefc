/**
 * The one way in for everything above SMPP: a client's text becomes what the phone shows, the encoding that carries it,
 * and the number of parts that it costs.
 */
import { type PreparedText, prepareWith, type TextOptions } from "./prepared-text.ts";
import { transliterate } from "./transliteration.ts";

export { type Encoding, LANGUAGE_CHOICES, type LanguageChoice } from "./encodings.ts";
export { MAX_PARTS, MAX_TEXT_LENGTH, type TextOptions } from "./prepared-text.ts";
export { TRANSLITERATIONS, type Transliteration } from "./transliteration/names.ts";
export { decodeUserData, encodeParts, type UserData } from "./userdata.ts";

export function prepareText(text: string, options: TextOptions): PreparedText {
  return prepareWith(text, options, transliterate);
}
