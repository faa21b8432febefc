/**
 * Writes a text in the GSM alphabet, so that it costs fewer parts and every phone shows it. Each script's
 * transliteration turns its own letters and leaves everything else alone; NON_UNICODE turns all that is not GSM. A text
 * that is GSM already is never changed.
 */
import { isGsm } from "./alphabets.ts";
import { latinFromCyrillic } from "./transliteration/cyrillic.ts";
import { gsmFromGreek } from "./transliteration/greek.ts";
import { withoutCentralEuropeanAccents, withoutTurkishAccents } from "./transliteration/latin.ts";
import { gsmFromAny } from "./transliteration/nonunicode.ts";

export const TRANSLITERATIONS = ["TURKISH", "GREEK", "CYRILLIC", "CENTRAL_EUROPEAN", "NON_UNICODE"] as const;
export type Transliteration = (typeof TRANSLITERATIONS)[number];

const RULES: Readonly<Record<Transliteration, (text: string) => string>> = {
  TURKISH: withoutTurkishAccents,
  GREEK: gsmFromGreek,
  CYRILLIC: latinFromCyrillic,
  CENTRAL_EUROPEAN: withoutCentralEuropeanAccents,
  NON_UNICODE: gsmFromAny,
};

export function transliterate(text: string, transliteration: Transliteration): string {
  return isGsm(text) ? text : RULES[transliteration](text);
}
