/**
 * The search of messages as people write it: `to:4179* failed since:2h text:"your parcel"`. Terms are separated by spaces and hold together. The
 * same code reads it for the API and, while it is typed, in the browser. What it cannot read it names, with its place.
 */
import { plainPhone } from "../../sms/addresses.ts";
import { errorRows } from "../../sms/errors.ts";
import { STATUS } from "../../sms/statuses.ts";
import { ANY_MESSAGE, type MessageFilter, type TextMatch } from "../../store/port/message-search.ts";

export const SEARCH_WORDS = ["failed", "retrying", "stuck", "scheduled", "delivered"] as const;
export type SearchWord = (typeof SEARCH_WORDS)[number];

export const MAX_SEARCH_LENGTH = 500;
const MAX_TERMS = 20;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** What a search asks for, and whose messages; null for what it does not say. */
export interface MessageTerms extends Omit<MessageFilter, "sinceMs" | "untilMs"> {
  readonly accountKey: string | null;
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
}

/** When it is read, and the reader's zone in minutes east of UTC: "today" and "14:00" are by his clock. */
export interface SearchMoment {
  readonly nowMs: number;
  readonly zoneMinutes: number;
}

/** The search cannot be read: from this place on, counted from 1, in these words. */
export class SearchProblem extends Error {
  readonly place: number;

  constructor(place: number, says: string) {
    super(`at character ${place}: ${says}`);
    this.place = place;
  }
}

interface Term {
  readonly place: number;
  /** Null for a word that stands alone. */
  readonly name: string | null;
  readonly value: string;
}

type Draft = { -readonly [Name in keyof MessageTerms]: MessageTerms[Name] };

const NOTHING: MessageTerms = { ...ANY_MESSAGE, accountKey: null, sinceMs: null, untilMs: null };

type Reader = (value: string, moment: SearchMoment) => Partial<Draft> | string;

/** What each filter makes of its value; a text says what is wrong with it. */
const FILTERS: Readonly<Record<string, Reader>> = {
  to: (value) => ({ to: matchOf(plainPhone(value)) }),
  from: (value) => ({ from: matchOf(value) }),
  status: readStatuses,
  error: readErrors,
  carrier: (value) => ({ carrierId: value }),
  bulk: (value) => ({ bulkId: value }),
  id: (value) => ({ messageId: value }),
  text: (value) => ({ text: value }),
  account: (value) => ({ accountKey: value }),
  since: (value, moment) => readSince("sinceMs", value, moment),
  until: (value, moment) => readSince("untilMs", value, moment),
};
export const SEARCH_FILTERS = Object.keys(FILTERS);

const idsOf = (isWanted: (status: (typeof STATUS)[keyof typeof STATUS]) => boolean): number[] =>
  Object.values(STATUS)
    .filter(isWanted)
    .map(({ id }) => id);

const WORDS: Readonly<Record<SearchWord, Partial<Draft>>> = {
  failed: { statusIds: idsOf(({ final, groupName }) => final && groupName !== "DELIVERED") },
  delivered: { statusIds: idsOf(({ groupName }) => groupName === "DELIVERED") },
  retrying: { life: "retrying" },
  stuck: { life: "stuck" },
  scheduled: { life: "scheduled" },
};

/** Throws a SearchProblem. */
export function readMessageSearch(text: string, moment: SearchMoment): MessageTerms {
  if (text.length > MAX_SEARCH_LENGTH)
    throw new SearchProblem(MAX_SEARCH_LENGTH + 1, `the search is longer than ${MAX_SEARCH_LENGTH} characters`);
  const terms: Draft = { ...NOTHING };
  for (const term of termsOf(text)) {
    const read = term.name === null ? readWord(term) : readFilter(term, moment);
    for (const [name, value] of Object.entries(read)) {
      if (terms[name as keyof Draft] !== null)
        throw new SearchProblem(term.place, `"${shown(term)}" says again what stands before it: say it once`);
      (terms as Record<string, unknown>)[name] = value;
    }
  }
  return terms;
}

function readWord(term: Term): Partial<Draft> {
  const word = SEARCH_WORDS.find((known) => known === term.value.toLowerCase());
  if (word !== undefined) return WORDS[word];
  throw new SearchProblem(
    term.place,
    `"${term.value}" is none of the words ${SEARCH_WORDS.join(", ")}. To look for it in texts, write text:${quoted(term.value)}`,
  );
}

function readFilter(term: Term, moment: SearchMoment): Partial<Draft> {
  const name = term.name!.toLowerCase();
  const reader = Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined;
  if (reader === undefined)
    throw new SearchProblem(term.place, `"${term.name}:" is no filter. There are ${SEARCH_FILTERS.join(":, ")}:`);
  if (term.value === "") throw new SearchProblem(term.place, `"${term.name}:" has nothing behind it`);
  const read = reader(term.value, moment);
  if (typeof read === "string") throw new SearchProblem(term.place, `"${shown(term)}" ${read}`);
  return read;
}

const shown = ({ name, value }: Term): string => (name === null ? value : `${name}:${value}`);
const quoted = (value: string): string => (/\s/.test(value) ? `"${value}"` : value);

/** A search for these filters, and a word: its values are quoted where they have to be. */
export function searchOf(filters: Readonly<Record<string, string>>, word?: SearchWord): string {
  const terms = Object.entries(filters).map(([name, value]) => `${name}:${quoted(value)}`);
  return [...terms, ...(word === undefined ? [] : [word])].join(" ");
}

/** Character by character: what a term costs does not depend on the others. */
function termsOf(text: string): Term[] {
  const terms: Term[] = [];
  let at = 0;
  while (at < text.length) {
    if (text[at]!.trim() === "") {
      at++;
      continue;
    }
    const place = at + 1;
    let name: string | null = null;
    let value = "";
    while (at < text.length && text[at]!.trim() !== "") {
      const character = text[at]!;
      if (character === '"') {
        const end = text.indexOf('"', at + 1);
        if (end < 0) throw new SearchProblem(at + 1, "a quotation mark is missing at the end");
        value += text.slice(at + 1, end);
        at = end + 1;
      } else if (character === ":" && name === null && /^[a-z]+$/i.test(value)) {
        name = value;
        value = "";
        at++;
      } else {
        value += character;
        at++;
      }
    }
    if (terms.length === MAX_TERMS) throw new SearchProblem(place, `there are more than ${MAX_TERMS} terms`);
    terms.push({ place, name, value });
  }
  return terms;
}

function matchOf(value: string): TextMatch {
  return value.endsWith("*") ? { text: value.slice(0, -1), isPrefix: true } : { text: value, isPrefix: false };
}

function readStatuses(value: string): Partial<Draft> | string {
  const names = value.toUpperCase().split(",");
  const ids = new Set<number>();
  for (const name of names) {
    const found = idsOf((status) => status.groupName === name || status.name === name || String(status.id) === name);
    if (found.length === 0) {
      const groups = [...new Set(Object.values(STATUS).map(({ groupName }) => groupName.toLowerCase()))];
      return `names no status and no group of them. Groups are ${groups.join(", ")}`;
    }
    for (const id of found) ids.add(id);
  }
  return { statusIds: [...ids] };
}

function readErrors(value: string): Partial<Draft> | string {
  const name = value.toUpperCase();
  const found = errorRows.filter(
    (error) => String(error.id) === name || error.name === name || error.name === `EC_${name}`,
  );
  return found.length === 0
    ? "names no error: write its number, or its name as EC_ABSENT_SUBSCRIBER"
    : { errorIds: found.map(({ id }) => id) };
}

const AGO_MS: Readonly<Record<string, number>> = { s: 1_000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS };
const CLOCK = /^(\d{1,2}):(\d{2})$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const AGO = /^(\d{1,4})([smhdw])$/;
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:?\d{2})?$/;
const MOMENTS = "is no time: write today, yesterday, 14:00, 2026-02-12, 2h or 2026-02-12T14:00Z";

/** A day, as the end of a search, is meant whole. */
function readSince(name: "sinceMs" | "untilMs", value: string, moment: SearchMoment): Partial<Draft> | string {
  const read = readMoment(value.toLowerCase(), moment);
  if (read === null) return MOMENTS;
  return { [name]: name === "untilMs" ? read.atMs + read.lengthMs - (read.lengthMs === 0 ? 0 : 1) : read.atMs };
}

function readMoment(value: string, { nowMs, zoneMinutes }: SearchMoment): { atMs: number; lengthMs: number } | null {
  const zoneMs = zoneMinutes * MINUTE_MS;
  const todayMs = Math.floor((nowMs + zoneMs) / DAY_MS) * DAY_MS - zoneMs;
  if (value === "today") return { atMs: todayMs, lengthMs: DAY_MS };
  if (value === "yesterday") return { atMs: todayMs - DAY_MS, lengthMs: DAY_MS };
  const ago = AGO.exec(value);
  if (ago !== null) return { atMs: nowMs - Number(ago[1]) * AGO_MS[ago[2]!]!, lengthMs: 0 };
  const clock = CLOCK.exec(value);
  if (clock !== null) {
    const [hours, minutes] = [Number(clock[1]), Number(clock[2])];
    if (hours > 23 || minutes > 59) return null;
    return { atMs: todayMs + hours * HOUR_MS + minutes * MINUTE_MS, lengthMs: 0 };
  }
  if (DAY.test(value)) return within(Date.parse(`${value}T00:00:00Z`) - zoneMs, DAY_MS);
  const iso = ISO.exec(value.toUpperCase());
  if (iso === null) return null;
  const zoned = iso[3] !== undefined;
  const parsed = Date.parse(zoned ? value.toUpperCase() : `${value.toUpperCase()}Z`);
  return within(zoned ? parsed : parsed - zoneMs, 0);
}

function within(atMs: number, lengthMs: number): { atMs: number; lengthMs: number } | null {
  return Number.isNaN(atMs) ? null : { atMs, lengthMs };
}
