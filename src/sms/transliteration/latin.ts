/**
 * Latin letters with the accents of some languages, without them where the GSM alphabet lacks the accented letter. What it has
 * (Ä Ö Ü É Ñ Ç ß ä ö ü é à ñ) stays, and is listed for the sake of texts that write it as a letter and a combining accent.
 */
import anyAscii from "any-ascii";
import { isGsm } from "../alphabets.ts";
import { lazyTable, type Replacement, replaceLetters } from "./letters.ts";

/** The plain i is listed because lowercasing İ outside a Turkish locale makes an i with a combining dot. */
const TURKISH = "ÂâçÇĞğİÎıîiÖöŞşÛûÜü";

/**
 * The letters of ISO 8859-2 (Albanian, Croatian, Czech, German, Hungarian, Polish, Romanian, Slovak, Slovene, Sorbian),
 * and the comma below that Romanian took in place of its cedilla.
 */
const CENTRAL_EUROPEAN = "ÁÂĂĄáâăąÄäĆČćčçÇĎĐďđĘĚËęěëÉéÍÎíîĹĽŁĺľłŃŇńňÓÔŐóôőÖöŔŘŕřŚŠŞȘśšşșŤŢȚťţțÚŮŰúůűÜüÝýŹŽŻźžż";

/** Lithuanian, Latvian with its older Ō and Ŗ, and Estonian. */
const BALTIC = "ĀĄāąÄäČčĒĖĘēėęĢģĪĮīįĶķĻļŅņŌÕōõÖöŖŗŠšŪŲūųÜüŽž";

/** And the ordinals (1.ª, n.º), which one would hardly think of as not GSM. */
const PORTUGUESE = "ÁÂÃÀáâãªàçÇÊêÉéÍíÓÔÕóôõºÚúÜü";

/** Spanish as it is written in Colombia: É Ñ Ü ¡ ¿ are GSM. */
const COLOMBIAN = "ÁáªÉéÍíÑñÓóºÚúÜü";

function replacementsOf(letters: string): Replacement[] {
  return Array.from(letters, (letter) => [letter, isGsm(letter) ? letter : anyAscii(letter)]);
}

/** A letter that several of these languages have becomes the same in all of them. */
export function accentedReplacements(): Replacement[] {
  return replacementsOf(TURKISH + CENTRAL_EUROPEAN + BALTIC + PORTUGUESE + COLOMBIAN);
}

function withoutAccents(letters: string): (text: string) => string {
  const table = lazyTable(() => replacementsOf(letters));
  return (text) => replaceLetters(text, table());
}

export const withoutTurkishAccents = withoutAccents(TURKISH);
export const withoutCentralEuropeanAccents = withoutAccents(CENTRAL_EUROPEAN);
export const withoutBalticAccents = withoutAccents(BALTIC);
export const withoutPortugueseAccents = withoutAccents(PORTUGUESE);
export const withoutColombianAccents = withoutAccents(COLOMBIAN);
