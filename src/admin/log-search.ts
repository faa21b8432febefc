/**
 * A search through the logs, from the newest message down, a page at a time.
 *
 * A message has its place in the logs by the time at which it was sent, and before that by the time at which it came. So one that is sent while a
 * search is under way goes from a place that the search has yet to reach to one that it has passed. Where there was more than one page, the
 * top is looked at once more at the end: a message is sent once only, so whatever the pages have missed is found there.
 */
import type { Store } from "../store/port/store.ts";
import type { LoggedMessage, LogPosition, LogQuery } from "../store/port/tracking.ts";
import { newestFirst } from "../store/rows.ts";

/** Messages from one command: other commands wait for it. */
export const LOG_PAGE_MESSAGES = 200;
/**
 * A message is recorded as sent so long after the time that it was sent at: until the commit, and as clocks of nodes differ. After an outage of the
 * store it can be later. Then a search that is under way may miss the message, and the next one has it (docs/api.md says so).
 */
export const RECORDED_LATE_MS = 10_000;

export interface LogSearch {
  /** Finds one page. */
  readonly page: Store["logs"];
  readonly query: Omit<LogQuery, "after">;
  /** When the search begins. */
  readonly nowMs: number;
  /** Asked before each further page: whether anybody still wants to know. It may throw. */
  readonly goesOn?: () => boolean;
}

/** The newest messages that the query matches, so many as it wants, newest first. */
export async function searchLogs({ page, query, nowMs, goesOn = () => true }: LogSearch): Promise<LoggedMessage[]> {
  const { limit, sinceMs, untilMs } = query;

  const walk = async (fromMs: number): Promise<{ found: Map<string, LoggedMessage>; pages: number }> => {
    const found = new Map<string, LoggedMessage>();
    let after: LogPosition | null = null;
    let pages = 0;
    do {
      const pageLimit = Math.min(limit - found.size, LOG_PAGE_MESSAGES);
      const { messages, next }: Awaited<ReturnType<Store["logs"]>> = await page({
        ...query,
        sinceMs: fromMs,
        limit: pageLimit,
        after,
      });
      for (const message of messages) found.set(message.key, message);
      after = next;
      pages++;
    } while (after !== null && found.size < limit && goesOn());
    return { found, pages };
  };

  const { found, pages } = await walk(sinceMs);
  const changedMs = Math.max(sinceMs, nowMs - RECORDED_LATE_MS);
  if (pages === 1 || untilMs < changedMs || !goesOn()) return [...found.values()];
  for (const [key, message] of (await walk(changedMs)).found) found.set(key, message);
  const placeOf = ({ sentAtMs, key }: LoggedMessage): LogPosition => ({ atMs: sentAtMs, key });
  return [...found.values()].sort((one, other) => newestFirst(placeOf(one), placeOf(other))).slice(0, limit);
}
