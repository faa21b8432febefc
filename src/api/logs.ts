/** The logs: what an account sent and what became of it, read as often as one likes. */
import { logItem } from "../reports/log.ts";
import type { Clock } from "../runtime/clock.ts";
import { STATUS } from "../sms/statuses.ts";
import type { LogFilter, LoggedMessage, LogPosition, LogQuery, Store } from "../store/port.ts";
import { type Api, accountOf, operation } from "./operation.ts";
import { fieldsOf, readForm, readIds, readLimit, readMoment, readText, readWord } from "./query.ts";
import * as schemas from "./tracking-schemas.ts";
import { Turns } from "./turns.ts";

export interface LogParts {
  readonly store: Pick<Store, "logs">;
  readonly clock: Clock;
}

const LOG_HOURS = 48;
const HOUR_MS = 3_600_000;
/** Messages from one command: other commands wait for it. */
const PAGE_MESSAGES = 200;

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

export function logOperations(api: Api, { store, clock }: LogParts): void {
  // A filter that matches rarely goes through many pages. However many such requests there are, the store has one page at a time.
  const turns = new Turns();

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
      const messages: LoggedMessage[] = [];
      let after: LogPosition | null = null;
      do {
        const query: LogQuery = {
          ...filter,
          accountId,
          limit: Math.min(limit - messages.length, PAGE_MESSAGES),
          after,
        };
        const page = await turns.take(() => store.logs(query));
        messages.push(...page.messages);
        after = page.next;
      } while (after !== null && messages.length < limit && !request.raw.socket.destroyed);
      return { results: messages.map(logItem) };
    },
  );
}
