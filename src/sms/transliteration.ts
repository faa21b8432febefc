/** Turns a text into one that the GSM alphabet holds. */
import anyAscii from "any-ascii";
import { isGsm } from "./alphabets.ts";

export const TRANSLITERATIONS = ["TURKISH", "GREEK", "CYRILLIC", "CENTRAL_EUROPEAN", "NON_UNICODE"] as const;
export type Transliteration = (typeof TRANSLITERATIONS)[number];

export function transliterate(text: string, transliteration: Transliteration): string {
  if (transliteration !== "NON_UNICODE") return text;
  return Array.from(text, (character) => (isGsm(character) ? character : anyAscii(character) || "?")).join("");
}
