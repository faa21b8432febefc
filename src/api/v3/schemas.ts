/** The shapes of version 3's sending operations. */
import { Type } from "../../runtime/type.ts";
import { SENDER_FORM } from "../../sms/addresses.ts";
import { LANGUAGE_CHOICES, TRANSLITERATIONS } from "../../sms/text.ts";
import { regionalQuery } from "../regional-query.ts";
import * as schemas from "../schemas.ts";
import { OneOf, OptionalFlag, OptionalText, OptionalWhole, optional, Text, Whole } from "../shapes.ts";

const Url = (description: string) => optional(Type.String({ maxLength: 2_048, description }));
const CallbackData = optional(
  Type.String({ maxLength: 4_000, description: "Comes back in the delivery report, as it is." }),
);
const ContentType = optional(OneOf(["application/json", "application/xml"], "The form of the delivery reports."));
const Transliteration = optional(
  OneOf(TRANSLITERATIONS, "Turns letters of a script into the closest ones of the 7 bit alphabet."),
);
const LanguageCode = optional(OneOf(LANGUAGE_CHOICES, "Whose letters the 7 bit alphabet is to have."));
const WithSmsCount = OptionalFlag("Put the number of parts into the answer. Default false.");

const Content = Type.Object(
  {
    text: optional(Type.String({ minLength: 1, description: "The message." })),
    transliteration: Transliteration,
    language: optional(
      Type.Object(
        {
          languageCode: LanguageCode,
          singleShift: optional(Type.Boolean()),
          lockingShift: optional(Type.Boolean()),
        },
        { title: "MessageLanguage" },
      ),
    ),
    hex: optional(Type.String({ minLength: 1, description: "The octets of a binary message, two digits each." })),
    dataCoding: optional(Type.Integer({ minimum: 0, maximum: 255, description: "Of a binary message. Default 0." })),
    esmClass: optional(Type.Integer({ minimum: 0, maximum: 255, description: "Of a binary message. Default 0." })),
  },
  { title: "MessageContent", description: "A text or a binary message: exactly one of text and hex." },
);

const Validity = Type.Object({
  amount: Type.Integer({ minimum: 1, description: "More than 48 hours is taken as 48 hours." }),
  timeUnit: optional(OneOf(["SECONDS", "MINUTES", "HOURS"], "MINUTES unless given.")),
});

const Webhooks = Type.Object({
  delivery: optional(
    Type.Object({
      url: Url("Where delivery reports are posted: absolute, http or https."),
      intermediateReport: OptionalFlag("Also report changes that are not final."),
      notify: OptionalFlag("With false there is no report of this message at all."),
      contentType: ContentType,
    }),
  ),
  contentType: ContentType,
  callbackData: CallbackData,
});

const Message = Type.Object({
  sender: OptionalText(`${SENDER_FORM}.`),
  from: OptionalText("Taken where there is no sender."),
  destinations: Type.Array(
    Type.Object({
      to: Text("Recipient in international form: 4 to 15 digits."),
      messageId: optional(schemas.MessageId),
      networkId: OptionalWhole("Taken and not used: the route is chosen by the number."),
    }),
    { minItems: 1 },
  ),
  content: Content,
  options: optional(
    Type.Object({
      platform: optional(Type.Object(schemas.platformIds)),
      validityPeriod: optional(Validity),
      deliveryTimeWindow: optional(schemas.DeliveryTimeWindow),
      campaignReferenceId: schemas.CampaignReferenceId,
      regional: optional(schemas.Regional),
      flash: OptionalFlag("Shown on the phone at once and not kept. Default false."),
    }),
  ),
  webhooks: optional(Webhooks),
});

export const MessagesRequest = Type.Object({
  messages: Type.Array(Message, { minItems: 1 }),
  options: optional(
    Type.Object({
      schedule: optional(
        Type.Object({
          bulkId: optional(schemas.BulkId),
          sendAt: OptionalText("When to send, as 2026-02-12T09:58:20.323+0000; at most 180 days ahead."),
          sendingSpeedLimit: schemas.SendingSpeedLimit,
        }),
      ),
      tracking: optional(
        Type.Object({
          shortenUrl: OptionalFlag("Default true, once there is a tracking."),
          trackClicks: OptionalFlag("Default true."),
          trackingUrl: Url("Where clicks are told."),
          removeProtocol: OptionalFlag("Write short links without http://. Default false."),
          customDomain: optional(Type.String({ maxLength: 253, description: "A domain of your own for the links." })),
        }),
      ),
      includeSmsCountInResponse: WithSmsCount,
      conversionTracking: optional(
        Type.Object({
          useConversionTracking: OptionalFlag("Default false."),
          conversionTrackingName: optional(Type.String({ maxLength: 255 })),
        }),
      ),
    }),
  ),
});

export const TextQuery = Type.Object({
  to: Type.Array(Type.String(), { minItems: 1, description: "Recipients, separated by commas." }),
  text: Type.String({ minLength: 1, description: "The message." }),
  from: OptionalText("The sender."),
  bulkId: optional(schemas.BulkId),
  flash: optional(Type.Boolean()),
  intermediateReport: optional(Type.Boolean()),
  includeSmsCountInResponse: WithSmsCount,
  transliteration: Transliteration,
  languageCode: LanguageCode,
  notifyUrl: Url("Where delivery reports are posted."),
  notifyContentType: ContentType,
  trackingUrl: Url("Links in the text are shortened, and clicks told there."),
  trackingType: optional(Type.String({ maxLength: 255, description: "The name of a conversion to be tracked." })),
  callbackData: CallbackData,
  validityPeriod: optional(Type.Integer({ minimum: 1, description: "Minutes; more than 2880 is taken as 2880." })),
  sendAt: OptionalText("When to send; at most 180 days ahead."),
  ...schemas.platformIds,
  campaignReferenceId: schemas.CampaignReferenceId,
  ...regionalQuery,
});

export const StatusV3 = Type.Object({
  ...schemas.Status.properties,
  action: OptionalText("What you can do about a rejection."),
});

export const MessagesResponse = Type.Object(
  {
    bulkId: Type.String(),
    messages: Type.Array(
      Type.Object({
        messageId: Type.String(),
        status: StatusV3,
        destination: Type.String(),
        details: optional(Type.Object({ messageCount: Whole("Number of parts.") })),
      }),
    ),
  },
  { title: "SentMessages" },
);
