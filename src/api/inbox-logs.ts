/** Messages that phones sent to an account's numbers, read as often as one likes: those that wait, were fetched or were pushed. */
import { incomingResults } from "../reports/rendering/incoming-item.ts";
import { timeOfId } from "../runtime/ids.ts";
import { plainPhone } from "../sms/addresses.ts";
import type { ListedIncoming } from "../store/port/incoming.ts";
import type { Store } from "../store/port/store.ts";
import { ApiError } from "./errors.ts";
import * as schemas from "./incoming-schemas.ts";
import { Mutex } from "./mutex.ts";
import { type Api, accountOf, operation, TRACKING } from "./operation.ts";
import type { ApiParts } from "./parts.ts";
import { fieldsOf, readLimit, readMoment, readPhone, readText } from "./query.ts";

/** Messages in one command: other commands wait for it. */
const PAGE_MESSAGES = 200;
/** A message gets its key after its last part came. The clocks of the nodes that did the two may differ by so much. */
const CLOCKS_DIFFER_MS = 60_000;

interface Filter {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly keyword: string | null;
  readonly to: string | null;
}

function readFilter(query: unknown): Filter {
  const fields = fieldsOf(query);
  return {
    sinceMs: readMoment(fields, "receivedSince") ?? 0,
    untilMs: readMoment(fields, "receivedUntil") ?? Number.MAX_SAFE_INTEGER,
    keyword: readText(fields, "keyword")?.toUpperCase() ?? null,
    to: readPhone(fields, "to"),
  };
}

function passes({ sinceMs, untilMs, keyword, to }: Filter, message: ListedIncoming): boolean {
  return (
    message.receivedAtMs >= sinceMs &&
    message.receivedAtMs <= untilMs &&
    (keyword === null || message.keyword === keyword) &&
    (to === null || plainPhone(message.to) === to)
  );
}

/** An answer that stops short would read as one that has everything. */
function tooMuch(messages: number): ApiError {
  return new ApiError("badRequest", {
    variables: ["receivedSince"],
    description: `The search has looked at ${messages} messages and is not at its end: say receivedSince.`,
  });
}

export function inboxLogOperations(api: Api, { store, settings }: ApiParts): void {
  const mutex = new Mutex();
  const most = settings.limits.searchMessages;

  api.get(
    "/sms/1/inbox/logs",
    operation({
      ...TRACKING,
      id: "searchInbox",
      tag: "Receiving",
      summary: "Look up messages from phones, newest first, whether they were fetched or not",
      query: schemas.InboxLogQuery,
      answer: schemas.InboxLogResponse,
    }),
    async (request) => {
      const filter = readFilter(request.query);
      const limit = readLimit(request.query);
      const { id: accountId, currency } = accountOf(request);
      return mutex.search(accountId, async (take) => {
        const found: ListedIncoming[] = [];
        let beforeKey: string | null = null;
        for (let looked = 0; !request.raw.socket.destroyed; looked += PAGE_MESSAGES) {
          if (looked >= most) throw tooMuch(most);
          const place: Parameters<Store["listedIncoming"]>[0] = { accountId, beforeKey, limit: PAGE_MESSAGES };
          const page: ListedIncoming[] = await take(() => store.listedIncoming(place));
          for (const message of page) if (found.length < limit && passes(filter, message)) found.push(message);
          beforeKey = page.at(-1)?.messageId ?? null;
          const isOver = page.length < PAGE_MESSAGES || beforeKey === null;
          if (isOver || found.length === limit || timeOfId(beforeKey!) < filter.sinceMs - CLOCKS_DIFFER_MS) break;
        }
        return {
          results: incomingResults(
            found.map((message) => ({ ...message, currency })),
            0,
          ).results,
        };
      });
    },
  );
}
