/**
 * Latin letters with the accents of Turkish and of the Central European languages, without them where the GSM alphabet
 * lacks the accented letter. What it has (Ä Ö Ü É Ç ß ä ö ü é) stays, and is listed for the sake of texts that write it
 * as a letter and a combining accent.
 */
import { type LetterTable, letterTable, replaceLetters } from "./letters.ts";

/** By what they become: the letters. */
type Groups = Readonly<Record<string, string>>;

function tableOf(groups: Groups): LetterTable {
  return letterTable(
    Object.entries(groups).flatMap(([becomes, letters]) => Array.from(letters, (letter) => [letter, becomes] as const)),
  );
}

/** The plain i is listed because lowercasing İ outside a Turkish locale makes an i with a combining dot. */
const turkish = tableOf({
  A: "Â",
  a: "â",
  c: "ç",
  Ç: "Ç",
  G: "Ğ",
  g: "ğ",
  I: "İÎ",
  i: "ıîi",
  Ö: "Ö",
  ö: "ö",
  S: "Ş",
  s: "ş",
  U: "Û",
  u: "û",
  Ü: "Ü",
  ü: "ü",
});

/**
 * The letters of ISO 8859-2 (Albanian, Croatian, Czech, German, Hungarian, Polish, Romanian, Slovak, Slovene, Sorbian),
 * and the comma below that Romanian took in place of its cedilla.
 */
const centralEuropean = tableOf({
  A: "ÁÂĂĄ",
  a: "áâăą",
  Ä: "Ä",
  ä: "ä",
  C: "ĆČ",
  c: "ćčç",
  Ç: "Ç",
  D: "ĎĐ",
  d: "ďđ",
  E: "ĘĚË",
  e: "ęěë",
  É: "É",
  é: "é",
  I: "ÍÎ",
  i: "íî",
  L: "ĹĽŁ",
  l: "ĺľł",
  N: "ŃŇ",
  n: "ńň",
  O: "ÓÔŐ",
  o: "óôő",
  Ö: "Ö",
  ö: "ö",
  R: "ŔŘ",
  r: "ŕř",
  S: "ŚŠŞȘ",
  s: "śšşș",
  T: "ŤŢȚ",
  t: "ťţț",
  U: "ÚŮŰ",
  u: "úůű",
  Ü: "Ü",
  ü: "ü",
  Y: "Ý",
  y: "ý",
  Z: "ŹŽŻ",
  z: "źžż",
});

export function withoutTurkishAccents(text: string): string {
  return replaceLetters(text, turkish);
}

export function withoutCentralEuropeanAccents(text: string): string {
  return replaceLetters(text, centralEuropean);
}
