/** The logs: what an account sent and what became of it, read as often as one likes. */
import { logItem } from "../reports/rendering/report-item.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Settings } from "../runtime/settings.ts";
import { STATUS } from "../sms/statuses.ts";
import { searchLogs } from "../store/log-search.ts";
import type { Store } from "../store/port/store.ts";
import { LOG_PAGE_ROWS, type LogFilter } from "../store/port/tracking.ts";
import { ApiError } from "./errors.ts";
import { Mutex } from "./mutex.ts";
import { type Api, accountOf, operation } from "./operation.ts";
import { fieldsOf, readForm, readIds, readLimit, readMoment, readText, readWord } from "./query.ts";
import * as schemas from "./tracking-schemas.ts";

export interface LogParts {
  readonly store: Pick<Store, "logs">;
  readonly clock: Clock;
  readonly settings: Settings;
}

const LOG_HOURS = 48;
const HOUR_MS = 3_600_000;

function statusesOf(groupName: string): number[] {
  return Object.values(STATUS)
    .filter((status) => status.groupName === groupName)
    .map(({ id }) => id);
}

function readFilter(query: unknown, nowMs: number): LogFilter {
  const fields = fieldsOf(query);
  const group = readWord(fields, "generalStatus", schemas.STATUS_GROUPS);
  return {
    from: readText(fields, "from"),
    to: readText(fields, "to"),
    bulkIds: readIds(fields, "bulkId"),
    messageIds: readIds(fields, "messageId"),
    statusIds: group === null ? null : statusesOf(group),
    mcc: readForm(fields, "mcc", /^\d{3}$/, "must be 3 digits"),
    mnc: readForm(fields, "mnc", /^\d{2,3}$/, "must be 2 or 3 digits"),
    sinceMs: readMoment(fields, "sentSince") ?? nowMs - LOG_HOURS * HOUR_MS,
    untilMs: readMoment(fields, "sentUntil") ?? Number.MAX_SAFE_INTEGER,
  };
}

/** An answer that stops short would read as one that has everything. */
function tooMuch(messages: number): ApiError {
  return new ApiError("badRequest", {
    variables: ["sentSince", "sentUntil"],
    description: `The search has looked at ${messages} messages and is not at its end: ask for a shorter time, or for ids.`,
  });
}

export function logOperations(api: Api, { store, clock, settings }: LogParts): void {
  // A filter that matches rarely goes through many pages. However many such requests there are, the store has one page at a time.
  const mutex = new Mutex();
  const most = settings.limits.searchMessages;

  api.get(
    "/sms/1/logs",
    operation({
      tag: "Tracking",
      summary: "Look up what was sent, newest first",
      auth: "account",
      scope: "track",
      query: schemas.LogQuery,
      answer: schemas.LogResponse,
    }),
    async (request) => {
      const filter = readFilter(request.query, clock.now());
      const limit = readLimit(request.query);
      const accountId = accountOf(request).id;
      return mutex.search(accountId, async (take) => {
        let looked = 0;
        const messages = await searchLogs({
          query: { ...filter, accountId, limit },
          nowMs: clock.now(),
          async page(query) {
            if (looked >= most) throw tooMuch(most);
            const page = await take(() => store.logs(query));
            looked += page.messages.length === query.limit ? query.limit : LOG_PAGE_ROWS;
            return page;
          },
          goesOn: () => !request.raw.socket.destroyed,
        });
        return { results: messages.map(logItem) };
      });
    },
  );
}
