/** Messages that phones sent to an account's numbers, for whoever fetches them. Those of a number with a forwardUrl are pushed instead. */
import { incomingResults } from "../reports/incoming.ts";
import type { Store } from "../store/port.ts";
import { type Api, accountOf, operation } from "./operation.ts";
import { readLimit } from "./query.ts";
import * as schemas from "./schemas.ts";

export interface InboxParts {
  readonly store: Pick<Store, "fetchIncoming">;
}

export function inboxOperations(api: Api, { store }: InboxParts): void {
  api.get(
    "/sms/1/inbox/reports",
    {
      ...operation({
        tag: "Receiving",
        summary: "Fetch messages from phones that were not fetched before",
        auth: "account",
        query: schemas.LimitQuery,
        answer: schemas.InboxResponse,
      }),
      // A HEAD would fetch the messages and show them to nobody.
      exposeHeadRoute: false,
    },
    async (request) => {
      const limit = readLimit(request.query);
      const { messages, pending } = await store.fetchIncoming({ accountId: accountOf(request).id, limit });
      return incomingResults(messages, pending);
    },
  );
}
