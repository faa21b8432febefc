/** Texts of strangers, made so that every database can hold them. Pure. */

/** In place of what has no place: PostgreSQL holds no NUL, and no encoding half a surrogate pair. */
const REPLACEMENT = "\ufffd";

/** The text without what a database refuses, and no longer than so many characters. */
export function boundedText(text: string, maxLength = Number.POSITIVE_INFINITY): string {
  const clipped = text.length > maxLength ? text.slice(0, maxLength) : text;
  const whole = clipped.isWellFormed() ? clipped : clipped.toWellFormed();
  return whole.includes("\0") ? whole.replaceAll("\0", REPLACEMENT) : whole;
}
