/** A report's body in JSON. */
import type { ReportItem } from "./item.ts";

/** Lone surrogates come out as \u escapes, so the body is always valid UTF-8. */
export function jsonBody(results: readonly ReportItem[]): string {
  return JSON.stringify({ results });
}
