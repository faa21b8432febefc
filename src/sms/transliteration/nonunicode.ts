/**
 * Any text in the GSM alphabet, so that it never goes out in UCS-2. Greek and Cyrillic by their own rules; an accented
 * letter loses as few accents as it must; a sign or a letter of another script becomes what any-ascii has for it;
 * invisible characters go; the rest becomes a question mark.
 */
import anyAscii from "any-ascii";
import { GSM_CHARACTERS, isGsm } from "../alphabets.ts";
import { latinFromCyrillic } from "./cyrillic.ts";
import { gsmFromGreek } from "./greek.ts";
import { compose } from "./letters.ts";

const NO_COUNTERPART = "?";

/** Where any-ascii has nothing, or what reads badly in a message. */
const SIGNS: ReadonlyMap<string, string> = new Map([
  ["\t", " "],
  ["\v", "\n"],
  ["\u0085", "\n"],
  ["\u2028", "\n"],
  ["\u2029", "\n"],
  ["`", "'"],
  ["«", '"'],
  ["»", '"'],
  ["‹", "'"],
  ["›", "'"],
  ["″", '"'],
  ["·", "."],
  ["±", "+/-"],
  ["×", "x"],
  ["→", "->"],
  ["←", "<-"],
  ["ا", "a"],
  ["ـ", ""],
  ["ー", "-"],
]);

/** Emoji with a form that people type. */
const EMOTICONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ":)": "🙂😀😃😄😊☺😇🤗",
    ":D": "😁😆😂🤣😅",
    ";)": "😉😜",
    ":P": "😛😝😋",
    "B)": "😎",
    ":*": "😘😗😙😚",
    "<3": "❤♥💙💚💛💜🧡🖤🤍🤎💗💖💕💓💞💘💝😍🥰❣",
    "</3": "💔",
    ":(": "🙁☹😞😟😔😕😠😡",
    ":'(": "😢😭😥",
    ":O": "😮😯😲😱",
    ":|": "😐😑",
    ":/": "😒🫤",
    "+1": "👍",
    "-1": "👎",
    v: "✔✅☑",
    x: "✖❌❎",
    "!": "❗❕⚠",
    "->": "➡",
    "<-": "⬅",
    "*": "⭐🌟✨",
  }).flatMap(([text, emoji]) => Array.from(emoji, (each) => [each, text] as const)),
);

/** An emoji with its skin tone and variation, and those joined to it: a family is one picture. */
const EMOJI = (() => {
  const one = "\\p{Extended_Pictographic}(?:\\p{Emoji_Modifier}|\\ufe0f)*";
  return new RegExp(`${one}(?:\\u200d${one})*`, "gu");
})();

/** any-ascii has `:rocket:` for 🚀: eight characters of the customer's message for one. */
const SHORT_NAME = /^:\w+:$/;

const NOT_GSM = new RegExp(`[^${GSM_CHARACTERS.replace(/[\\\]^-]/g, "\\$&")}]`, "gu");
const MARK = /\p{M}/u;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

export function gsmFromAny(text: string): string {
  const letters = latinFromCyrillic(gsmFromGreek(compose(text)));
  return isGsm(letters) ? letters : letters.replace(EMOJI, emojiText).replace(NOT_GSM, counterpart);
}

/** What characters became before. Texts repeat theirs, and to work one out takes a microsecond or two. */
const remembered = new Map<string, string>();
/** A megabyte or so. */
const MAX_REMEMBERED = 20_000;

function emojiText(emoji: string): string {
  const [first = ""] = emoji;
  return EMOTICONS.get(first) ?? (asciiOf(first) || NO_COUNTERPART);
}

function counterpart(character: string): string {
  const before = remembered.get(character);
  if (before !== undefined) return before;
  const found = findCounterpart(character);
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  remembered.set(character, found);
  return found;
}

function findCounterpart(character: string): string {
  if (INVISIBLE.test(character)) return "";
  const known = SIGNS.get(character) ?? withFewerAccents(character);
  if (known !== undefined) return known;
  return asciiOf(character) || (MARK.test(character) ? "" : NO_COUNTERPART);
}

/** What any-ascii has, or nothing. A control character it leaves as it is. */
function asciiOf(character: string): string {
  const ascii = anyAscii(character).replaceAll("`", "'");
  return isGsm(ascii) && !SHORT_NAME.test(ascii) ? ascii : "";
}

/** `ǿ` is `ø` and `ế` is `e`: the accents go from the outside in, until the alphabet has what is left. */
function withFewerAccents(character: string): string | undefined {
  const [base = "", ...marks] = character.normalize("NFD");
  while (marks.pop() !== undefined) {
    const left = (base + marks.join("")).normalize("NFC");
    if (isGsm(left)) return left;
  }
  return undefined;
}
