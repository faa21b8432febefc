/**
 * Delivery reports for whoever fetches them. Those of messages with a notifyUrl are pushed instead.
 *
 * Each is handed out once, and is never lost: it is only gone for good once the answer that carries it is written to the connection. If the
 * service dies before, or the connection does, it is handed out again a minute later.
 */
import { reportItem } from "../reports/rendering/report-item.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import { REPORT_FETCH_MS } from "../store/port/reports.ts";
import type { Store } from "../store/port/store.ts";
import { AGAIN_AFTER_MS, Confirmations } from "./confirmation.ts";
import { FETCHES_AT_A_TIME, Mutex } from "./mutex.ts";
import { type Api, accountOf, operation } from "./operation.ts";
import { fieldsOf, readIds, readLimit } from "./query.ts";
import * as schemas from "./tracking-schemas.ts";

export interface ReportParts {
  readonly store: Pick<Store, "fetchReports" | "confirmReports">;
  readonly clock: Clock;
  readonly log: Log;
}

type Fetched = Awaited<ReturnType<Store["fetchReports"]>>["reports"][number];

/** Reports in one command: other commands wait for it. */
const PAGE_REPORTS = 100;
/** Names in one command: each may stand for many messages that were rejected under it. */
const PAGE_NAMES = 50;

export function reportOperations(api: Api, { store, clock, log }: ReportParts): void {
  const confirmations = new Confirmations(api, log);
  const mutex = new Mutex(FETCHES_AT_A_TIME);

  api.get(
    "/sms/1/reports",
    {
      ...operation({
        tag: "Tracking",
        summary: "Fetch delivery reports that were not fetched before",
        auth: "account",
        scope: "track",
        query: schemas.ReportQuery,
        answer: schemas.ReportResponse,
      }),
      // A HEAD would fetch the reports and show them to nobody.
      exposeHeadRoute: false,
    },
    async (request, reply) => {
      const fields = fieldsOf(request.query);
      const bulkIds = readIds(fields, "bulkId");
      const messageIds = readIds(fields, "messageId");
      const limit = readLimit(request.query);
      const accountId = accountOf(request).id;
      const nowMs = clock.now();
      const moments = { nowMs, sinceMs: nowMs - REPORT_FETCH_MS, againAtMs: nowMs + AGAIN_AFTER_MS };
      return mutex.search(accountId, async (take) => {
        const found: Fetched[] = [];
        for (const names of pagesOf(messageIds)) {
          for (let wanted = limit - found.length; wanted > 0; wanted = limit - found.length) {
            const fetch = { accountId, bulkIds, messageIds: names, limit: Math.min(wanted, PAGE_REPORTS), ...moments };
            const { keys, reports } = await take(() => store.fetchReports(fetch));
            found.push(...reports);
            if (keys.length > 0) confirmations.whenWritten(reply, () => store.confirmReports({ keys }));
            if (keys.length < fetch.limit) break;
          }
        }
        // One page comes oldest first from the store; several are put together.
        if (messageIds !== null) found.sort((first, second) => first.doneAtMs - second.doneAtMs);
        return { results: found.map(reportItem) };
      });
    },
  );
}

/** Null, for whatever the names, is one page. */
function pagesOf(names: readonly string[] | null): readonly (readonly string[] | null)[] {
  if (names === null) return [null];
  const all = [...new Set(names)];
  const count = Math.ceil(all.length / PAGE_NAMES);
  return Array.from({ length: count }, (_, page) => all.slice(page * PAGE_NAMES, (page + 1) * PAGE_NAMES));
}
