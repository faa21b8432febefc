/** Texts of strangers, and what every database can hold of them; and how many there are of something, in words. Pure. */

/** In place of what has no place: PostgreSQL holds no NUL, and no encoding half a surrogate pair. */
const REPLACEMENT = "\ufffd";

/** The text without what a database refuses, and no longer than so many characters. */
export function boundedText(text: string, maxLength = Number.POSITIVE_INFINITY): string {
  const clipped = text.length > maxLength ? text.slice(0, maxLength) : text;
  const whole = clipped.isWellFormed() ? clipped : clipped.toWellFormed();
  return whole.includes("\0") ? whole.replaceAll("\0", REPLACEMENT) : whole;
}

/** What a database refuses in a text, as the rest of a sentence about it. Null for what can be kept. */
export function textProblem(text: string): string | null {
  if (text.includes("\0")) return "has a NUL character";
  return text.isWellFormed() ? null : "has half of a surrogate pair";
}

/** "1 key", "2 keys" */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** What no shell takes for anything but a word. */
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** A text as one word of a command line that somebody is to paste. */
export function shellWord(text: string): string {
  return PLAIN_WORD.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
