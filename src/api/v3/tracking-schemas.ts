/** The shapes of version 3's reports and logs. */
import { Type } from "../../runtime/type.ts";
import { LimitQuery, optional } from "../schemas.ts";
import { LogQuery as FirstLogQuery, outcome, platform } from "../tracking-schemas.ts";

const text = (description: string) => optional(Type.String({ description }));
const Moment = Type.String({ description: "As 2026-02-12T09:58:20.323+0000." });

const ends = {
  sentAt: Moment,
  doneAt: Moment,
  messageCount: Type.Integer({ description: "Number of parts." }),
  mccMnc: text("The phone's network."),
  ...outcome,
  platform: optional(Type.Object({ entityId: optional(Type.String()), applicationId: optional(Type.String()) })),
  campaignReferenceId: text("The campaign that you sent it for."),
};

export const ReportResponse = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        {
          bulkId: text("The request that the message came with."),
          messageId: Type.String(),
          to: Type.String(),
          sender: Type.String(),
          callbackData: text("What you sent with the message."),
          ...ends,
        },
        { title: "ReportV3" },
      ),
    ),
  },
  { title: "ReportsV3" },
);

const { from: _, to: __, ...filters } = FirstLogQuery.properties;
export const LogQuery = Type.Object({
  sender: text("Only messages with this sender."),
  destination: text("Only messages to this number."),
  ...filters,
  ...platform,
  ...LimitQuery.properties,
  useCursor: optional(Type.Boolean({ description: "Answer with a cursor, by which the next page is asked for." })),
  cursor: text("The nextCursor of the page before, with the same filters."),
});

export const LogResponse = Type.Object({
  results: Type.Array(
    Type.Object({
      bulkId: text("The request that the message came with."),
      messageId: Type.String(),
      destination: Type.String(),
      sender: Type.String(),
      ...ends,
      content: Type.Object(
        {
          text: text("As the phone shows it."),
          hex: text("The octets of a binary message."),
          dataCoding: optional(Type.Integer()),
          esmClass: optional(Type.Integer()),
        },
        { description: "Either text, or hex with its coding." },
      ),
    }),
  ),
  cursor: optional(
    Type.Object({
      limit: Type.Integer(),
      nextCursor: text("For the next page. There is none on the last one."),
    }),
  ),
});
