/** Messages that phones sent to an account's numbers, for whoever fetches them. Those of a number with a forwardUrl are pushed instead. */
import { incomingResults } from "../reports/rendering/incoming-item.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Store } from "../store/port/store.ts";
import { AGAIN_AFTER_MS, Confirmations } from "./confirmation.ts";
import { FETCHES_AT_A_TIME, Mutex } from "./mutex.ts";
import { type Api, accountOf, operation } from "./operation.ts";
import { readLimit } from "./query.ts";
import * as schemas from "./schemas.ts";

export interface InboxParts {
  readonly store: Pick<Store, "fetchIncoming" | "confirmIncoming">;
  readonly clock: Clock;
  readonly log: Log;
}

export function inboxOperations(api: Api, { store, clock, log }: InboxParts): void {
  const confirmations = new Confirmations(api, log);
  const mutex = new Mutex(FETCHES_AT_A_TIME);

  api.get(
    "/sms/1/inbox/reports",
    {
      ...operation({
        tag: "Receiving",
        summary: "Fetch messages from phones that were not fetched before",
        auth: "account",
        scope: "track",
        query: schemas.LimitQuery,
        answer: schemas.InboxResponse,
      }),
      // A HEAD would fetch the messages and show them to nobody.
      exposeHeadRoute: false,
    },
    async (request, reply) => {
      const limit = readLimit(request.query);
      const nowMs = clock.now();
      const fetch = { accountId: accountOf(request).id, limit, nowMs, againAtMs: nowMs + AGAIN_AFTER_MS };
      const { messages, pending } = await mutex.search(fetch.accountId, (take) =>
        take(() => store.fetchIncoming(fetch)),
      );
      const keys = messages.map(({ messageId }) => messageId);
      if (keys.length > 0) confirmations.whenWritten(reply, () => store.confirmIncoming({ keys }));
      return incomingResults(messages, pending);
    },
  );
}
