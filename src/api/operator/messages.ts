/** What operators can know of a message beyond what its client is told: what its carrier said after its last word. */
import { Type } from "typebox";
import { messagesNamed } from "../../admin/messages.ts";
import type { Clock } from "../../runtime/clock.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import type { Store } from "../../store/port/store.ts";
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
      const messageId = named(request, "messageId");
      const found = await messagesNamed(store, { accountId, messageId, nowMs: clock.now() });
      if (found.length === 0) throw new ApiError("notFound");
      return {
        results: found
          .flatMap(({ later }) => later)
          .map(({ carrierId, carrierMessageId, outcome, errorId, atMs }) => ({
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
