/** What operators can know of a message beyond what its client is told: all of it, and what its carrier said after its last word. */
import { carrierStates } from "../../admin/carriers.ts";
import { messagesNamed } from "../../admin/messages.ts";
import { Type } from "../../runtime/type.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import { trackMessages } from "../../tracking/track.ts";
import { ApiError } from "../errors.ts";
import { type Api, operation } from "../operation.ts";
import type { ApiParts } from "../parts.ts";
import { managedAccount, named, OPERATOR } from "./managing.ts";
import { TrackedAnswer } from "./message-schemas.ts";

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

export function messageOperations(api: Api, { store, clock, catalogue, settings, sandbox }: ApiParts): void {
  const pushing = { settings: settings.reports, sandbox: sandbox !== null };
  api.get(
    "/operator/1/accounts/:key/messages/:messageId",
    operation({
      ...OPERATOR,
      id: "trackMessage",
      summary:
        "Read all that is known of a message: its request, encoding and parts, carrier and its ids, route, reports with each try, and what happened when",
      answer: TrackedAnswer,
    }),
    async (request) => {
      const account = await managedAccount(store, request);
      const messageId = named(request, "messageId");
      const routes = catalogue.current;
      const carriers = await carrierStates(store);
      const nowMs = clock.now();
      const results = await trackMessages(store, { account, messageId, nowMs, routes, carriers, pushing });
      if (results.length === 0) throw new ApiError("notFound");
      return { results };
    },
  );

  api.get(
    "/operator/1/accounts/:key/messages/:messageId/receipts",
    operation({
      ...OPERATOR,
      id: "readLaterReceipts",
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
          .map(({ carrierId, atMs, ...receipt }) => ({ ...receipt, carrier: carrierId, at: formatDateTime(atMs) })),
      };
    },
  );
}
