/**
 * Writes a text in the GSM alphabet, so that it costs fewer parts and every phone shows it. Each script's
 * transliteration turns its own letters and leaves everything else alone; NON_UNICODE turns all that is not GSM. A text
 * that is GSM already is never changed.
 */
import { isGsm } from "./alphabets.ts";
import { gsmFromScripts } from "./transliteration/all.ts";
import { latinFromBulgarian, latinFromCyrillic, latinFromSerbian } from "./transliteration/cyrillic.ts";
import { gsmFromGreek } from "./transliteration/greek.ts";
import {
  withoutBalticAccents,
  withoutCentralEuropeanAccents,
  withoutColombianAccents,
  withoutPortugueseAccents,
  withoutTurkishAccents,
} from "./transliteration/latin.ts";
import type { Transliteration } from "./transliteration/names.ts";
import { gsmFromAny } from "./transliteration/nonunicode.ts";

const RULES: Readonly<Record<Transliteration, (text: string) => string>> = {
  TURKISH: withoutTurkishAccents,
  GREEK: gsmFromGreek,
  CYRILLIC: latinFromCyrillic,
  SERBIAN_CYRILLIC: latinFromSerbian,
  BULGARIAN_CYRILLIC: latinFromBulgarian,
  CENTRAL_EUROPEAN: withoutCentralEuropeanAccents,
  BALTIC: withoutBalticAccents,
  PORTUGUESE: withoutPortugueseAccents,
  COLOMBIAN: withoutColombianAccents,
  NON_UNICODE: gsmFromAny,
  ALL: gsmFromScripts,
  NONE: (text) => text,
};

export function transliterate(text: string, transliteration: Transliteration): string {
  return isGsm(text) ? text : RULES[transliteration](text);
}
