/**
 * Counting while one types, with the server's own code (src/sms). What transliterates has half a megabyte of tables: it is fetched when a text
 * first needs it, and until then such a text is counted as it stands.
 */
import { countOctets } from "../../../../src/sms/body.ts";
import { LANGUAGE_CODES, type LanguageChoice, type LanguageCode } from "../../../../src/sms/encodings.ts";
import { type LackingCharacter, lackingCharacters } from "../../../../src/sms/lacking.ts";
import { capacity, measure } from "../../../../src/sms/parts.ts";
import { MAX_PARTS, type PreparedText, prepareWith, type TextOptions } from "../../../../src/sms/prepared-text.ts";
import type { Transliteration } from "../../../../src/sms/transliteration/names.ts";

export type Transliterate = (text: string, transliteration: Transliteration) => string;

/** Loads what transliterates, once. */
export async function loadTransliteration(): Promise<Transliterate> {
  return (await import("../../../../src/sms/transliteration.ts")).transliterate;
}

/** How a carrier takes texts. */
export interface CarrierAlphabet {
  readonly id: string;
  readonly alphabet: string;
  readonly missingLetters: string;
}

export type PartsOver = (prepared: PreparedText, carrier: CarrierAlphabet) => number;

/** Whether a carrier writes texts in an alphabet that has less than GSM, in which they may take more parts. */
export const hasSmallAlphabet = ({ alphabet }: CarrierAlphabet): boolean =>
  alphabet === "latin1" || alphabet === "ascii";

/** Loads what counts a text as such a carrier would send it, once. */
export async function loadWriting(): Promise<PartsOver> {
  const { bodyFor } = await import("../../../../src/sms/writing.ts");
  return ({ text, encoding, partCount }, { alphabet, missingLetters }) => {
    const body = bodyFor({ text, encoding }, { alphabet, missingLetters } as Parameters<typeof bodyFor>[1]);
    return typeof body.encoding === "string" ? (measure(body.text, body.encoding)?.partCount ?? partCount) : partCount;
  };
}

export interface Count extends PreparedText {
  /** How many characters of one unit the parts hold that there are now. */
  readonly room: number;
  readonly tooLong: boolean;
  readonly lacking: readonly LackingCharacter[];
}

export function countText(text: string, options: TextOptions, transliterate: Transliterate | null): Count {
  const { transliteration, ...plain } = options;
  const prepared = prepareWith(text, transliterate === null ? plain : options, transliterate ?? ((same) => same));
  const { alone, several } = capacity(prepared.encoding);
  return {
    ...prepared,
    room: prepared.partCount === 1 ? alone : several * prepared.partCount,
    tooLong: prepared.partCount > MAX_PARTS,
    // With a transliteration only those count that it leaves.
    lacking:
      prepared.encoding !== "ucs2"
        ? []
        : lackingCharacters(text, plain).filter(
            ({ character }) =>
              transliteration === undefined ||
              transliterate === null ||
              lackingCharacters(transliterate(character, transliteration), plain).length > 0,
          ),
  };
}

/** Each such character once, with how often it stands there. */
export function eachOnce(
  lacking: readonly LackingCharacter[],
): { readonly character: string; readonly times: number }[] {
  const times = new Map<string, number>();
  for (const { character } of lacking) times.set(character, (times.get(character) ?? 0) + 1);
  return [...times].map(([character, count]) => ({ character, times: count }));
}

/** The text with such characters replaced, and all others as they are. */
export function replaceLacking(
  text: string,
  lacking: readonly LackingCharacter[],
  transliterate: Transliterate,
): string {
  let replaced = "";
  let at = 0;
  for (const { index, character } of lacking) {
    replaced += text.slice(at, index) + transliterate(character, "NON_UNICODE");
    at = index + character.length;
  }
  return replaced + text.slice(at);
}

/** "U+2013", or several for what is made of several. */
export function codePoints(character: string): string {
  return Array.from(
    character,
    (point) => `U+${point.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`,
  ).join(" ");
}

const LANGUAGES: Readonly<Record<LanguageChoice, string>> = {
  TR: "Turkish",
  ES: "Spanish",
  PT: "Portuguese",
  AUTODETECT: "Whichever fits best",
  NONE: "None",
};

export const languageName = (code: LanguageChoice): string => LANGUAGES[code];

/** A language whose letters would carry the text in fewer parts. */
export function betterLanguage(
  text: string,
  count: Count,
  options: TextOptions,
): { readonly languageCode: LanguageCode; readonly partCount: number } | null {
  if (count.encoding !== "ucs2" || (options.languageCode ?? "NONE") !== "NONE") return null;
  for (const languageCode of LANGUAGE_CODES) {
    const other = prepareWith(text, { languageCode }, (same) => same);
    if (other.encoding !== "ucs2" && other.partCount <= count.partCount)
      return { languageCode, partCount: other.partCount };
  }
  return null;
}

const ENCODING_WORDS: Readonly<Record<string, string>> = {
  gsm7: "GSM",
  ucs2: "Unicode",
  tr: "GSM with Turkish letters",
  es: "GSM with Spanish letters",
  pt: "GSM with Portuguese letters",
};

export function encodingWords(encoding: PreparedText["encoding"]): string {
  return ENCODING_WORDS[encoding] ?? ENCODING_WORDS[encoding.slice(5, 7)] ?? encoding;
}

export type OctetsCount = { readonly parts: number; readonly octets: number } | { readonly problem: string };

/** The parts of octets, or what is wrong with them. */
export function countHex(hex: string, dataCoding: number, esmClass: number): OctetsCount {
  const digits = hex.replaceAll(" ", "");
  if (digits === "") return { parts: 0, octets: 0 };
  if (!/^[0-9a-fA-F]+$/.test(digits)) return { problem: "Only the digits 0 to 9 and a to f, and spaces." };
  if (digits.length % 2 !== 0) return { problem: "A digit is missing: each octet has two." };
  const parts = countOctets(digits, { dataCoding, esmClass });
  if (parts === "bad header")
    return { problem: "esmClass says that a header stands first, and these octets have none." };
  if (parts === "not to be cut") return { problem: "With a header of its own it must fit one part of 140 octets." };
  if (parts > MAX_PARTS) return { problem: `It takes ${parts} parts; at most ${MAX_PARTS} are sent.` };
  return { parts, octets: digits.length / 2 };
}
