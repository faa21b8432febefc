/** Whether a name is another one that somebody has mistyped. */

/** Shorter names are taken for near only where nothing but case and signs differ: half of all words look like "to". */
const MIN_EDITED = 4;

/** A name without what people write differently and mean the same by. */
export function folded(name: string): string {
  return name.replaceAll(/[-_]/g, "").toLowerCase();
}

/** Whether the two are one by a letter more, less, another one, or two that have changed places. Both are folded. */
export function isNearly(written: string, known: string): boolean {
  return Math.min(written.length, known.length) >= MIN_EDITED && isOneEdit(written, known);
}

/** Linear: what both begin and end with is the same, and looked at once. */
function isOneEdit(one: string, other: string): boolean {
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start++;
  let end = 0;
  while (end < shorter - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end++;
  const a = one.slice(start, one.length - end);
  const b = other.slice(start, other.length - end);
  if (a.length <= 1 && b.length <= 1) return true;
  return a.length === 2 && b.length === 2 && a[0] === b[1] && a[1] === b[0];
}
