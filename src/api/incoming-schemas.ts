/** The shapes of messages from phones. */
import { Type } from "../runtime/type.ts";
import { LimitQuery, optional } from "./schemas.ts";

export const IncomingBinary = Type.Object(
  {
    hex: Type.String({ description: "The octets, two digits each." }),
    dataCoding: Type.Integer({ description: "The data coding scheme." }),
    esmClass: Type.Integer({ description: "64 where the octets begin with a user data header, else 0." }),
  },
  { title: "IncomingBinary", description: "Only of a message that is no text. Its text is the same hex." },
);

const IncomingMessage = Type.Object(
  {
    messageId: Type.String(),
    from: Type.String({ description: "The phone." }),
    to: Type.String({ description: "Your number." }),
    text: Type.String(),
    cleanText: Type.String({ description: "The text without its keyword." }),
    keyword: optional(
      Type.String({ description: "The first word, in capitals. Only where it is a keyword of the number." }),
    ),
    receivedAt: Type.String({ description: "As 2026-02-12T09:58:20.323+0000." }),
    smsCount: Type.Integer({ description: "Number of parts that came." }),
    price: Type.Object({ pricePerMessage: Type.Number(), currency: Type.String() }),
    binary: optional(IncomingBinary),
  },
  { title: "IncomingMessage" },
);

export const InboxResponse = Type.Object(
  {
    results: Type.Array(IncomingMessage),
    messageCount: Type.Integer({ description: "How many are in this answer." }),
    pendingMessageCount: Type.Integer({ description: "How many more can be fetched; counted up to 10,000." }),
  },
  { title: "IncomingMessages" },
);

export const InboxLogQuery = Type.Object({
  to: optional(Type.String({ description: "Only messages to this number of yours." })),
  keyword: optional(Type.String({ description: "Only messages with this keyword." })),
  receivedSince: optional(
    Type.String({ description: "Only messages that came then or later, as 2026-02-12T09:58:20.323+0000." }),
  ),
  receivedUntil: optional(Type.String({ description: "Only messages that came then or earlier." })),
  ...LimitQuery.properties,
});
export const InboxLogResponse = Type.Object({ results: Type.Array(IncomingMessage) }, { title: "IncomingLog" });
