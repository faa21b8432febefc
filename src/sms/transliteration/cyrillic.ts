/**
 * Cyrillic in Latin letters. One letter becomes the same in every language, because a text does not say which language
 * it is in and a name must not change from one message to the next: the letters that Russian has follow the English
 * (BGN/PCGN) custom, the others that of their own language.
 */
import anyAscii from "any-ascii";
import { capitalized, type LetterTable, letterTable, replaceLetters } from "./letters.ts";

/** Small letters; capitals follow from them. */
const LETTERS: Readonly<Record<string, string>> = {
  // Russian, and most of Bulgarian, Ukrainian, Belarusian, Serbian and Macedonian. The soft sign has no sound of its
  // own.
  а: "a",
  б: "b",
  в: "v",
  г: "g",
  д: "d",
  е: "e",
  ё: "yo",
  ж: "zh",
  з: "z",
  и: "i",
  й: "y",
  к: "k",
  л: "l",
  м: "m",
  н: "n",
  о: "o",
  п: "p",
  р: "r",
  с: "s",
  т: "t",
  у: "u",
  ф: "f",
  х: "kh",
  ц: "ts",
  ч: "ch",
  ш: "sh",
  щ: "shch",
  ъ: "a",
  ы: "y",
  ь: "",
  э: "e",
  ю: "yu",
  я: "ya",
  // Ukrainian and Belarusian
  ґ: "g",
  є: "ye",
  і: "i",
  ї: "yi",
  ў: "u",
  // Serbian and Macedonian
  ђ: "dj",
  ј: "j",
  љ: "lj",
  њ: "nj",
  ћ: "c",
  џ: "dz",
  ѓ: "gj",
  ѕ: "dz",
  ќ: "kj",
};

/** The Cyrillic block and its supplement. */
const FIRST = 0x0400;
const LAST = 0x052f;

function* replacements(): Generator<[string, string]> {
  for (let unit = FIRST; unit <= LAST; unit++) {
    const letter = String.fromCharCode(unit);
    // Letters of other languages (Kazakh, Tajik, …) as any-ascii has them; the block's combining marks go.
    yield [letter, /\p{L}/u.test(letter) ? anyAscii(letter) : ""];
  }
  for (const [letter, replacement] of Object.entries(LETTERS)) {
    yield [letter, replacement];
    yield [letter.toUpperCase(), capitalized(replacement)];
  }
  // Not a letter, but a sign that only Cyrillic keyboards have and that would make the whole text UCS-2.
  yield ["№", "No"];
}

const table: LetterTable = letterTable(replacements());

/**
 * Before an iotated vowel the hard sign is a Russian one, and silent (объект); elsewhere it is the Bulgarian vowel
 * (България).
 */
const SILENT_HARD_SIGN = /[ъЪ](?=[еёюяєїЕЁЮЯЄЇ])/g;

export function latinFromCyrillic(text: string): string {
  return replaceLetters(text.replace(SILENT_HARD_SIGN, ""), table);
}
