/** Texts that make a regular expression try as many ways as it has: made of the pattern's own characters. */

/** What stands for a class of characters. */
const MEMBERS: Readonly<Record<string, string>> = {
  "\\d": "1",
  "\\D": "a",
  "\\w": "a",
  "\\W": " ",
  "\\s": " ",
  "\\S": "a",
  "\\n": "\n",
  "\\r": "\r",
  "\\t": "\t",
};
const PROPERTIES: readonly (readonly [RegExp, string])[] = [
  [/^\\p\{M/, "\u0301"],
  [/^\\p\{L/, "é"],
  [/^\\p\{N/, "1"],
  [/^\\p\{C/, "\u0007"],
  [/^\\P\{/, "~"],
  [/^\\p\{/, "😀"],
];
const ALWAYS = ["a", "1", "0", " ", "\n", "-", ":", "é"];
const PIECES = /\\[pP]\{[^}]*\}|\\u\{[0-9a-fA-F]+\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\.|\{\d+(?:,\d*)?\}|[\s\S]/gu;
const SYNTAX = new Set([..."^$.*+?()[]{}|"]);

/** The character that a piece of a pattern stands for; null for syntax. */
function characterOf(piece: string): string | null {
  const property = PROPERTIES.find(([form]) => form.test(piece));
  if (property !== undefined) return property[1];
  if (/^\\[ux]/.test(piece)) return String.fromCodePoint(Number.parseInt(piece.replaceAll(/[^0-9a-fA-F]/g, ""), 16));
  if (/^\\[bB]$/.test(piece)) return null;
  if (piece.startsWith("\\")) return MEMBERS[piece] ?? piece.slice(1);
  if (SYNTAX.has(piece) || piece.startsWith("{")) return null;
  return piece;
}

/** Characters that the pattern names, and words of them as they stand in a row, up to whatever may be repeated or chosen. */
function namedIn(source: string): { characters: string[]; words: string[] } {
  const characters = new Set<string>();
  const words: string[] = [];
  let word = "";
  for (const [piece] of source.matchAll(PIECES)) {
    const character = characterOf(piece);
    if (character !== null) {
      characters.add(character);
      word += character;
    } else if (word !== "") {
      words.push(word);
      word = "";
    }
  }
  if (word !== "") words.push(word);
  return { characters: [...characters], words };
}

export interface Attack {
  readonly name: string;
  readonly text: (length: number) => string;
}

const MAX_CHARACTERS = 10;
const MAX_PREFIXES = 4;
const MAX_RUNS = 16;

/** Words that follow each other in the pattern, one to three of them. */
function runsOf(words: readonly string[]): string[] {
  const runs = words.flatMap((_, start) => [1, 2, 3].map((count) => words.slice(start, start + count).join("")));
  return [...new Set(runs)].slice(0, MAX_RUNS);
}

export function attacksOn({ source }: RegExp): Attack[] {
  const { characters, words } = namedIn(source);
  const singles = [...new Set([...characters.slice(0, MAX_CHARACTERS), ...ALWAYS])];
  const pairs = characters.slice(0, 4).flatMap((one) => singles.slice(0, 6).map((other) => one + other));
  const runs = runsOf(words);
  const prefixes = words.slice(0, MAX_PREFIXES).map((_, end) => words.slice(0, end + 1).join(""));
  const attack = (prefix: string, pump: string, suffix: string): Attack => ({
    name: `${JSON.stringify(prefix)}, then ${JSON.stringify(pump)} again and again, then ${JSON.stringify(suffix)}`,
    text: (length) => prefix + pump.repeat(Math.ceil(length / pump.length)) + suffix,
  });
  return [
    ...singles.flatMap((pump) => ["", "\n", "!", "a"].map((suffix) => attack("", pump, suffix))),
    ...[...pairs, ...runs].flatMap((pump) => ["", "\n"].map((suffix) => attack("", pump, suffix))),
    ...prefixes.flatMap((prefix) => [...singles, ...runs].map((pump) => attack(prefix, pump, "\n"))),
    ...singles.map((pump) => attack("a", pump, "a")),
  ];
}
