/**
 * Delivery reports for whoever fetches them. Those of messages with a notifyUrl are pushed instead.
 *
 * Each is handed out once, and is never lost: it is only gone for good once the answer that carries it is written to the connection. If the
 * service dies before, or the connection does, it is handed out again a minute later.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import { reportItem } from "../reports/rendering/report-item.ts";
import { reportItemV3 } from "../reports/rendering/report-item-v3.ts";
import { type PullPosition, type PullSearch, REPORT_FETCH_MS, type ReportFetch } from "../store/port/reports.ts";
import type { Store } from "../store/port/store.ts";
import { LOG_PAGE_ROWS, type MessageNames, type PlatformFilter } from "../store/port/tracking.ts";
import { AGAIN_AFTER_MS, Confirmations } from "./confirmation.ts";
import { ApiErrorResponse } from "./error-schemas.ts";
import { ApiError } from "./errors.ts";
import { FETCHES_AT_A_TIME, Mutex } from "./mutex.ts";
import { type Api, accountOf, operation, TRACKING } from "./operation.ts";
import type { ApiParts } from "./parts.ts";
import { fieldsOf, readIds, readLimit, readPlatform } from "./query.ts";
import * as schemas from "./tracking-schemas.ts";
import * as v3 from "./v3/tracking-schemas.ts";

type Fetched = Awaited<ReturnType<Store["fetchReports"]>>["reports"][number];

/** Reports in one command: other commands wait for it. */
const PAGE_REPORTS = 100;
/** Names in one command: each may stand for many messages that were rejected under it. */
const PAGE_NAMES = 50;

/** Which reports are wanted; null where it does not matter. */
interface Wanted extends MessageNames {
  readonly platform: PlatformFilter | null;
  readonly limit: number;
}

/** Takes reports that are to be fetched for good, with the answer that has them, in the order of time. */
export type FetchReports = (request: FastifyRequest, reply: FastifyReply, wanted: Wanted) => Promise<Fetched[]>;

/** One for all families, which share its turns. */
export function reportFetcher(api: Api, { store, clock, log, settings }: ApiParts): FetchReports {
  const most = settings.limits.searchMessages;
  const confirmations = new Confirmations(api, log);
  const mutex = new Mutex(FETCHES_AT_A_TIME);

  return (request, reply, { bulkIds, messageIds, platform, limit }) => {
    const accountId = accountOf(request).id;
    const nowMs = clock.now();
    const moments = { nowMs, sinceMs: nowMs - REPORT_FETCH_MS, againAtMs: nowMs + AGAIN_AFTER_MS };
    return mutex.search(accountId, async (take) => {
      const found: Fetched[] = [];
      const fetch = async (names: Partial<ReportFetch>, wanted: number): Promise<number> => {
        const one = { accountId, bulkIds, messageIds, platform, ...names, limit: wanted, ...moments };
        const { keys, reports } = await take(() => store.fetchReports(one));
        found.push(...reports);
        if (keys.length > 0) confirmations.whenWritten(reply, () => store.confirmReports({ keys }));
        return keys.length;
      };
      const left = (): number => Math.min(limit - found.length, PAGE_REPORTS);
      if (platform === null || messageIds !== null) {
        for (const names of pagesOf(messageIds))
          for (let wanted = left(); wanted > 0; wanted = left())
            if ((await fetch({ messageIds: names }, wanted)) < wanted) break;
      } else {
        let looked = 0;
        for (const bulkId of new Set(bulkIds ?? [null])) {
          let after: PullPosition | null = null;
          for (let wanted = left(); wanted > 0; wanted = left()) {
            if (looked >= most) return orTooMuch(found, most);
            const search: PullSearch = { accountId, bulkId, platform, after, limit: wanted, ...moments };
            const page: Awaited<ReturnType<Store["searchReports"]>> = await take(() => store.searchReports(search));
            if (page.keys.length > 0) await fetch({ keys: page.keys }, page.keys.length);
            after = page.next;
            looked += LOG_PAGE_ROWS;
            if (after === null) break;
          }
        }
      }
      // One page comes oldest first from the store; several are put together.
      if (messageIds !== null) found.sort((first, second) => first.doneAtMs - second.doneAtMs);
      return found;
    });
  };
}

export function reportOperations(api: Api, fetchReports: FetchReports): void {
  /** What one request gets. */
  const fetchFor = (request: FastifyRequest, reply: FastifyReply): Promise<Fetched[]> => {
    const fields = fieldsOf(request.query);
    const bulkIds = readIds(fields, "bulkId");
    const messageIds = readIds(fields, "messageId");
    const platform = readPlatform(fields);
    return fetchReports(request, reply, { bulkIds, messageIds, platform, limit: readLimit(request.query) });
  };

  const read = {
    ...TRACKING,
    withoutHead: true,
    query: schemas.ReportQuery,
    summary: "Fetch delivery reports that were not fetched before",
  } as const;
  api.get(
    "/sms/1/reports",
    operation({ id: "fetchReports", tag: "Tracking", ...read, answer: schemas.ReportResponse }),
    async (request, reply) => ({ results: (await fetchFor(request, reply)).map(reportItem) }),
  );
  api.get(
    "/sms/3/reports",
    operation({
      id: "fetchReportsV3",
      tag: "Version 3",
      ...read,
      answer: v3.ReportResponse,
      errors: ApiErrorResponse,
    }),
    async (request, reply) => ({ results: (await fetchFor(request, reply)).map(reportItemV3) }),
  );
}

/** What was found is handed out. Nothing at all would read as if there were nothing. */
function orTooMuch(found: Fetched[], looked: number): Fetched[] {
  if (found.length > 0) return found;
  throw new ApiError("badRequest", {
    variables: ["entityId", "applicationId", "campaignReferenceId"],
    description: `The search has looked at ${looked} reports and found none: ask by bulkId or messageId, or fetch the others first.`,
  });
}

/** Null, for whatever the names, is one page. */
function pagesOf(names: readonly string[] | null): readonly (readonly string[] | null)[] {
  if (names === null) return [null];
  const all = [...new Set(names)];
  const count = Math.ceil(all.length / PAGE_NAMES);
  return Array.from({ length: count }, (_, page) => all.slice(page * PAGE_NAMES, (page + 1) * PAGE_NAMES));
}
