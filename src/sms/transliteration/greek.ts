/**
 * Greek in the GSM alphabet, which has those ten Greek capitals that do not look like a Latin letter. So every capital
 * has its exact image there, and no small letter has. Therefore, word by word:
 * - without a small Greek letter, a word keeps its looks: `ΔΕΥΤΕΡΑ` keeps its Δ and takes the Latin E, Y, T, P and A;
 * - with one, it is written in Latin letters by ELOT 743 (ISO 843, transcription): `Δευτέρα` is `Deftera`.
 * A Greek letter in a formula (`Δt`) stays.
 */
import anyAscii from "any-ascii";
import { capitalized, compose, inCase } from "./letters.ts";

const ROMAN: Readonly<Record<string, string>> = {
  α: "a",
  β: "v",
  γ: "g",
  δ: "d",
  ε: "e",
  ζ: "z",
  η: "i",
  θ: "th",
  ι: "i",
  κ: "k",
  λ: "l",
  μ: "m",
  ν: "n",
  ξ: "x",
  ο: "o",
  π: "p",
  ρ: "r",
  σ: "s",
  ς: "s",
  τ: "t",
  υ: "y",
  φ: "f",
  χ: "ch",
  ψ: "ps",
  ω: "o",
};

/** Those that the GSM alphabet has, and Latin letters that look the same. */
const CAPITALS = "ΓΔΘΛΞΠΣΦΨΩΑΒΕΖΗΙΚΜΝΟΡΤΥΧ";
const LOOK_ALIKES = "ΓΔΘΛΞΠΣΦΨΩABEZHIKMNOPTYX";

/** A Greek letter, whatever its accents and breathings. */
interface GreekLetter {
  /** Without its marks, and small. */
  small: string;
  isCapital: boolean;
  hasMarks: boolean;
  hasDiaeresis: boolean;
  lookAlike: string;
  roman: string;
}

const LETTERS: ReadonlyMap<string, GreekLetter> = new Map(
  [...lettersBetween(0x0370, 0x03ff), ...lettersBetween(0x1f00, 0x1fff)].map((letter) => [letter, describe(letter)]),
);

function lettersBetween(first: number, last: number): string[] {
  const characters = Array.from({ length: last - first + 1 }, (_, offset) => String.fromCharCode(first + offset));
  return characters.filter((character) => /\p{L}/u.test(character));
}

function describe(letter: string): GreekLetter {
  const [base = "", ...marks] = letter.normalize("NFD");
  const small = base.toLowerCase();
  const isCapital = base !== small;
  const roman = ROMAN[small] ?? anyAscii(small);
  return {
    small,
    isCapital,
    hasMarks: marks.length > 0,
    hasDiaeresis: marks.includes("\u0308"),
    lookAlike: LOOK_ALIKES.charAt(CAPITALS.indexOf(base)) || anyAscii(base),
    roman: isCapital ? capitalized(roman) : roman,
  };
}

const GREEK = /[\u0370-\u03ff\u1f00-\u1fff]/;
const WORD = /[\p{L}\p{M}]+/gu;
const ACCENTS = /[\u0300-\u036f]/;

export function gsmFromGreek(text: string): string {
  return GREEK.test(text) ? text.replace(WORD, gsmWord) : text;
}

function gsmWord(word: string): string {
  if (!GREEK.test(word)) return word;
  const characters = compose(word);
  // By UTF-16 unit, as the indexes below count.
  const letters = characters.split("").map((unit) => LETTERS.get(unit));
  const isRoman = letters.some((letter) => letter !== undefined && !letter.isCapital);
  let result = "";
  let isAfterGreek = false;
  for (const [index, letter] of letters.entries()) {
    const character = characters.charAt(index);
    // An accent that has no composed form with its Greek letter goes.
    if (isAfterGreek && ACCENTS.test(character)) continue;
    isAfterGreek = letter !== undefined;
    if (letter === undefined) result += character;
    else if (isRoman) result += romanLetter(letter, letters, characters, index);
    else result += letter.lookAlike;
  }
  return result;
}

function romanLetter(
  letter: GreekLetter,
  letters: readonly (GreekLetter | undefined)[],
  word: string,
  index: number,
): string {
  const special = inContext(letter, letters, index);
  if (special !== undefined) return letter.isCapital ? special.toUpperCase() : special;
  return letter.isCapital && letter.roman.length > 1 ? inCase(letter.roman, word, index) : letter.roman;
}

/** What a letter becomes because of those beside it, if that is not what it becomes alone. */
function inContext(
  letter: GreekLetter,
  letters: readonly (GreekLetter | undefined)[],
  index: number,
): string | undefined {
  const before = letters[index - 1];
  const after = letters[index + 1];
  // αυ, ευ, ηυ and ου are one sound unless a mark says otherwise: a diaeresis on the υ, or the accent on the vowel
  // before.
  if (letter.small === "υ" && before !== undefined && !letter.hasDiaeresis && !before.hasMarks) {
    if (before.small === "ο") return "u";
    if ("αεη".includes(before.small)) return after === undefined || "θκξπσςτφχψ".includes(after.small) ? "f" : "v";
  }
  if (letter.small === "γ" && after !== undefined && "γξχ".includes(after.small)) return "n";
  // A word's first and last μπ is a b, written for the μ; the π then adds nothing.
  if (letter.small === "μ" && after?.small === "π" && isOuterPair(letters, index)) return "b";
  if (letter.small === "π" && before?.small === "μ" && isOuterPair(letters, index - 1)) return "";
  return undefined;
}

function isOuterPair(letters: readonly unknown[], index: number): boolean {
  return index === 0 || index + 2 === letters.length;
}
