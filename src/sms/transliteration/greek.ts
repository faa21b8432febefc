/**
 * Greek in the GSM alphabet, which has those ten Greek capitals that do not look like a Latin letter; the other fourteen look exactly like one.
 * So every Greek letter becomes its capital as it looks there, without accents, as Greek is written on signs and in most short messages:
 * `Καλημέρα` is `KAΛHMEPA`.
 */
import anyAscii from "any-ascii";
import { lazyTable, type Replacement, replaceLetters } from "./letters.ts";

/** Those that the GSM alphabet has, and Latin letters that look the same. */
const CAPITALS = "ΓΔΘΛΞΠΣΦΨΩΑΒΕΖΗΙΚΜΝΟΡΤΥΧ";
const LOOK_ALIKES = "ΓΔΘΛΞΠΣΦΨΩABEZHIKMNOPTYX";

/** Greek and Coptic, and the old spelling with its breathings. */
const BLOCKS = [
  [0x0370, 0x03ff],
  [0x1f00, 0x1fff],
] as const;

/** Not letters, but what only Greek keyboards write and what would make the whole text UCS-2. An accent before a capital goes with it. */
const SIGNS: readonly Replacement[] = [
  ["\u037e", ";"],
  ["\u0387", "."],
  ["\u0384", ""],
  ["\u0385", ""],
];

export function* greekReplacements(): Generator<Replacement> {
  for (const [first, last] of BLOCKS) {
    for (let unit = first; unit <= last; unit++) {
      const letter = String.fromCharCode(unit);
      if (/\p{L}/u.test(letter)) yield [letter, lookAlike(letter)];
    }
  }
  yield* SIGNS;
}

/** Letters that Greek has no longer, and those of Coptic, as any-ascii has them. */
function lookAlike(letter: string): string {
  const [base = ""] = letter.normalize("NFD");
  const capital = base.toUpperCase();
  return LOOK_ALIKES.charAt(CAPITALS.indexOf(capital)) || anyAscii(capital).toUpperCase();
}

const table = lazyTable(greekReplacements);
const ANY_GREEK = /[\u0370-\u03ff\u1f00-\u1fff]/;

export function gsmFromGreek(text: string): string {
  return ANY_GREEK.test(text) ? replaceLetters(text, table()) : text;
}
