/** The logs: what an account sent and what became of it, read as often as one likes. */
import type { FastifyRequest } from "fastify";
import { searchLogs } from "../admin/log-search.ts";
import { logItem } from "../reports/rendering/report-item.ts";
import { logItemV3 } from "../reports/rendering/report-item-v3.ts";
import { STATUS } from "../sms/statuses.ts";
import type { Store } from "../store/port/store.ts";
import { LOG_PAGE_ROWS, type LogFilter, type LoggedMessage, type LogQuery } from "../store/port/tracking.ts";
import { ApiErrorResponse } from "./error-schemas.ts";
import { ApiError, badField } from "./errors.ts";
import { pageOfLogs, readCursor } from "./log-cursor.ts";
import { Mutex } from "./mutex.ts";
import { type Api, accountOf, operation, TRACKING } from "./operation.ts";
import type { ApiParts } from "./parts.ts";
import {
  fieldsOf,
  readForm,
  readIds,
  readLimit,
  readMoment,
  readPhone,
  readPlatform,
  readSender,
  readWord,
} from "./query.ts";
import * as schemas from "./tracking-schemas.ts";
import * as v3 from "./v3/tracking-schemas.ts";

const LOG_HOURS = 48;
const HOUR_MS = 3_600_000;

function statusesOf(groupName: string): number[] {
  return Object.values(STATUS)
    .filter((status) => status.groupName === groupName)
    .map(({ id }) => id);
}

/** The names that a version has for the two ends of a message. */
interface Ends {
  readonly from: string;
  readonly to: string;
}

function readFilter(query: unknown, nowMs: number, { from, to }: Ends): LogFilter {
  const fields = fieldsOf(query);
  const group = readWord(fields, "generalStatus", schemas.STATUS_GROUPS);
  const mcc = readForm(fields, "mcc", /^\d{3}$/, "must be 3 digits");
  const mnc = readForm(fields, "mnc", /^\d{2,3}$/, "must be 2 or 3 digits");
  return {
    from: readSender(fields, from),
    to: readPhone(fields, to),
    bulkIds: readIds(fields, "bulkId"),
    messageIds: readIds(fields, "messageId"),
    statusIds: group === null ? null : statusesOf(group),
    mcc,
    mnc,
    platform: readPlatform(fields),
    sinceMs: readMoment(fields, "sentSince") ?? nowMs - LOG_HOURS * HOUR_MS,
    untilMs: readMoment(fields, "sentUntil") ?? Number.MAX_SAFE_INTEGER,
  };
}

/** An answer that stops short would read as one that has everything. */
function tooMuch(messages: number, fields: readonly string[]): ApiError {
  return new ApiError("badRequest", {
    variables: fields,
    description: `The search has looked at ${messages} messages and is not at its end: ask for a shorter time, or for ids.`,
  });
}

/** Searches messages of the caller. `fields` are those that make a search shorter. */
export interface LogSearcher {
  /** Messages of one search; each page has its turn. */
  pages(
    request: FastifyRequest,
    run: (page: Store["logs"]) => Promise<LoggedMessage[]>,
    fields?: readonly string[],
  ): Promise<LoggedMessage[]>;
  /** The newest that the query matches. */
  newest(
    request: FastifyRequest,
    query: Omit<LogQuery, "after" | "accountId">,
    fields?: readonly string[],
  ): Promise<LoggedMessage[]>;
}

const SHORTER = ["sentSince", "sentUntil"];

/** One for all families, which share its turns. */
export function logSearcher({ store, clock, settings }: ApiParts): LogSearcher {
  // A filter that matches rarely goes through many pages. However many such requests there are, the store has one page at a time.
  const mutex = new Mutex();
  const most = settings.limits.searchMessages;

  const pages: LogSearcher["pages"] = (request, run, fields = SHORTER) =>
    mutex.search(accountOf(request).id, async (take) => {
      let looked = 0;
      return run(async (query) => {
        if (looked >= most) throw tooMuch(most, fields);
        const page = await take(() => store.logs(query));
        looked += page.messages.length === query.limit ? query.limit : LOG_PAGE_ROWS;
        return page;
      });
    });

  const newest: LogSearcher["newest"] = (request, filter, fields) => {
    const query = { ...filter, accountId: accountOf(request).id };
    const goesOn = () => !request.raw.socket.destroyed;
    return pages(request, (page) => searchLogs({ query, nowMs: clock.now(), page, goesOn }), fields);
  };
  return { pages, newest };
}

export function logOperations(api: Api, { clock }: ApiParts, { pages, newest }: LogSearcher): void {
  api.get(
    "/sms/1/logs",
    operation({
      ...TRACKING,
      id: "searchLogs",
      tag: "Tracking",
      summary: "Look up what was sent, newest first",
      query: schemas.LogQuery,
      answer: schemas.LogResponse,
    }),
    async (request) => {
      const filter = readFilter(request.query, clock.now(), { from: "from", to: "to" });
      return { results: (await newest(request, { ...filter, limit: readLimit(request.query) })).map(logItem) };
    },
  );

  api.get(
    "/sms/3/logs",
    operation({
      ...TRACKING,
      id: "searchLogsV3",
      tag: "Version 3",
      summary: "Look up what was sent, newest first",
      query: v3.LogQuery,
      answer: v3.LogResponse,
      errors: ApiErrorResponse,
    }),
    async (request) => {
      const nowMs = clock.now();
      const filter = readFilter(request.query, nowMs, { from: "sender", to: "destination" });
      if (filter.mnc !== null && filter.mcc === null) throw badField("mnc", "needs mcc beside it");
      const query = { ...filter, accountId: accountOf(request).id, limit: readLimit(request.query) };
      const cursor = readCursor(fieldsOf(request.query), nowMs);
      if (cursor === null) return { results: (await newest(request, query)).map(logItemV3) };
      let next: string | null = null;
      const messages = await pages(request, async (page) => {
        const found = await pageOfLogs(page, query, cursor);
        next = found.next;
        return found.messages;
      });
      return {
        results: messages.map(logItemV3),
        cursor: { limit: query.limit, ...(next === null ? {} : { nextCursor: next }) },
      };
    },
  );
}
