/**
 * The shapes of the API. One schema gives the type, the validation, the answer's serializer and the page at /docs. One with a `title` stands once in the
 * description, under that name (description/shared-schemas.ts).
 */
import { type TProperties, Type } from "../runtime/type.ts";
import { MAX_URL_LENGTH } from "../runtime/urls.ts";
import { TIME_UNITS } from "../schedule/pace.ts";
import { DAYS } from "../schedule/window.ts";
import { SENDER_FORM } from "../sms/addresses.ts";
import { LANGUAGE_CHOICES, TRANSLITERATIONS } from "../sms/text.ts";
import { BULK_STATUSES } from "../store/port/bulks.ts";
import { UrlOptions } from "./link-options.ts";
import { DEFAULT_LIMIT, MAX_LIMIT } from "./query.ts";
import { regionalQuery } from "./regional-query.ts";
import { Flag, OneOf, OptionalFlag, OptionalText, OptionalWhole, optional, Text, Whole } from "./shapes.ts";

const TimeOfDay = Type.Object(
  {
    hour: Type.Integer({ minimum: 0, maximum: 23 }),
    minute: Type.Integer({ minimum: 0, maximum: 59 }),
  },
  { title: "TimeOfDay" },
);

export const DeliveryTimeWindow = Type.Object(
  {
    days: Type.Array(OneOf(DAYS, "A day on which sending is allowed."), { minItems: 1, maxItems: 7 }),
    from: optional(TimeOfDay),
    to: optional(TimeOfDay),
  },
  {
    title: "DeliveryTimeWindow",
    description:
      "When sending is allowed, in UTC. from and to are given both or not at all; from later than to goes over midnight.",
  },
);

const LanguageCode = OneOf(
  LANGUAGE_CHOICES,
  "Turkish, Spanish or Portuguese letters in the 7 bit alphabet; AUTODETECT: of these the one that takes the fewest parts.",
);
const MessageText = Type.String({ minLength: 1, description: "The message." });
const From = Text(`Sender: ${SENDER_FORM}.`);
const To = Text("Recipient in international form: 4 to 15 digits. A plus sign or 00 before it is taken off.");
/** A number, or several: real clients of the family send both. */
const ToOneOrMany = Type.Unsafe<string | string[]>({
  type: ["string", "array"],
  items: { type: "string" },
  minItems: 1,
  description: "Recipient, or an array of recipients.",
});

export const CampaignReferenceId = optional(
  Type.String({ maxLength: 255, description: "The campaign that it is part of. Comes back in reports and logs." }),
);

/** The optional fields of a message, the same in every sending operation. */
export const Regional = Type.Object(
  {
    indiaDlt: optional(
      Type.Object({
        principalEntityId: Type.String({ minLength: 1, maxLength: 255, description: "The registered sender." }),
        contentTemplateId: optional(Type.String({ maxLength: 255, description: "The registered template." })),
        telemarketerId: optional(Type.String({ maxLength: 255, description: "Of an aggregator." })),
      }),
    ),
    turkeyIys: optional(
      Type.Object({
        recipientType: OneOf(["BIREYSEL", "TACIR"], "A person or a merchant."),
        brandCode: optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
      }),
    ),
    southKorea: optional(
      Type.Object({
        resellerCode: optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
        title: optional(Type.String({ maxLength: 66 })),
      }),
    ),
  },
  { description: "What the rules of a country ask for. It is handed to carriers whose profile names a place for it." },
);

const PlatformId = (description: string) => optional(Type.String({ maxLength: 255, description }));

/** Kept with a message, told in its reports and logs, and a filter there. */
export const platformIds = {
  entityId: PlatformId("The business for which it is sent. Comes back in reports and logs."),
  applicationId: PlatformId("The application that sends it. Comes back in reports and logs."),
};

const Language = optional(
  Type.Object(
    {
      languageCode: optional(LanguageCode),
      singleShift: optional(Type.Boolean()),
      lockingShift: optional(Type.Boolean()),
    },
    { title: "Language" },
  ),
);

const messageOptions = {
  flash: OptionalFlag("Shown on the phone at once and not kept. Default false."),
  language: Language,
  languageCode: optional(LanguageCode),
  transliteration: optional(
    OneOf(TRANSLITERATIONS, "Turns letters of a script into the closest ones of the 7 bit alphabet."),
  ),
  intermediateReport: OptionalFlag("Also report changes that are not final."),
  notifyUrl: OptionalText("Where delivery reports are posted: absolute, http or https."),
  notifyContentType: optional(OneOf(["application/json", "application/xml"], "The form of the delivery reports.")),
  callbackData: optional(Type.String({ maxLength: 200, description: "Comes back in the delivery report." })),
  campaignReferenceId: CampaignReferenceId,
  ...platformIds,
  regional: optional(Regional),
  validityPeriod: optional(
    Type.Integer({ minimum: 1, description: "Minutes, or what validityPeriodTimeUnit says; at most 48 hours." }),
  ),
  validityPeriodTimeUnit: optional(OneOf(["SECONDS", "MINUTES", "HOURS"], "The unit of validityPeriod.")),
  sendAt: OptionalText("When to send, as 2026-02-12T09:58:20.323+0000; at most 180 days ahead."),
  deliveryTimeWindow: optional(DeliveryTimeWindow),
};

export const MessageId = Type.String({
  maxLength: 200,
  description: "An id of your own for this message; unique in your account.",
});
export const BulkId = Type.String({
  maxLength: 100,
  description: "An id of your own for this request. The same request again is not sent twice.",
});

const Octet = (description: string) => optional(Type.Integer({ minimum: 0, maximum: 255, description }));
const Binary = Type.Object(
  {
    hex: Type.String({ minLength: 1, description: "The octets, two digits each, with or without spaces." }),
    dataCoding: Octet("The data coding scheme. Default 0."),
    esmClass: Octet("SMPP's esm_class; 64 where the octets begin with a user data header. Default 0."),
  },
  { title: "BinaryContent" },
);
const Destination = Type.Object({ to: To, messageId: optional(MessageId) }, { title: "Destination" });

export const SendingSpeedLimit = optional(
  Type.Object(
    {
      amount: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: "How many messages." }),
      timeUnit: optional(OneOf(TIME_UNITS, "In which time. MINUTE unless given.")),
    },
    { description: "At most so many messages of this request in any such time, spread evenly." },
  ),
);

const TrackingText = (description: string) => optional(Type.String({ maxLength: 255, description }));

/** Conversion tracking as the first two versions write it. */
const Tracking = Type.Object({
  track: TrackingText("SMS or URL."),
  type: TrackingText("A name of your own for what is counted."),
  baseUrl: optional(Type.String({ maxLength: MAX_URL_LENGTH, description: "The domain of short links." })),
  processKey: TrackingText("A key of your own, told as trackingProcessKey in the answer. Made up unless given."),
});

/** The bodies of the sending operations, where a message says a text, or octets. */
function sendingRequests<Says extends TProperties>(name: string, says: Says) {
  const advanced = Type.Object(
    {
      from: optional(From),
      destinations: Type.Array(Destination, { minItems: 1 }),
      ...says,
      ...messageOptions,
    },
    { title: `Advanced${name}` },
  );
  const simple = { from: optional(From), to: ToOneOrMany, ...says, ...messageOptions };
  const several = {
    bulkId: optional(BulkId),
    tracking: optional(Tracking),
    messages: Type.Array(advanced, { minItems: 1 }),
    urlOptions: optional(UrlOptions),
    sendingSpeedLimit: SendingSpeedLimit,
  };
  const plain = Type.Object(simple, { title: `Plain${name}` });
  return {
    advanced: Type.Object(several),
    advancedV2: Type.Object({
      ...several,
      includeSmsCountInResponse: OptionalFlag("Put smsCount into the answer."),
    }),
    multi: Type.Object({ bulkId: optional(BulkId), messages: Type.Array(plain, { minItems: 1 }) }),
    single: Type.Object({ ...simple, bulkId: optional(BulkId), messageId: optional(MessageId) }),
  };
}

export const SendingRequests = {
  text: sendingRequests("Text", { text: MessageText }),
  binary: sendingRequests("Binary", { binary: Binary }),
};

const { language: _, deliveryTimeWindow: __, regional: ___, ...flatOptions } = messageOptions;
export const TextQuery = Type.Object({
  username: OptionalText("With password, in place of an Authorization header."),
  password: optional(Type.String()),
  from: optional(From),
  to: Type.Array(Type.String(), { minItems: 1, description: "Recipients, separated by commas." }),
  text: MessageText,
  ...flatOptions,
  ...regionalQuery,
  bulkId: optional(BulkId),
  messageId: optional(MessageId),
  track: OptionalText("SMS: it will be told whether the message brought what it is for."),
  trackingType: optional(Type.String({ maxLength: 255, description: "What that is called." })),
  processKey: optional(Type.String({ maxLength: 255, description: "A key of your own for it." })),
});

export const PreviewRequest = Type.Object({
  text: Type.String({ minLength: 1, maxLength: 10_000 }),
  language: Language,
  languageCode: optional(LanguageCode),
  transliteration: messageOptions.transliteration,
});

export const WriteRequest = Type.Object({
  from: Text("The phone that writes: 4 to 15 digits."),
  to: Text("The number that it writes to: 3 to 15 digits."),
  text: Type.String({ minLength: 1, maxLength: 10_000 }),
});

const Code = Type.String({ maxLength: 16, description: "Six digits of the second factor, or a recovery code." });

export const LoginRequest = Type.Object(
  { username: Type.String(), password: Type.String(), code: optional(Code) },
  { title: "Login", description: "Or in headers of these names, in the query, or in a Basic header." },
);

export const FactorRequest = Type.Object({
  password: optional(Type.String({ maxLength: 1_024, description: "Yours, unless it stands in a Basic header." })),
});
export const CodeRequest = Type.Object(
  { code: Code },
  { title: "SecondFactorCode", description: "Or in a header of this name, or in the query." },
);

export const FundsRequest = Type.Object(
  {
    accountKey: Text("A client account of yours."),
    ammount: Type.Number({ description: "What to add, with at most 6 places; a negative amount is taken away." }),
    currencycode: OptionalText("ISO 4217; the account's own currency unless given."),
    currencyCode: OptionalText("Another spelling of currencycode."),
    description: Type.String({ minLength: 1, maxLength: 255 }),
  },
  { additionalProperties: false, description: "Or in the query. A field beside these is refused." },
);

export const LimitQuery = Type.Object({
  limit: optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_LIMIT,
      default: DEFAULT_LIMIT,
      description: "How many to answer with at most.",
    }),
  ),
});

export const BulkQuery = Type.Object({
  bulkId: Type.String({ minLength: 1, maxLength: 100, description: "The bulkId that you chose or were given." }),
});

const SendAt = Text("As 2026-02-12T09:58:20.323+0000.");
const BulkStatus = OneOf(BULK_STATUSES, "How far the bulk is.");

export const BulkMove = Type.Object({
  sendAt: Text("The new time, at most 180 days ahead; one in the past is now."),
});
export const BulkStatusChange = Type.Object({
  status: OneOf(BULK_STATUSES, "PAUSED, PENDING (resumes it) or CANCELED; a bulk becomes the others by itself."),
});

// --- Answers ---------------------------------------------------------------------------------------------------------------

export const Status = Type.Object(
  {
    groupId: Type.Integer(),
    groupName: Type.String(),
    id: Type.Integer(),
    name: Type.String(),
    description: Type.String(),
  },
  { title: "Status" },
);

const MessageResults = Type.Array(
  Type.Object(
    {
      to: Type.String(),
      status: Status,
      smsCount: OptionalWhole("Number of parts; absent for a message that waits for its time."),
      messageId: optional(Type.String()),
    },
    { title: "SentMessage" },
  ),
);

export const AdvancedResponse = Type.Object(
  {
    bulkId: Type.String(),
    trackingProcessKey: Type.String(),
    messages: MessageResults,
  },
  { title: "SentAdvanced" },
);
export const BulkResponse = Type.Object({ bulkId: Type.String(), messages: MessageResults }, { title: "SentBulk" });
export const SingleResponse = Type.Object(
  { bulkId: optional(Type.String()), messages: MessageResults },
  { title: "SentSingle" },
);

export const BulkSchedule = Type.Object({ bulkId: Type.String(), sendAt: SendAt }, { title: "BulkSchedule" });
export const BulkState = Type.Object({ bulkId: Type.String(), status: BulkStatus }, { title: "BulkState" });

export const BalanceResponse = Type.Object({ balance: Type.Number(), currency: Type.String() });
export const TotalBalanceResponse = Type.Object({
  balance: Type.Number(),
  currency: Type.Object({ code: Type.String() }),
  freeMessages: Type.Object({}, { description: "By their kind; there are none." }),
});
export const FreeMessagesResponse = Type.Object({ remainingCount: Whole("How many are left.") });
export const LoginResponse = Type.Object({
  login: Type.Object({ verified: Type.Boolean(), ibAuthCookie: Type.String() }),
});
export const SessionResponse = Type.Object({ token: Text("For Authorization: IBSSO …") });
export const FactorResponse = Type.Object({
  enabled: Flag("Whether it is in force."),
  required: Flag("Whether the account may do nothing without one."),
  recoveryCodes: Whole("How many were not used yet."),
});
export const NewFactorResponse = Type.Object({
  secret: Text("For the app, in base32. Shown only now."),
  uri: Text("The same for an app that reads links or QR codes."),
});
export const RecoveryCodesResponse = Type.Object({
  recoveryCodes: Type.Array(Type.String(), { description: "Each is good once in place of a code. Shown only now." }),
});
export const FundsResponse = Type.Object({ transactionId: Type.Integer() });
export const PreviewResponse = Type.Object({
  originalText: Type.String(),
  previews: Type.Array(
    Type.Object({
      textPreview: Type.String(),
      messageCount: Type.Integer(),
      charactersRemaining: Type.Integer(),
      configuration: Type.Object({
        language: optional(Type.Object({ languageCode: Type.String() })),
        transliteration: optional(Type.String()),
      }),
    }),
  ),
});

export const Done = Type.Null({ description: "Done; there is nothing to say." });
export const HealthResponse = Type.Object({ status: Type.String() }, { title: "Health" });

export const StatusResponse = Type.Object(
  {
    status: Text("ready, or why it is not."),
    store: Text("Which store it works on: the same for services on one store."),
    findings: Type.Array(
      Type.Object({
        area: Type.String(),
        about: Text("The carrier."),
        state: Text("warning or wrong."),
        says: Type.String(),
        mend: Text("What to do."),
      }),
    ),
  },
  { title: "ServiceStatus" },
);

export const DeadLettersResponse = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        {
          id: Text("Also the webhook-id."),
          accountKey: Type.String(),
          url: Type.String(),
          itemCount: Type.Integer(),
          attempts: Type.Integer(),
          deadAt: Type.String(),
          reason: Type.String(),
          history: Type.Array(
            Type.Object({
              at: Type.String(),
              status: OptionalWhole("The HTTP status, where there was an answer."),
              durationMs: Type.Integer(),
              reason: Type.String(),
              excerpt: Text("The first bytes of the answer."),
            }),
          ),
        },
        { title: "DeadReport" },
      ),
    ),
  },
  { title: "DeadReports" },
);
const Next = OptionalText("To be sent as after, in the same request otherwise: there may be more. None at the end.");
export const ReplayResponse = Type.Object({ replayed: Type.Integer(), next: Next }, { title: "Replayed" });
export const RetryResponse = Type.Object({ retried: Type.Integer(), next: Next }, { title: "Retried" });
