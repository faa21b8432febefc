/** The shapes of messages from phones. */
import { Type } from "../runtime/type.ts";
import { LimitQuery } from "./schemas.ts";
import { OptionalText, optional, Text, Whole } from "./shapes.ts";

export const IncomingBinary = Type.Object(
  {
    hex: Text("The octets, two digits each."),
    dataCoding: Whole("The data coding scheme."),
    esmClass: Whole("64 where the octets begin with a user data header, else 0."),
  },
  { title: "IncomingBinary", description: "Only of a message that is no text. Its text is the same hex." },
);

const IncomingMessage = Type.Object(
  {
    messageId: Type.String(),
    from: Text("The phone."),
    to: Text("Your number."),
    text: Type.String(),
    cleanText: Text("The text without its keyword."),
    keyword: OptionalText("The first word, in capitals. Only where it is a keyword of the number."),
    receivedAt: Text("As 2026-02-12T09:58:20.323+0000."),
    smsCount: Whole("Number of parts that came."),
    price: Type.Object({ pricePerMessage: Type.Number(), currency: Type.String() }),
    callbackData: OptionalText("What your operator has set for the number; so are the next three."),
    entityId: OptionalText("For your own use."),
    applicationId: OptionalText("For your own use."),
    campaignReferenceId: OptionalText("For your own use."),
    binary: optional(IncomingBinary),
  },
  { title: "IncomingMessage" },
);

export const InboxResponse = Type.Object(
  {
    results: Type.Array(IncomingMessage),
    messageCount: Whole("How many are in this answer."),
    pendingMessageCount: Whole("How many more can be fetched; counted up to 10,000."),
  },
  { title: "IncomingMessages" },
);

export const InboxLogQuery = Type.Object({
  to: OptionalText("Only messages to this number of yours."),
  keyword: OptionalText("Only messages with this keyword."),
  receivedSince: OptionalText("Only messages that came then or later, as 2026-02-12T09:58:20.323+0000."),
  receivedUntil: OptionalText("Only messages that came then or earlier."),
  ...LimitQuery.properties,
});
export const InboxLogResponse = Type.Object({ results: Type.Array(IncomingMessage) }, { title: "IncomingLog" });
