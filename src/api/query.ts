/** What operations read from the query. */
import { parseDateTime } from "../schedule/date-time.ts";
import { refuseBadText } from "./body.ts";
import { badField } from "./errors.ts";

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 1_000;
/** Ids that one request may ask for. */
export const MAX_IDS = 500;
/** The longest thing that a query asks for is a URL. */
const MAX_TEXT = 2_048;

type Fields = Readonly<Record<string, unknown>>;

/** The query's fields, as texts or, where a name stands more than once, arrays of texts. */
export function fieldsOf(query: unknown): Fields {
  refuseBadText(query);
  return query as Fields;
}

/** A text that stands in the query at most once; null if it does not. */
export function readText(fields: Fields, name: string): string | null {
  const value = fields[name];
  if (value === undefined) return null;
  if (typeof value !== "string") throw badField(name, "must be given once");
  if (value === "") throw badField(name, "must not be empty");
  if (value.length > MAX_TEXT) throw badField(name, `must be at most ${MAX_TEXT} characters long`);
  return value;
}

/** One of these words. */
export function readWord<const Word extends string>(fields: Fields, name: string, words: readonly Word[]): Word | null {
  const value = readText(fields, name);
  const word = words.find((known) => known === value);
  if (value !== null && word === undefined) throw badField(name, `must be one of ${words.join(", ")}`);
  return word ?? null;
}

/** A text of this form; `says` tells which one that is. */
export function readForm(fields: Fields, name: string, form: RegExp, says: string): string | null {
  const value = readText(fields, name);
  if (value !== null && !form.test(value)) throw badField(name, says);
  return value;
}

/** A moment in milliseconds since 1970. A plus sign that was not escaped arrives as a space, and can be nothing else here. */
export function readMoment(fields: Fields, name: string): number | null {
  const value = readText(fields, name);
  if (value === null) return null;
  const atMs = parseDateTime(value.replace(" ", "+"));
  if (atMs === null) throw badField(name, "is not a date and time like 2026-02-12T09:58:20.323+0000");
  return atMs;
}

/** Ids, given again and again (as `name` or, by some clients, as `name[]`) or separated by commas; null if there are none. */
export function readIds(fields: Fields, name: string): string[] | null {
  const values = [fields[name] ?? [], fields[`${name}[]`] ?? []].flat();
  if (values.length === 0) return null;
  const ids = values.flatMap((value) => String(value).split(","));
  if (ids.includes("")) throw badField(name, "must not be empty");
  if (ids.length > MAX_IDS) throw badField(name, `must have at most ${MAX_IDS} items`);
  return ids;
}

/** How many items an answer may have at most. */
export function readLimit(query: unknown): number {
  const { limit } = query as { limit?: unknown };
  if (limit === undefined) return DEFAULT_LIMIT;
  const value = typeof limit === "string" && /^\d{1,9}$/.test(limit) ? Number(limit) : 0;
  if (value < 1 || value > MAX_LIMIT) {
    throw badField("limit", `must be a whole number from 1 to ${MAX_LIMIT}`);
  }
  return value;
}
