/**
 * Cyrillic in Latin letters. Where the client does not name the language, one letter becomes the same in every one, because a text does not
 * say which language it is in and a name must not change from one message to the next: the letters that Russian has follow the English
 * (BGN/PCGN) custom, the others that of their own language. Serbian and Bulgarian, if named, are written as they write themselves in Latin.
 */
import anyAscii from "any-ascii";
import { capitalized, lazyTable, type Replacement, replaceLetters } from "./letters.ts";

/** Small letters, of which any-ascii has it otherwise; capitals follow from them. The soft sign has no sound of its own. */
const LETTERS: Readonly<Record<string, string>> = {
  ё: "yo",
  ъ: "a",
  ь: "",
  є: "ye",
  ї: "yi",
  џ: "dz",
  ѓ: "gj",
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
    // Most letters as any-ascii has them, of Russian as of Kazakh or Tajik; the block's combining marks go.
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
