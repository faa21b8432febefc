/** What operators can know of a message beyond what its client is told: what its carrier said after its last word. */
import { Type } from "typebox";
import type { Clock } from "../../runtime/clock.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import { searchLogs } from "../../store/log-search.ts";
import type { Store } from "../../store/port.ts";
import { ApiError } from "../errors.ts";
import { type Api, operation } from "../operation.ts";
import { managedAccount, named, OPERATOR } from "./managing.ts";

export interface MessageParts {
  readonly store: Pick<Store, "account" | "logs" | "laterReceipts">;
  readonly clock: Clock;
}

const LaterAnswer = Type.Object({
  results: Type.Array(
    Type.Object({
      carrier: Type.String(),
      carrierMessageId: Type.String(),
      outcome: Type.String(),
      errorId: Type.Integer(),
      at: Type.String(),
    }),
  ),
});

const ALL = { bulkIds: null, from: null, to: null, statusIds: null, mcc: null, mnc: null };
/** A rejected message leaves its name to others: so many may have it. */
const MAX_NAMESAKES = 100;

export function messageOperations(api: Api, { store, clock }: MessageParts): void {
  api.get(
    "/operator/1/accounts/:key/messages/:messageId/receipts",
    operation({
      ...OPERATOR,
      summary:
        "Read what carriers said of a message after their last word, oldest first: it changes nothing of the message",
      answer: LaterAnswer,
    }),
    async (request) => {
      const { id: accountId } = await managedAccount(store, request);
      const messageIds = [named(request, "messageId")];
      // The end of the calendar: a message may be scheduled.
      const always = { sinceMs: 0, untilMs: 8_640_000_000_000_000 };
      const query = { ...ALL, ...always, accountId, messageIds, limit: MAX_NAMESAKES };
      const messages = await searchLogs({ page: store.logs, query, nowMs: clock.now() });
      if (messages.length === 0) throw new ApiError("notFound");
      const found = await Promise.all(messages.map(({ key }) => store.laterReceipts({ messageKey: key })));
      return {
        results: found.flat().map(({ carrierId, carrierMessageId, outcome, errorId, atMs }) => ({
          carrier: carrierId,
          carrierMessageId,
          outcome,
          errorId,
          at: formatDateTime(atMs),
        })),
      };
    },
  );
}
