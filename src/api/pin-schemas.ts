/** The shapes of PINs: applications, templates, sending and verifying. */
import { MAX_PIN_ATTEMPTS } from "../pins/defaults.ts";
import { DEFAULT_PIN_LENGTH, MAX_PIN_BROUGHT, MAX_PIN_LENGTH, MIN_PIN_LENGTH, PIN_TYPES } from "../pins/pin.ts";
import { type TProperties, Type } from "../runtime/type.ts";
import { Flag, OneOf, OptionalFlag, OptionalText, OptionalWhole, optional, Text } from "./shapes.ts";

const MAX_NAME = 255;
/** Of a span or a rate, such as "10000/1d". */
const MAX_RULE = 30;
/** A text of ten parts, before its placeholders are filled in. */
const MAX_TEXT = 1_530;
const MAX_PLACEHOLDERS = 50;
const MAX_VALUE = 500;
const MAX_ID = 100;

const Rule = (description: string) => Type.String({ minLength: 1, maxLength: MAX_RULE, description });
const Id = (description: string) => Type.String({ minLength: 1, maxLength: MAX_ID, description });
const Kept = (description: string) => optional(Type.String({ maxLength: MAX_NAME, description }));

const CONFIGURATION = {
  pinAttempts: Type.Integer({
    minimum: 1,
    maximum: MAX_PIN_ATTEMPTS,
    description: "How often a PIN may be verified, rightly or wrongly. Default 10.",
  }),
  allowMultiplePinVerifications: Flag("Whether a PIN may be verified again after it was right. Default true."),
  pinTimeToLive: Rule("How long a PIN is good after it was sent, such as 15m; at most a year. Default 15m."),
  verifyPinLimit: Rule("Verifications of one phone number, such as 1/3s; at most for a day. Default 1/3s."),
  sendPinPerApplicationLimit: Rule("PINs that the application sends; at most for a year. Default 10000/1d."),
  sendPinPerPhoneNumberLimit: Rule("PINs to one phone number; at most for a year. Default 3/1d."),
};

/** The same fields, none of which has to be there. */
function partly<Fields extends TProperties>(fields: Fields) {
  return Type.Partial(Type.Object(fields));
}

const NAME = Type.String({ minLength: 1, maxLength: MAX_NAME, description: "What you call it." });

export const ApplicationRequest = Type.Object({
  name: NAME,
  enabled: OptionalFlag("Whether PINs are sent for it. Default true."),
  configuration: optional(partly(CONFIGURATION)),
});

export const ApplicationResponse = Type.Object({
  applicationId: Type.String(),
  name: Type.String(),
  enabled: Type.Boolean(),
  configuration: Type.Object(CONFIGURATION),
});

const LANGUAGES = "en es ca da nl fr de it ja ko no pl ru sv fi hr sl ro pt_pt pt_br zh_cn zh_tw".split(" ");
const TELEMARKETER = Type.String({ maxLength: 255 });
const INDIA = {
  principalEntityId: Type.String({ minLength: 1, maxLength: 30 }),
  contentTemplateId: optional(Type.String({ maxLength: 30 })),
  teleMarketerId: optional(TELEMARKETER),
};
/** Speech has no meaning here: what a client keeps with its template it gets back. */
const SPEECH = {
  language: optional(OneOf(LANGUAGES, "Of speech; kept.")),
  repeatDTMF: Kept("Of speech; kept."),
  voiceName: Kept("Of speech; kept."),
  speechRate: optional(Type.Number({ minimum: 0.5, maximum: 2, description: "Of speech; kept." })),
};

const TEMPLATE = {
  messageText: Type.String({
    minLength: 1,
    maxLength: MAX_TEXT,
    description: "What the message says. It has {{pin}}, and may have other {{names}}.",
  }),
  pinType: OneOf(PIN_TYPES, "Of what a PIN is made."),
};
const TEMPLATE_OPTIONS = {
  pinLength: optional(
    Type.Integer({
      minimum: MIN_PIN_LENGTH,
      maximum: MAX_PIN_LENGTH,
      description: `How many signs a PIN has. Default ${DEFAULT_PIN_LENGTH}.`,
    }),
  ),
  senderId: optional(Type.String({ maxLength: MAX_NAME, description: "Who it is from. Default: the account's." })),
  ...SPEECH,
  regional: optional(
    Type.Object({
      // Clients spell it both ways.
      indiaDlt: optional(Type.Object({ ...INDIA, telemarketerId: optional(TELEMARKETER) })),
    }),
  ),
};

export const NewTemplateRequest = Type.Object({ ...TEMPLATE, ...TEMPLATE_OPTIONS });
export const TemplateRequest = Type.Object({
  messageText: optional(TEMPLATE.messageText),
  pinType: optional(TEMPLATE.pinType),
  ...TEMPLATE_OPTIONS,
});

export const TemplateResponse = Type.Object({
  messageId: Type.String(),
  applicationId: Type.String(),
  pinPlaceholder: Text("Always {{pin}}."),
  messageText: Type.String(),
  pinLength: Type.Integer(),
  pinType: TEMPLATE.pinType,
  senderId: optional(Type.String()),
  ...SPEECH,
  regional: optional(Type.Object({ indiaDlt: optional(Type.Object(INDIA)) })),
});

const SENDING = {
  from: optional(Type.String({ maxLength: MAX_NAME, description: "In place of the template's sender." })),
  placeholders: optional(
    Type.Record(Type.String(), Type.String({ maxLength: MAX_VALUE }), {
      maxProperties: MAX_PLACEHOLDERS,
      description: "A value for each {{name}} of the text, by its name without braces. Never pin.",
    }),
  ),
  trackDelivery: OptionalFlag("Give the id of the message, whose report comes as others do. Default false."),
};

export const SendPinRequest = Type.Object({
  applicationId: Id("The application."),
  messageId: Id("The template."),
  to: Type.String({ minLength: 1, maxLength: MAX_ID, description: "The phone number in international form." }),
  ...SENDING,
});
export const SendPinQuery = Type.Object({
  ncNeeded: optional(Type.Unknown({ description: "Whether to look the number up first: this service never does." })),
});
export const ResendPinRequest = Type.Object(SENDING);

export const SendPinResponse = Type.Object({
  pinId: Type.String(),
  to: Type.String(),
  ncStatus: OptionalText("NC_NOT_CONFIGURED; not there with ncNeeded=false."),
  smsStatus: Text("MESSAGE_SENT, or MESSAGE_NOT_SENT."),
  externalMessageId: OptionalText("The message's id, with trackDelivery."),
});

export const VerifyPinRequest = Type.Object({
  pin: Type.String({ minLength: 1, maxLength: MAX_PIN_BROUGHT, description: "What the person typed." }),
});

export const VerifyPinResponse = Type.Object({
  pinId: Type.String(),
  msisdn: Type.String(),
  verified: Type.Boolean(),
  attemptsRemaining: Type.Integer(),
  pinError: OptionalText("WRONG_PIN, TTL_EXPIRED, or NO_MORE_PIN_ATTEMPTS."),
});

export const VerificationsQuery = Type.Object({
  msisdn: Text("The phone number."),
  verified: OptionalText("Only those that were (true) or were not (false) verified."),
  sent: OptionalText("Only those that were (true) or were not (false) sent."),
});

export const VerificationsResponse = Type.Object({
  verifications: Type.Array(
    Type.Object({
      msisdn: Type.String(),
      verified: Type.Boolean(),
      verifiedAt: OptionalWhole("Milliseconds since 1970."),
      sentAt: OptionalWhole("Milliseconds since 1970."),
    }),
  ),
});
