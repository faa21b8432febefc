/**
 * Latin letters with the accents of some languages, without them where the GSM alphabet lacks the accented letter. What it has
 * (Ä Ö Ü É Ñ Ç ß ä ö ü é à ñ) stays, and is listed for the sake of texts that write it as a letter and a combining accent.
 */
import { lazyTable, type Replacement, replaceLetters } from "./letters.ts";

/** By what they become: the letters. */
type Groups = Readonly<Record<string, string>>;

function* replacementsOf(groups: Groups): Generator<Replacement> {
  for (const [becomes, letters] of Object.entries(groups)) for (const letter of letters) yield [letter, becomes];
}

/** The plain i is listed because lowercasing İ outside a Turkish locale makes an i with a combining dot. */
const TURKISH: Groups = {
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
};

/**
 * The letters of ISO 8859-2 (Albanian, Croatian, Czech, German, Hungarian, Polish, Romanian, Slovak, Slovene, Sorbian),
 * and the comma below that Romanian took in place of its cedilla.
 */
const CENTRAL_EUROPEAN: Groups = {
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
};

/** Lithuanian, Latvian with its older Ō and Ŗ, and Estonian. */
const BALTIC: Groups = {
  A: "ĀĄ",
  a: "āą",
  Ä: "Ä",
  ä: "ä",
  C: "Č",
  c: "č",
  E: "ĒĖĘ",
  e: "ēėę",
  G: "Ģ",
  g: "ģ",
  I: "ĪĮ",
  i: "īį",
  K: "Ķ",
  k: "ķ",
  L: "Ļ",
  l: "ļ",
  N: "Ņ",
  n: "ņ",
  O: "ŌÕ",
  o: "ōõ",
  Ö: "Ö",
  ö: "ö",
  R: "Ŗ",
  r: "ŗ",
  S: "Š",
  s: "š",
  U: "ŪŲ",
  u: "ūų",
  Ü: "Ü",
  ü: "ü",
  Z: "Ž",
  z: "ž",
};

/** And the ordinals (1.ª, n.º), which one would hardly think of as not GSM. */
const PORTUGUESE: Groups = {
  A: "ÁÂÃÀ",
  a: "áâãª",
  à: "à",
  c: "ç",
  Ç: "Ç",
  E: "Ê",
  e: "ê",
  É: "É",
  é: "é",
  I: "Í",
  i: "í",
  O: "ÓÔÕ",
  o: "óôõº",
  U: "Ú",
  u: "ú",
  Ü: "Ü",
  ü: "ü",
};

/** Spanish as it is written in Colombia: É Ñ Ü ¡ ¿ are GSM. */
const COLOMBIAN: Groups = {
  A: "Á",
  a: "áª",
  É: "É",
  é: "é",
  I: "Í",
  i: "í",
  Ñ: "Ñ",
  ñ: "ñ",
  O: "Ó",
  o: "óº",
  U: "Ú",
  u: "ú",
  Ü: "Ü",
  ü: "ü",
};

/** A letter that several of these languages have becomes the same in all of them. */
export function accentedReplacements(): Replacement[] {
  return [TURKISH, CENTRAL_EUROPEAN, BALTIC, PORTUGUESE, COLOMBIAN].flatMap((groups) => [...replacementsOf(groups)]);
}

function withoutAccents(groups: Groups): (text: string) => string {
  const table = lazyTable(() => replacementsOf(groups));
  return (text) => replaceLetters(text, table());
}

export const withoutTurkishAccents = withoutAccents(TURKISH);
export const withoutCentralEuropeanAccents = withoutAccents(CENTRAL_EUROPEAN);
export const withoutBalticAccents = withoutAccents(BALTIC);
export const withoutPortugueseAccents = withoutAccents(PORTUGUESE);
export const withoutColombianAccents = withoutAccents(COLOMBIAN);
