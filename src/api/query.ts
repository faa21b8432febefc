/** What operations read from the query. */
import { parseDateTime, parseDayOrMoment } from "../schedule/date-time.ts";
import { plainPhone, plainSender } from "../sms/addresses.ts";
import type { PlatformFilter } from "../store/port/tracking.ts";
import { isDecodable, refuseBadText } from "./body-parsers.ts";
import { ApiError, badField } from "./errors.ts";

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 1_000;
/** Ids that one request may ask for. */
const MAX_IDS = 500;
/** The longest thing that a query asks for is a URL. */
const MAX_TEXT = 2_048;

export type Fields = Readonly<Record<string, unknown>>;

/** What cannot be decoded would be taken as it is written, and so be sent, looked for or kept with its percent signs. */
export function checkQuery(url: string): void {
  const mark = url.indexOf("?");
  if (mark < 0 || url.indexOf("%", mark) < 0) return;
  if (!isDecodable(url.slice(mark))) throw new ApiError("badRequest", "The query is not valid UTF-8.");
}

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

/** A phone's number. A plus sign that was not escaped arrives as a space. */
export function readPhone(fields: Fields, name: string): string | null {
  const value = readText(fields, name);
  return value === null ? null : plainPhone(value.trim());
}

/** A message's sender, which may be a number. */
export function readSender(fields: Fields, name: string): string | null {
  const value = readText(fields, name);
  return value === null ? null : plainSender(value.replace(/^ (?=\d)/, "+"));
}

/** One of these words. */
export function readWord<const Word extends string>(fields: Fields, name: string, words: readonly Word[]): Word | null {
  const value = readText(fields, name);
  const word = words.find((known) => known === value);
  if (value !== null && word === undefined) throw badField(name, `must be one of ${words.join(", ")}`);
  return word ?? null;
}

/** true or false; null if neither is there. */
export function readFlag(fields: Fields, name: string): boolean | null {
  const word = readWord(fields, name, ["true", "false"]);
  return word === null ? null : word === "true";
}

/** A text of this form; `says` tells which one that is. */
export function readForm(fields: Fields, name: string, form: RegExp, says: string): string | null {
  const value = readText(fields, name);
  if (value !== null && !form.test(value)) throw badField(name, says);
  return value;
}

/** A whole number from 1 up. */
export function readWhole(fields: Fields, name: string, most: number, usual: number): number {
  const says = `must be a whole number from 1 to ${most}`;
  const value = Number(readForm(fields, name, /^\d{1,3}$/, says) ?? usual);
  if (value < 1 || value > most) throw badField(name, says);
  return value;
}

/** A moment in milliseconds since 1970. A plus sign that was not escaped arrives as a space, and can be nothing else here. */
export function readMoment(fields: Fields, name: string): number | null {
  const value = readText(fields, name);
  return value === null ? null : momentIn(value.replace(" ", "+"), name);
}

/** The moment that a field says. */
export function momentIn(text: string, name: string): number {
  const atMs = parseDateTime(text);
  if (atMs === null) throw badField(name, "is not a date and time like 2026-02-12T09:58:20.323+0000");
  return atMs;
}

/** A moment, or a day, which is its beginning in UTC. */
export function readDay(fields: Fields, name: string): number | null {
  const value = readText(fields, name);
  if (value === null) return null;
  const atMs = parseDayOrMoment(value.replace(" ", "+"));
  if (atMs === null)
    throw badField(name, "is not a day like 2026-02-12, or a moment like 2026-02-12T09:58:20.323+0000");
  return atMs;
}

function valuesOf(fields: Fields, name: string): string[] {
  return [fields[name] ?? [], fields[`${name}[]`] ?? []].flat().map(String);
}

/** Ids, as a list. An id of a client's may have a comma itself, so what has one stands for itself, too. */
export function readIds(fields: Fields, name: string): string[] | null {
  const pieces = readList(fields, name);
  if (pieces === null) return null;
  const whole = valuesOf(fields, name).filter((value) => value.includes(",") && value.length <= MAX_TEXT);
  return whole.length === 0 ? pieces : [...new Set([...pieces, ...whole])];
}

/** A list, given again and again (as `name` or, by some clients, as `name[]`) or separated by commas; null if there is none. */
export function readList(fields: Fields, name: string): string[] | null {
  const values = valuesOf(fields, name);
  if (values.length === 0) return null;
  const ids = values.flatMap((value) => value.split(","));
  if (ids.includes("")) throw badField(name, "must not be empty");
  if (ids.length > MAX_IDS) throw badField(name, `must have at most ${MAX_IDS} items`);
  return ids;
}

/** What the client has said of its messages, as filters; null if none is there. */
export function readPlatform(fields: Fields): PlatformFilter | null {
  const entityId = readText(fields, "entityId");
  const applicationId = readText(fields, "applicationId");
  const campaignReferenceIds = readIds(fields, "campaignReferenceId");
  if (entityId === null && applicationId === null && campaignReferenceIds === null) return null;
  return { entityId, applicationId, campaignReferenceIds };
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
