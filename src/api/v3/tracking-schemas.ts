/** The shapes of version 3's reports and logs. */
import { Type } from "../../runtime/type.ts";
import { LimitQuery } from "../schemas.ts";
import { OptionalFlag, OptionalText, optional, Text, Whole } from "../shapes.ts";
import { LogQuery as FirstLogQuery, outcome, platform } from "../tracking-schemas.ts";
import { StatusV3 } from "./schemas.ts";

const Moment = Text("As 2026-02-12T09:58:20.323+0000.");

const ends = {
  sentAt: Moment,
  doneAt: Moment,
  messageCount: Whole("Number of parts."),
  mccMnc: OptionalText("The phone's network."),
  ...outcome,
  status: StatusV3,
  platform: optional(Type.Object({ entityId: optional(Type.String()), applicationId: optional(Type.String()) })),
  campaignReferenceId: OptionalText("The campaign that you sent it for."),
};

export const ReportResponse = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        {
          bulkId: OptionalText("The request that the message came with."),
          messageId: Type.String(),
          to: Type.String(),
          sender: Type.String(),
          callbackData: OptionalText("What you sent with the message."),
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
  sender: OptionalText("Only messages with this sender."),
  destination: OptionalText("Only messages to this number."),
  ...filters,
  ...platform,
  ...LimitQuery.properties,
  useCursor: OptionalFlag("Answer with a cursor, by which the next page is asked for."),
  cursor: OptionalText("The nextCursor of the page before, with the same filters."),
});

export const LogResponse = Type.Object({
  results: Type.Array(
    Type.Object({
      bulkId: OptionalText("The request that the message came with."),
      messageId: Type.String(),
      destination: Type.String(),
      sender: Type.String(),
      ...ends,
      content: Type.Object(
        {
          text: OptionalText("As you wrote it."),
          transliteration: OptionalText("What you asked for."),
          language: optional(
            Type.Object({
              languageCode: optional(Type.String()),
              singleShift: optional(Type.Boolean()),
              lockingShift: optional(Type.Boolean()),
            }),
          ),
          hex: OptionalText("The octets of a binary message."),
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
      nextCursor: OptionalText("For the next page. There is none on the last one."),
    }),
  ),
});
