/** The rules of every script and language at once, in one pass. What belongs to none of them stays, as with each of them. */
import { cyrillicReplacements, withoutSilentSigns } from "./cyrillic.ts";
import { greekReplacements } from "./greek.ts";
import { accentedReplacements } from "./latin.ts";
import { lazyTable, replaceLetters } from "./letters.ts";

const table = lazyTable(() => [...greekReplacements(), ...cyrillicReplacements(), ...accentedReplacements()]);

export function gsmFromScripts(text: string): string {
  return replaceLetters(withoutSilentSigns(text), table());
}
