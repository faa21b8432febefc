/**
 * A cursor through the logs: where the next page begins. It is opaque to clients, and whoever forges one gets to another place of his own logs.
 *
 * A message has its place by the time at which it was sent, and before that by the time at which it came. One that is sent between two pages goes from
 * a place that the pages have yet to reach to one that they have passed. So, when the pages are at their end, a *second look* goes over what was sent
 * since the first page, and shortly before it because sending is recorded a little later, and shows those that were there before the first page. A message
 * is sent once only, so none is left out. One that was sent just before or meanwhile may come twice, the second time with its newer state.
 */
import { LOG_PAGE_MESSAGES, RECORDED_LATE_MS } from "../admin/log-search.ts";
import { timeOfId } from "../runtime/ids.ts";
import type { Store } from "../store/port/store.ts";
import type { LoggedMessage, LogPosition, LogQuery } from "../store/port/tracking.ts";
import { badField } from "./errors.ts";
import { readFlag, readText } from "./query.ts";

export interface LogCursor {
  /** When the first page was asked for: what came later is not shown. */
  readonly startedMs: number;
  readonly isSecondLook: boolean;
  /** Where the last page ended; null at the beginning. */
  readonly after: LogPosition | null;
}

const MAX_CURSOR = 200;

/** Null for whoever wants no cursor. */
export function readCursor(fields: Readonly<Record<string, unknown>>, nowMs: number): LogCursor | null {
  const isWanted = readFlag(fields, "useCursor") === true;
  const text = readText(fields, "cursor");
  if (!isWanted && text !== null) throw badField("cursor", "is taken only with useCursor=true");
  if (!isWanted) return null;
  if (text === null) return { startedMs: nowMs, isSecondLook: false, after: null };
  const cursor = text.length > MAX_CURSOR ? null : parseCursor(Buffer.from(text, "base64url").toString("latin1"));
  if (cursor === null) throw badField("cursor", "is not one that this service has given");
  return cursor;
}

function parseCursor(text: string): LogCursor | null {
  const [, startedMs, look, atMs, key] = /^(\d{1,15}) ([12]) (\d{1,15}) (\d{1,19})$/.exec(text) ?? [];
  if (key === undefined || atMs === undefined) return null;
  // No key is above this.
  if (BigInt(key) >= 2n ** 63n) return null;
  return { startedMs: Number(startedMs), isSecondLook: look === "2", after: { atMs: Number(atMs), key } };
}

function cursorText({ startedMs, isSecondLook }: LogCursor, { atMs, key }: LogPosition): string {
  const text = `${startedMs} ${isSecondLook ? 2 : 1} ${atMs} ${key}`;
  return Buffer.from(text, "latin1").toString("base64url");
}

interface LogPage {
  readonly messages: LoggedMessage[];
  /** Null at the end. */
  readonly next: string | null;
}

/** Fills one page. `page` looks at a bounded number of rows, and may throw when it has had enough. */
export async function pageOfLogs(
  page: Store["logs"],
  query: Omit<LogQuery, "after">,
  cursor: LogCursor,
): Promise<LogPage> {
  const messages: LoggedMessage[] = [];
  const first = await walk(page, query, cursor, messages);
  if (first !== null) return { messages, next: first };
  if (cursor.isSecondLook) return { messages, next: null };
  const second = { ...cursor, isSecondLook: true, after: null };
  // What is on its first page has no pages before it that could have missed something.
  if (cursor.after === null) return { messages, next: null };
  return { messages, next: await walk(page, query, second, messages) };
}

/** Adds to the messages until there are enough; returns where to go on, or null at the end of this look. */
async function walk(
  page: Store["logs"],
  query: Omit<LogQuery, "after">,
  cursor: LogCursor,
  messages: LoggedMessage[],
): Promise<string | null> {
  const { startedMs, isSecondLook } = cursor;
  const range = isSecondLook
    ? { sinceMs: Math.max(query.sinceMs, startedMs - RECORDED_LATE_MS), untilMs: query.untilMs }
    : { sinceMs: query.sinceMs, untilMs: Math.min(query.untilMs, startedMs) };
  let { after } = cursor;
  for (;;) {
    const wanted = query.limit - messages.length;
    if (wanted <= 0) return after === null ? null : cursorText(cursor, after);
    const found: Awaited<ReturnType<Store["logs"]>> = await page({
      ...query,
      ...range,
      limit: Math.min(wanted, LOG_PAGE_MESSAGES),
      after,
    });
    messages.push(...(isSecondLook ? found.messages.filter((each) => wasThere(each, startedMs)) : found.messages));
    after = found.next;
    if (after === null) return null;
  }
}

/** Whether it had come before the first page: a key has the time at which it was given. */
function wasThere({ key }: LoggedMessage, startedMs: number): boolean {
  return timeOfId(key) <= startedMs;
}
