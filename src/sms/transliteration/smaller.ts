/**
 * A GSM text in an alphabet that has less: Latin-1, which lacks the Greek capitals and the euro sign, or ASCII, which lacks accents too.
 * Currencies become their codes, so that a sum stays what it is; the rest becomes what any-ascii has for it.
 */
import anyAscii from "any-ascii";
import { GSM_CHARACTERS } from "../alphabets.ts";
import { type LetterTable, lazyTable, replaceLetters } from "./letters.ts";

/** Where any-ascii has what reads badly: a yen is no Y, and a currency that is not named is no dollar. */
const SIGNS: ReadonlyMap<string, string> = new Map([
  ["¥", "JPY"],
  ["¤", "?"],
]);

/** What becomes of all characters above this code. */
function tableAbove(lastCode: number): () => LetterTable {
  return lazyTable(() =>
    Array.from(GSM_CHARACTERS)
      .filter((character) => character.charCodeAt(0) > lastCode)
      .map((character) => [character, SIGNS.get(character) ?? anyAscii(character)] as const),
  );
}

const toLatin1 = tableAbove(0xff);
const toAscii = tableAbove(0x7f);

export function latin1FromGsm(text: string): string {
  return replaceLetters(text, toLatin1());
}

export function asciiFromGsm(text: string): string {
  return replaceLetters(text, toAscii());
}
