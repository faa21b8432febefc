/** What came in and belongs to nothing that is known: receipts without a message, messages to a number that is nobody's. */
import { Type } from "typebox";
import { binaryOf } from "../../reports/rendering/incoming-item.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import type { Store } from "../../store/port/store.ts";
import { type Api, operation } from "../operation.ts";
import { readLimit } from "../query.ts";
import { IncomingBinary, LimitQuery, TextOrNull } from "../schemas.ts";
import { OPERATOR } from "./managing.ts";

export interface UnmatchedParts {
  readonly store: Pick<Store, "parkedReceipts" | "unmatchedIncoming">;
}

const Count = Type.Integer({ description: "How many there are." });
const ParkedAnswer = Type.Object({
  count: Count,
  results: Type.Array(
    Type.Object({
      carrier: Type.String(),
      carrierMessageId: Type.String(),
      to: TextOrNull("The phone, where the network tells."),
      outcome: Type.String(),
      errorId: Type.Integer(),
      mccMnc: TextOrNull("The network, where it tells."),
      at: Type.String(),
      why: Type.String({
        description:
          "unmatched: no message has its id. foreign: the message with its id goes to another phone. doubtful: several messages have its id. unreadable: it could not be read.",
      }),
      times: Type.Integer({ description: "How often it has come." }),
      octets: TextOrNull("Of one that could not be read: its PDU in hex, up to 1,024 octets."),
    }),
  ),
});
const UnmatchedAnswer = Type.Object({
  count: Count,
  results: Type.Array(
    Type.Object({
      messageId: Type.String(),
      carrier: Type.String(),
      from: Type.String(),
      to: Type.String(),
      text: Type.String(),
      smsCount: Type.Integer(),
      receivedAt: Type.String(),
      binary: Type.Optional(IncomingBinary),
    }),
  ),
});

export function unmatchedOperations(api: Api, { store }: UnmatchedParts): void {
  api.get(
    "/operator/1/receipts/parked",
    operation({
      ...OPERATOR,
      summary: "Read receipts that match no message, newest first",
      query: LimitQuery,
      answer: ParkedAnswer,
    }),
    async ({ query }) => {
      const { count, receipts } = await store.parkedReceipts({ limit: readLimit(query) });
      return {
        count,
        results: receipts.map(
          ({ carrierId, carrierMessageId, to, outcome, errorId, mccMnc, atMs, why, times, octets }) => ({
            carrier: carrierId,
            carrierMessageId,
            to,
            outcome,
            errorId,
            mccMnc,
            at: formatDateTime(atMs),
            why,
            times,
            octets: octets ?? null,
          }),
        ),
      };
    },
  );

  api.get(
    "/operator/1/incoming/unmatched",
    operation({
      ...OPERATOR,
      summary: "Read messages from phones to a number that is nobody's, newest first",
      query: LimitQuery,
      answer: UnmatchedAnswer,
    }),
    async ({ query }) => {
      const { count, messages } = await store.unmatchedIncoming({ limit: readLimit(query) });
      return {
        count,
        results: messages.map((message) => {
          const { messageId, carrierId, from, to, text, smsCount, receivedAtMs } = message;
          const binary = binaryOf(message);
          return {
            messageId,
            carrier: carrierId,
            from,
            to,
            text,
            smsCount,
            receivedAt: formatDateTime(receivedAtMs),
            ...(binary === undefined ? {} : { binary }),
          };
        }),
      };
    },
  );
}
