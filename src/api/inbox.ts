/** Messages that phones sent to an account's numbers, for whoever fetches them. Those of a number with a forwardUrl are pushed instead. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { incomingResults } from "../reports/rendering/incoming-item.ts";
import { Type } from "../runtime/type.ts";
import type { Store } from "../store/port/store.ts";
import type { PlatformFilter } from "../store/port/tracking.ts";
import { AGAIN_AFTER_MS, Confirmations } from "./confirmation.ts";
import { InboxResponse } from "./incoming-schemas.ts";
import { FETCHES_AT_A_TIME, Mutex } from "./mutex.ts";
import { type Api, accountOf, operation, TRACKING } from "./operation.ts";
import type { ApiParts } from "./parts.ts";
import { fieldsOf, readLimit, readPlatform } from "./query.ts";
import { LimitQuery } from "./schemas.ts";
import { platform } from "./tracking-schemas.ts";

/** Takes messages that are to be fetched for good, with the answer that has them: oldest first, and how many more there are. */
export type FetchIncoming = (
  request: FastifyRequest,
  reply: FastifyReply,
  limit: number,
  platform?: PlatformFilter | null,
) => ReturnType<Store["fetchIncoming"]>;

/** One for all families, which share its turns. */
export function incomingFetcher(api: Api, { store, clock, log }: ApiParts): FetchIncoming {
  const confirmations = new Confirmations(api, log);
  const mutex = new Mutex(FETCHES_AT_A_TIME);
  return async (request, reply, limit, platform = null) => {
    const nowMs = clock.now();
    const fetch = { accountId: accountOf(request).id, limit, platform, nowMs, againAtMs: nowMs + AGAIN_AFTER_MS };
    const fetched = await mutex.search(fetch.accountId, (take) => take(() => store.fetchIncoming(fetch)));
    const keys = fetched.messages.map(({ messageId }) => messageId);
    if (keys.length > 0) confirmations.whenWritten(reply, () => store.confirmIncoming({ keys }));
    return fetched;
  };
}

export function inboxOperations(api: Api, fetchIncoming: FetchIncoming): void {
  api.get(
    "/sms/1/inbox/reports",
    operation({
      ...TRACKING,
      withoutHead: true,
      tag: "Receiving",
      id: "fetchInbox",
      summary: "Fetch messages from phones that were not fetched before",
      query: Type.Object({ ...LimitQuery.properties, ...platform }),
      answer: InboxResponse,
    }),
    async (request, reply) => {
      const limit = readLimit(request.query);
      const wanted = readPlatform(fieldsOf(request.query));
      const { messages, pending } = await fetchIncoming(request, reply, limit, wanted);
      return incomingResults(messages, pending);
    },
  );
}
