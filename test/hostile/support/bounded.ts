/** Regular expressions that may be as they are. */

/** Worse than linear, but of a text that is bounded before: its file, the pattern, and that bound, which stands beside it in the source. */
export const BOUNDED: readonly (readonly [file: string, pattern: string, maxLength: number])[] = [
  ["src/money/amounts.ts", "/0+$/", 6],
  ["src/message/incoming.ts", "/^[^\\p{L}\\p{N}]+|[^\\p{L}\\p{N}]+$/gu", 64],
];
