/** A text in pieces: what is shown as it is, what made it Unicode, and what cannot be seen or turns the writing around. Pure. */
import { isGsm } from "../../../../src/sms/alphabets.ts";

export interface Piece {
  readonly text: string;
  readonly kind: "plain" | "guilty" | "unseen";
}

const NAMES: Readonly<Record<string, string>> = {
  "\u00a0": "no-break space",
  "\u00ad": "soft hyphen",
  "\u061c": "Arabic letter mark",
  "\u180e": "Mongolian vowel separator",
  "\u200b": "zero width space",
  "\u200c": "zero width non-joiner",
  "\u200d": "zero width joiner",
  "\u200e": "left-to-right mark",
  "\u200f": "right-to-left mark",
  "\u2028": "line separator",
  "\u2029": "paragraph separator",
  "\u202a": "left-to-right embedding",
  "\u202b": "right-to-left embedding",
  "\u202c": "end of a direction",
  "\u202d": "left-to-right override",
  "\u202e": "right-to-left override",
  "\u202f": "narrow no-break space",
  "\u2060": "word joiner",
  "\u2066": "left-to-right isolate",
  "\u2067": "right-to-left isolate",
  "\u2068": "first strong isolate",
  "\u2069": "end of an isolate",
  "\ufe0e": "variation selector for text",
  "\ufe0f": "variation selector for emoji",
  "\ufeff": "byte order mark",
};
/** Letters and emoji are made of these: in a text they stay where they are. */
const JOINING: ReadonlySet<string> = new Set(["\u200c", "\u200d", "\ufe0e", "\ufe0f"]);

const isControl = (letter: string): boolean => {
  const code = letter.codePointAt(0)!;
  return letter !== "\n" && letter !== "\r" && (code < 0x20 || (code >= 0x7f && code < 0xa0));
};

/** The name of a letter that cannot be seen; null for all others. */
export function unseenName(letter: string): string | null {
  return NAMES[letter] ?? (isControl(letter) ? "control character" : null);
}

/** Guilty are letters that the GSM alphabet lacks; a text that is not Unicode has none. */
export function piecesOf(text: string, isUnicode: boolean): Piece[] {
  const found: { text: string; kind: Piece["kind"] }[] = [];
  for (const letter of text) {
    const isUnseen = unseenName(letter) !== null && !JOINING.has(letter);
    const kind = isUnseen ? "unseen" : isUnicode && !isGsm(letter) ? "guilty" : "plain";
    const last = found.at(-1);
    if (last !== undefined && last.kind === kind && !isUnseen) last.text += letter;
    else found.push({ text: letter, kind });
  }
  return found;
}

export const codeOf = (letter: string): string =>
  `U+${letter.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
