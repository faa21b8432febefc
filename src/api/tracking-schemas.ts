/** The shapes of reports and logs. */
import { Type } from "../runtime/type.ts";
import { LimitQuery, Status } from "./schemas.ts";
import { OneOf, OptionalText, Text, Whole } from "./shapes.ts";

/** The groups of the table of statuses (sms/data/statuses.ts). */
export const STATUS_GROUPS = ["ACCEPTED", "PENDING", "UNDELIVERABLE", "DELIVERED", "REJECTED", "EXPIRED"] as const;

const ids = (description: string) =>
  Type.Optional(Type.Array(Type.String(), { description: `${description} Repeated, or separated by commas.` }));

const names = {
  bulkId: ids("Only messages of these bulks."),
  messageId: ids("Only these messages."),
};

export const platform = {
  entityId: OptionalText("Only messages that were sent with this entityId."),
  applicationId: OptionalText("Only messages that were sent with this applicationId."),
  campaignReferenceId: ids("Only messages of these campaigns."),
};

export const ReportQuery = Type.Object({ ...names, ...platform, ...LimitQuery.properties });

export const LogQuery = Type.Object({
  from: OptionalText("Only messages with this sender."),
  to: OptionalText("Only messages to this number."),
  ...names,
  generalStatus: Type.Optional(OneOf(STATUS_GROUPS, "Only messages in this group of statuses.")),
  sentSince: OptionalText(
    "Only messages sent then or later, as 2026-02-12T09:58:20.323+0000; 48 hours ago unless given.",
  ),
  sentUntil: OptionalText("Only messages sent then or earlier."),
  mcc: OptionalText("Only messages to networks of this country: 3 digits."),
  mnc: OptionalText("Only messages to networks of this number: 2 or 3 digits."),
  ...platform,
  ...LimitQuery.properties,
});

/** What has become of a message, in every version. */
export const outcome = {
  price: Type.Object(
    { pricePerMessage: Type.Number({ description: "For one part." }), currency: Type.String() },
    { title: "Price" },
  ),
  status: Status,
  error: Type.Object({ ...Status.properties, permanent: Type.Boolean() }, { title: "DeliveryError" }),
};

const item = {
  bulkId: OptionalText("The request that the message came with."),
  messageId: Type.String(),
  to: Type.String(),
  from: Type.String(),
  sentAt: Text("When a carrier took it; for one that none took, when it was accepted."),
  doneAt: Text("When its status became final; while it is on its way, when a carrier took it."),
  smsCount: Whole("Number of parts."),
  mccMnc: OptionalText("The phone's network. Only where it is known."),
  callbackData: OptionalText("What you sent with the message."),
  campaignReferenceId: OptionalText("The campaign that you sent it for."),
  entityId: OptionalText("The business for which you sent it."),
  applicationId: OptionalText("The application that sent it."),
  ...outcome,
};

export const ReportResponse = Type.Object(
  { results: Type.Array(Type.Object(item, { title: "Report" })) },
  { title: "Reports" },
);

export const LogResponse = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        {
          ...item,
          text: Text("As the phone shows it."),
        },
        { title: "Log" },
      ),
    ),
  },
  { title: "Logs" },
);
