/** What came in and belongs to nothing that is known: receipts without a message, messages to a number that is nobody's. */
import { clearReceipts } from "../../admin/receipts.ts";
import { binaryOf } from "../../reports/rendering/incoming-item.ts";
import { given } from "../../runtime/given.ts";
import { Type } from "../../runtime/type.ts";
import { formatDateTime, parseDateTime } from "../../schedule/date-time.ts";
import { badField } from "../errors.ts";
import { IncomingBinary } from "../incoming-schemas.ts";
import { type Api, operation } from "../operation.ts";
import type { ApiParts } from "../parts.ts";
import { readLimit } from "../query.ts";
import { LimitQuery } from "../schemas.ts";
import { Flag, OptionalFlag, Text, TextOrNull, Whole } from "../shapes.ts";
import { actorOf, OPERATOR } from "./managing.ts";

const Count = Whole("How many there are.");
const ParkedAnswer = Type.Object({
  count: Count,
  results: Type.Array(
    Type.Object({
      id: Text("By which it is cleared."),
      carrier: Type.String(),
      carrierMessageId: Type.String(),
      to: TextOrNull("The phone, where the network tells."),
      outcome: Type.String(),
      errorId: Type.Integer(),
      mccMnc: TextOrNull("The network, where it tells."),
      at: Type.String(),
      why: Text(
        "unmatched: no message has its id. foreign: the message with its id goes to another phone. doubtful: several messages have its id. unreadable: it could not be read.",
      ),
      times: Whole("How often it has come."),
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

const MAX_IDS = 1_000;
const ClearRequest = Type.Object(
  {
    ids: Type.Optional(
      Type.Array(Type.String({ pattern: "^[0-9]{1,15}$" }), {
        minItems: 1,
        maxItems: MAX_IDS,
        description: "As listed.",
      }),
    ),
    carrier: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: "Only those of a carrier." })),
    before: Type.Optional(Type.String({ maxLength: 64, description: "Only those that came before this time." })),
    all: OptionalFlag("Needed to clear without any other filter."),
  },
  { additionalProperties: false },
);
const ClearAnswer = Type.Object({
  cleared: Type.Integer(),
  more: Flag("There are more of them: call again."),
});

export function unmatchedOperations(api: Api, { store, clock }: ApiParts): void {
  api.get(
    "/operator/1/receipts/parked",
    operation({
      ...OPERATOR,
      id: "listParkedReceipts",
      summary: "Read receipts that match no message, newest first",
      query: LimitQuery,
      answer: ParkedAnswer,
    }),
    async ({ query }) => {
      const { count, receipts } = await store.parkedReceipts({ limit: readLimit(query) });
      return {
        count,
        results: receipts.map(({ id, carrierId, atMs, ...receipt }) => ({
          ...receipt,
          id: String(id),
          carrier: carrierId,
          at: formatDateTime(atMs),
          octets: receipt.octets ?? null,
        })),
      };
    },
  );

  api.post(
    "/operator/1/receipts/parked/clear",
    operation({
      ...OPERATOR,
      id: "clearParkedReceipts",
      summary: "Delete receipts that match no message: by their ids, or of a carrier and of before a time, or all",
      schema: { body: ClearRequest },
      answer: ClearAnswer,
    }),
    async (request) => {
      const { ids, carrier, before, all } = request.body;
      const hasFilter = carrier !== undefined || before !== undefined;
      if ([ids !== undefined, hasFilter, all === true].filter(Boolean).length !== 1)
        throw badField("ids", "must say which receipts: or carrier and before, or all with true");
      const beforeMs = before === undefined ? null : parseDateTime(before);
      if (before !== undefined && beforeMs === null)
        throw badField("before", "must be a date and time, such as 2026-02-12T09:58:20.323+0000");
      const filter = given({ carrierId: carrier, beforeMs: beforeMs ?? undefined });
      return clearReceipts(store, { ids: ids ?? null, filter, by: actorOf(request), atMs: clock.now() });
    },
  );

  api.get(
    "/operator/1/incoming/unmatched",
    operation({
      ...OPERATOR,
      id: "listUnmatchedIncoming",
      summary: "Read messages from phones to a number that is nobody's, newest first",
      query: LimitQuery,
      answer: UnmatchedAnswer,
    }),
    async ({ query }) => {
      const { count, messages } = await store.unmatchedIncoming({ limit: readLimit(query) });
      return {
        count,
        results: messages.map((message) => ({
          ...message,
          carrier: message.carrierId,
          receivedAt: formatDateTime(message.receivedAtMs),
          binary: binaryOf(message),
        })),
      };
    },
  );
}
