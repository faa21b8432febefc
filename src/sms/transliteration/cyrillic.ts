/**
 * Cyrillic in Latin letters. Where the client does not name the language, one letter becomes the same in every one, because a text does not
 * say which language it is in and a name must not change from one message to the next: the letters that Russian has follow the English
 * (BGN/PCGN) custom, the others that of their own language. Serbian and Bulgarian, if named, are written as they write themselves in Latin.
 */
import anyAscii from "any-ascii";
import { capitalized, lazyTable, type Replacement, replaceLetters } from "./letters.ts";

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

/** Gaj's Latin alphabet without its accents, with which Serbian is written as often as in Cyrillic. A đ is written dj where there is none. */
const SERBIAN: Readonly<Record<string, string>> = { ж: "z", х: "h", ц: "c", ч: "c", ш: "s", ђ: "dj", ћ: "c", џ: "dz" };

/** The Transliteration Act of 2009, as passports, road signs and maps have it. */
const BULGARIAN: Readonly<Record<string, string>> = { х: "h", щ: "sht", ъ: "a", ь: "y" };

/** The Cyrillic block and its supplement. */
const FIRST = 0x0400;
const LAST = 0x052f;

export function* cyrillicReplacements(): Generator<Replacement> {
  for (let unit = FIRST; unit <= LAST; unit++) {
    const letter = String.fromCharCode(unit);
    // Letters of other languages (Kazakh, Tajik, …) as any-ascii has them; the block's combining marks go.
    yield [letter, /\p{L}/u.test(letter) ? anyAscii(letter) : ""];
  }
  yield* inBothCases(LETTERS);
  // Not a letter, but a sign that only Cyrillic keyboards have and that would make the whole text UCS-2.
  yield ["№", "No"];
}

function* inBothCases(letters: Readonly<Record<string, string>>): Generator<Replacement> {
  for (const [letter, becomes] of Object.entries(letters)) {
    yield [letter, becomes];
    yield [letter.toUpperCase(), capitalized(becomes)];
  }
}

const table = lazyTable(cyrillicReplacements);
const serbian = lazyTable(() => [...cyrillicReplacements(), ...inBothCases(SERBIAN)]);
const bulgarian = lazyTable(() => [...cyrillicReplacements(), ...inBothCases(BULGARIAN)]);

/**
 * Before an iotated vowel the hard sign is a Russian one, and silent (объект); elsewhere it is the Bulgarian vowel
 * (България).
 */
const SILENT_HARD_SIGN = /[ъЪ](?=[еёюяєїЕЁЮЯЄЇ])/g;

export function withoutSilentSigns(text: string): string {
  return text.replace(SILENT_HARD_SIGN, "");
}

export function latinFromCyrillic(text: string): string {
  return replaceLetters(withoutSilentSigns(text), table());
}

export function latinFromSerbian(text: string): string {
  return replaceLetters(text, serbian());
}

/** At the end of a word `ия` is written ia (София). */
const FINAL_IA = /(?<=[иИ])[яЯ](?![\p{L}\p{M}])/gu;
/** By the same act the country keeps its English name. */
const COUNTRY = /(?<![\p{L}\p{M}])([бБ])[ъЪ](?=(?:лгария|ЛГАРИЯ)(?![\p{L}\p{M}]))/gu;

export function latinFromBulgarian(text: string): string {
  const spelled = text
    .replace(COUNTRY, (found) => found.charAt(0) + (found.endsWith("ъ") ? "у" : "У"))
    .replace(FINAL_IA, (letter) => (letter === "я" ? "а" : "А"));
  return replaceLetters(spelled, bulgarian());
}
