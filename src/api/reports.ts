/**
 * Delivery reports for whoever fetches them. Those of messages with a notifyUrl are pushed instead.
 *
 * Each is handed out once, and is never lost: it is only gone for good once the answer that carries it is written to the connection. If the
 * service dies before, or the connection does, it is handed out again a minute later.
 */
import { type ReportItem, reportItem } from "../reports/item.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Store } from "../store/port.ts";
import { AGAIN_AFTER_MS, Confirmations } from "./confirmation.ts";
import { type Api, accountOf, operation } from "./operation.ts";
import { fieldsOf, readIds, readLimit } from "./query.ts";
import * as schemas from "./tracking-schemas.ts";

export interface ReportParts {
  readonly store: Pick<Store, "fetchReports" | "confirmReports">;
  readonly clock: Clock;
  readonly log: Log;
}

const REPORT_HOURS = 48;
const HOUR_MS = 3_600_000;
/** Reports in one command: other commands wait for it. */
const PAGE_REPORTS = 100;

export function reportOperations(api: Api, { store, clock, log }: ReportParts): void {
  const confirmations = new Confirmations(api, log);

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
      const names = { bulkIds: readIds(fields, "bulkId"), messageIds: readIds(fields, "messageId") };
      const limit = readLimit(request.query);
      const nowMs = clock.now();
      const results: ReportItem[] = [];
      for (let wanted = limit; wanted > 0; wanted = limit - results.length) {
        const size = Math.min(wanted, PAGE_REPORTS);
        const { keys, reports } = await store.fetchReports({
          ...names,
          accountId: accountOf(request).id,
          limit: size,
          nowMs,
          sinceMs: nowMs - REPORT_HOURS * HOUR_MS,
          againAtMs: nowMs + AGAIN_AFTER_MS,
        });
        results.push(...reports.map(reportItem));
        if (keys.length > 0) confirmations.whenWritten(reply, () => store.confirmReports({ keys }));
        if (keys.length < size) break;
      }
      return { results };
    },
  );
}
