/** What operations read from the query. */
import { badField } from "./errors.ts";

export const DEFAULT_LIMIT = 50;
export const LARGEST_LIMIT = 1_000;

/** How many items an answer may have at most. */
export function readLimit(query: unknown): number {
  const { limit } = query as { limit?: unknown };
  if (limit === undefined) return DEFAULT_LIMIT;
  const value = typeof limit === "string" && /^\d{1,9}$/.test(limit) ? Number(limit) : 0;
  if (value < 1 || value > LARGEST_LIMIT) {
    throw badField("limit", `must be a whole number from 1 to ${LARGEST_LIMIT}`);
  }
  return value;
}
