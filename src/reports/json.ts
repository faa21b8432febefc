/** A report's body in JSON. */

/** Lone surrogates come out as \u escapes, so the body is always valid UTF-8. */
export function jsonBody(results: readonly object[], counts: object = {}): string {
  return JSON.stringify({ results, ...counts });
}
