/**
 * Text of others on a terminal. What a terminal takes for commands (escape sequences that rename its window, move its cursor or answer for the
 * user), and what turns the direction of writing around, is written out: \u001b. In JSON that means the same.
 */

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

// C0, DEL, C1, the separators of lines and paragraphs, and the marks, embeddings, overrides and isolates of Unicode's bidirectional algorithm.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u2029\u202a-\u202e\u2066-\u2069]/g;

function writtenOut(letter: string): string {
  return SHORT[letter] ?? `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Text of ours in lines, with whatever stands in it. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (letter) => (letter === "\n" ? letter : writtenOut(letter)));
}

/** Text of others, which makes no line of its own. */
export function visibleLine(text: string): string {
  return text.replace(UNSEEN, writtenOut);
}
