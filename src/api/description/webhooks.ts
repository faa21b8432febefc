/**
 * What the service pushes to clients' URLs, as the document's webhooks: a row for each. The examples are rendered as real ones are. A new
 * form of a push is a new row, or a new content type of one.
 */
import { sampleBody } from "../../reports/rendering/samples.ts";
import { type TSchema, Type } from "../../runtime/type.ts";
import { InboxResponse } from "../incoming-schemas.ts";
import { Text, Whole } from "../shapes.ts";
import { ReportResponse } from "../tracking-schemas.ts";
import { ReportResponse as ReportResponseV3 } from "../v3/tracking-schemas.ts";
import type { MediaTypes, OperationObject, Schema } from "./document.ts";
import type { SharedSchemas } from "./shared-schemas.ts";

type Kind = Parameters<typeof sampleBody>[0];
type Form = Parameters<typeof sampleBody>[1];

const BalanceAlert = Type.Object(
  {
    results: Type.Array(
      Type.Object({
        accountKey: Type.String(),
        balance: Type.Number({ description: "The balance when it went below." }),
        below: Type.Number({ description: "The amount that the account was to be told of." }),
        currency: Type.String(),
        at: Text("When it went below."),
      }),
    ),
  },
  { title: "BalanceAlert" },
);

const Click = Type.Object(
  {
    notificationType: Type.String(),
    recipient: Text("The phone to which the link was sent."),
    url: Text("Where the link leads."),
    sendDateTime: Whole("Milliseconds since 1970."),
    messageId: Type.String(),
    bulkId: Type.String(),
    callbackData: Type.Optional(Type.String()),
    recipientInfo: Type.Object(
      {
        deviceType: Type.Optional(Type.String()),
        os: Type.Optional(Type.String()),
        deviceName: Type.Optional(Type.String()),
      },
      { description: "What the phone says of itself, as far as it is known." },
    ),
    applicationId: Type.Optional(Type.String()),
    entityId: Type.Optional(Type.String()),
  },
  { title: "Click" },
);

const DeliveryNotification = Type.Object(
  {
    deliveryInfoNotification: Type.Object({
      deliveryInfo: Type.Object({
        address: Type.String(),
        messageId: Type.String(),
        deliveryStatus: Type.String(),
        clientCorrelator: Type.Optional(Type.String()),
        price: Type.Number(),
      }),
      callbackData: Type.Optional(Type.String()),
    }),
  },
  { title: "DeliveryNotification" },
);

interface Push {
  /** Its name in the document, and of the function that takes it in a generated server. */
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly kind: Kind;
  /** The form of the body, by content type. */
  readonly forms: Readonly<Record<string, Form>>;
  /** Of the body in JSON. */
  readonly schema: TSchema;
}

const JSON_AND_XML = { "application/json": "application/json", "application/xml": "application/xml" } as const;

const PUSHES: readonly Push[] = [
  {
    name: "deliveryReports",
    summary: "Delivery reports of messages with a notifyUrl",
    description: "Up to 100 reports in a request, in the form that notifyContentType asks for.",
    kind: "delivery",
    forms: JSON_AND_XML,
    schema: ReportResponse,
  },
  {
    name: "deliveryReportsV3",
    summary: "Delivery reports of messages that were sent by version 3",
    description: "Up to 100 reports in a request, in the form that webhooks.contentType asks for.",
    kind: "delivery",
    forms: { "application/json": "v3 json", "application/xml": "v3 xml" },
    schema: ReportResponseV3,
  },
  {
    name: "deliveryNotification",
    summary: "The delivery report of a message that was sent by OneAPI",
    description: "One report in a request, to the request's notifyURL or a subscription's.",
    kind: "delivery",
    forms: { "application/json": "oneapi" },
    schema: DeliveryNotification,
  },
  {
    name: "incomingMessages",
    summary: "Messages from phones to a number with a forwardUrl",
    description: "Up to 100 messages in a request, in the form that the number's contentType asks for.",
    kind: "incoming",
    forms: JSON_AND_XML,
    schema: InboxResponse,
  },
  {
    name: "clicks",
    summary: "Somebody has opened a short link",
    description: "One click in a request, to the trackingUrl; the first 100 of each link.",
    kind: "click",
    forms: { "application/json": "application/json" },
    schema: Click,
  },
  {
    name: "balanceAlert",
    summary: "An account's balance has gone below the amount that its owner named",
    description:
      "Once each time that it goes below, and when the alert is set on a balance that is below already, to the URL of the account's alert. Of a reseller's client it is signed with the reseller's callbackSecret.",
    kind: "alert",
    forms: { "application/json": "application/json" },
    schema: BalanceAlert,
  },
];

const SIGNED =
  "Signed as Standard Webhooks are: HMAC-SHA256 with the account's callbackSecret. Any 2xx takes it. Otherwise the n-th retry, n from 0, comes 1 + n² " +
  "minutes later, 20 times; after that it is a dead letter that can be replayed. Redirects are not followed.";

const header = (name: string, description: string, example: string) => ({
  name,
  in: "header" as const,
  required: true,
  description,
  schema: { type: "string" },
  example,
});

const HEADERS = [
  header("webhook-id", "The same on every try.", "3763870000000000031"),
  header("webhook-timestamp", "Seconds since 1970, of this try.", "1770890300"),
  header(
    "webhook-signature",
    "`v1,` and the signature; two of them while the account changes its secret.",
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  ),
];

function contentOf({ kind, forms, schema }: Push, shared: SharedSchemas): MediaTypes {
  const media = (contentType: string, form: Form) => {
    const body = sampleBody(kind, form);
    if (contentType !== "application/json") return { schema: { type: "string" }, example: body };
    return { schema: shared.share(JSON.parse(JSON.stringify(schema)) as Schema), example: JSON.parse(body) as unknown };
  };
  return Object.fromEntries(
    Object.entries(forms).map(([contentType, form]) => [contentType, media(contentType, form)]),
  );
}

export function webhooks(shared: SharedSchemas): Record<string, { readonly post: OperationObject }> {
  return Object.fromEntries(
    PUSHES.map((push) => {
      const post: OperationObject = {
        operationId: push.name,
        tags: ["Pushes"],
        summary: push.summary,
        description: `${push.description} ${SIGNED}`,
        security: [],
        parameters: [...HEADERS],
        requestBody: { required: true, content: contentOf(push, shared) },
        responses: {
          "200": { description: "Taken. Any other 2xx says the same." },
          "410": { description: "Nobody is there any more: it is not tried again." },
        },
      };
      return [push.name, { post }];
    }),
  );
}
