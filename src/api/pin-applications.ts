/** Applications that PINs are sent for, and the templates of their messages. */
import type { FastifyRequest } from "fastify";
import type { PinApplication, PinConfiguration, PinTemplate, PinTemplateChange } from "../pins/commands.ts";
import { MAX_APPLICATIONS, MAX_TEMPLATES } from "../pins/defaults.ts";
import { DAY_MS, parseRate, parseSpan, YEAR_MS } from "../pins/rate.ts";
import { PIN_PLACEHOLDER, textFault } from "../pins/text.ts";
import { given } from "../runtime/given.ts";
import { PIN_SECRET_OCTETS, publicId, secret } from "../runtime/random.ts";
import { Type } from "../runtime/type.ts";
import { isSender, plainSender, SENDER_FORM } from "../sms/addresses.ts";
import { ApiExceptionResponse } from "./error-schemas.ts";
import { ApiError, badField } from "./errors.ts";
import { type Api, accountOf, operation } from "./operation.ts";
import type { ApiParts } from "./parts.ts";
import * as schemas from "./pin-schemas.ts";

export const PIN_TAG = "PINs";
const MANAGING = { tag: PIN_TAG, auth: "account", scope: "pins", errors: ApiExceptionResponse } as const;
const APPLICATIONS = "/2fa/2/applications";
const ID = /^[0-9A-F]{32}$/;
const ID_OCTETS = 16;

export function newPinId(): string {
  return publicId(ID_OCTETS).toUpperCase();
}

/** An id in the path. What is no id names nothing that there is. */
export function pathId(request: FastifyRequest, name: "appId" | "msgId" | "pinId"): string {
  const id = String((request.params as Record<string, unknown>)[name]).toUpperCase();
  if (!ID.test(id)) throw unknown(name);
  return id;
}

const CALLED = { appId: "application", msgId: "template", pinId: "PIN" } as const;

export function unknown(name: keyof typeof CALLED): ApiError {
  return new ApiError("notFound", `There is no such ${CALLED[name]}.`);
}

function tooMany(says: string): ApiError {
  return new ApiError("badRequest", `${says}: change one of them instead.`);
}

// --- Applications -------------------------------------------------------------------------------------------------------------

/** Of the rules that are spans and rates: how each is read, and the longest that it may be for. */
const RATE = {
  read: (text: string) => parseRate(text)?.spanMs ?? null,
  form: "must be a rate like 3/1d: how often in how long, with ms, s, m, h or d",
};
const SPAN = { read: parseSpan, form: "must be a time like 15m: a number with ms, s, m, h or d" };
const RULES = {
  pinTimeToLive: { ...SPAN, maxMs: YEAR_MS, most: "must be at most a year" },
  verifyPinLimit: { ...RATE, maxMs: DAY_MS, most: "must be for a day at most" },
  sendPinPerApplicationLimit: { ...RATE, maxMs: YEAR_MS, most: "must be for a year at most" },
  sendPinPerPhoneNumberLimit: { ...RATE, maxMs: YEAR_MS, most: "must be for a year at most" },
} as const;

type Rules = Partial<Record<keyof typeof RULES, string>>;

/** What a client says of the rules, without what nobody knows here. */
function readConfiguration(said: Partial<PinConfiguration> & Rules): Partial<PinConfiguration> {
  const rules: Rules = {};
  for (const name of Object.keys(RULES) as (keyof typeof RULES)[]) {
    const text = said[name];
    if (text === undefined) continue;
    const { read, form, maxMs, most } = RULES[name];
    const spanMs = read(text);
    if (spanMs === null) throw badField(`configuration.${name}`, form);
    if (spanMs > maxMs) throw badField(`configuration.${name}`, most);
    rules[name] = text;
  }
  const { pinAttempts, allowMultiplePinVerifications } = said;
  return {
    ...given({ pinAttempts, allowMultiplePinVerifications }),
    ...rules,
  };
}

function applicationAnswer({ id, name, enabled, configuration }: PinApplication) {
  return { applicationId: id, name, enabled, configuration };
}

// --- Templates ----------------------------------------------------------------------------------------------------------------

interface TemplateFields {
  readonly messageText?: string;
  readonly pinType?: PinTemplate["pinType"];
  readonly pinLength?: number;
  readonly senderId?: string;
  readonly language?: string;
  readonly repeatDTMF?: string;
  readonly voiceName?: string;
  readonly speechRate?: number;
  readonly regional?: {
    readonly indiaDlt?: {
      readonly principalEntityId: string;
      readonly contentTemplateId?: string;
      readonly teleMarketerId?: string;
      readonly telemarketerId?: string;
    };
  };
}

function keptOf({ language, repeatDTMF, voiceName, speechRate, regional }: TemplateFields): PinTemplate["kept"] {
  const speech = given({ language, repeatDTMF, voiceName, speechRate });
  if (regional?.indiaDlt === undefined) return regional === undefined ? speech : { ...speech, regional: {} };
  const { principalEntityId, contentTemplateId, telemarketerId, teleMarketerId = telemarketerId } = regional.indiaDlt;
  return { ...speech, regional: { indiaDlt: given({ principalEntityId, contentTemplateId, teleMarketerId }) } };
}

function readTemplate(fields: TemplateFields): PinTemplateChange {
  const { messageText: text, pinType, pinLength } = fields;
  const senderId = fields.senderId === undefined ? undefined : plainSender(fields.senderId);
  const says = text === undefined ? null : textFault(text);
  if (says !== null) throw badField("messageText", says);
  if (senderId !== undefined && senderId !== "" && !isSender(senderId))
    throw badField("senderId", `must be ${SENDER_FORM}`);
  return {
    ...given({ text, pinType, pinLength }),
    ...(senderId === undefined ? {} : { senderId: senderId === "" ? null : senderId }),
    kept: keptOf(fields),
  };
}

function templateAnswer({ id, applicationId, text, pinType, pinLength, senderId, kept }: PinTemplate) {
  return {
    messageId: id,
    applicationId,
    pinPlaceholder: PIN_PLACEHOLDER,
    messageText: text,
    pinLength,
    pinType,
    ...(senderId === null ? {} : { senderId }),
    ...kept,
  };
}

// --- Operations ---------------------------------------------------------------------------------------------------------------

export function pinApplicationOperations(api: Api, { store, clock }: ApiParts): void {
  api.get(
    APPLICATIONS,
    operation({
      ...MANAGING,
      id: "listPinApplications",
      summary: "List the applications that PINs are sent for",
      answer: Type.Array(schemas.ApplicationResponse),
    }),
    async (request) => (await store.pinApplications({ accountId: accountOf(request).id })).map(applicationAnswer),
  );

  api.get(
    `${APPLICATIONS}/:appId`,
    operation({
      ...MANAGING,
      id: "readPinApplication",
      summary: "Read an application",
      answer: schemas.ApplicationResponse,
    }),
    async (request) => {
      const found = await store.pinApplication({ accountId: accountOf(request).id, id: pathId(request, "appId") });
      if (found === null) throw unknown("appId");
      return applicationAnswer(found);
    },
  );

  const putApplication = async (
    request: FastifyRequest,
    id: string,
    fields: { name: string; enabled?: boolean; configuration?: Partial<PinConfiguration> },
    ownSecret: string | null,
  ) => {
    const { name, enabled, configuration = {} } = fields;
    const change = { name, ...given({ enabled }), configuration: readConfiguration(configuration) };
    const { id: accountId } = accountOf(request);
    const put = await store.putPinApplication({ accountId, id, change, secret: ownSecret, atMs: clock.now() });
    if (put === "unknown") throw unknown("appId");
    if (put === "too many") throw tooMany(`An account has at most ${MAX_APPLICATIONS} applications`);
    return applicationAnswer(put);
  };

  api.post(
    APPLICATIONS,
    operation({
      ...MANAGING,
      id: "makePinApplication",
      summary: "Make an application",
      schema: { body: schemas.ApplicationRequest },
      answer: schemas.ApplicationResponse,
    }),
    (request) => putApplication(request, newPinId(), request.body, secret(PIN_SECRET_OCTETS)),
  );

  api.put(
    `${APPLICATIONS}/:appId`,
    operation({
      ...MANAGING,
      id: "changePinApplication",
      summary: "Change an application; what is not named stays as it is",
      schema: { body: schemas.ApplicationRequest },
      answer: schemas.ApplicationResponse,
    }),
    (request) => putApplication(request, pathId(request, "appId"), request.body, null),
  );

  api.get(
    `${APPLICATIONS}/:appId/messages`,
    operation({
      ...MANAGING,
      id: "listPinTemplates",
      summary: "List the templates of an application",
      answer: Type.Array(schemas.TemplateResponse),
    }),
    async (request) => {
      const { id: accountId } = accountOf(request);
      const found = await store.pinTemplates({ accountId, applicationId: pathId(request, "appId") });
      if (found === null) throw unknown("appId");
      return found.map(templateAnswer);
    },
  );

  api.get(
    `${APPLICATIONS}/:appId/messages/:msgId`,
    operation({ ...MANAGING, id: "readPinTemplate", summary: "Read a template", answer: schemas.TemplateResponse }),
    async (request) => {
      const { id: accountId } = accountOf(request);
      const name = { applicationId: pathId(request, "appId"), id: pathId(request, "msgId") };
      const found = await store.pinTemplate({ accountId, ...name });
      if (found === null) throw unknown("msgId");
      return templateAnswer(found);
    },
  );

  const putTemplate = async (request: FastifyRequest, id: string, fields: TemplateFields, isNew: boolean) => {
    const { id: accountId } = accountOf(request);
    const applicationId = pathId(request, "appId");
    const change = readTemplate(fields);
    const put = await store.putPinTemplate({ accountId, applicationId, id, change, isNew, atMs: clock.now() });
    if (put === "unknown") throw unknown(isNew ? "appId" : "msgId");
    if (put === "too many") throw tooMany(`An application has at most ${MAX_TEMPLATES} templates`);
    return templateAnswer(put);
  };

  api.post(
    `${APPLICATIONS}/:appId/messages`,
    operation({
      ...MANAGING,
      id: "makePinTemplate",
      summary: "Make a template",
      schema: { body: schemas.NewTemplateRequest },
      answer: schemas.TemplateResponse,
    }),
    (request) => putTemplate(request, newPinId(), request.body, true),
  );

  api.put(
    `${APPLICATIONS}/:appId/messages/:msgId`,
    operation({
      ...MANAGING,
      id: "changePinTemplate",
      summary: "Change a template; what is not named stays as it is",
      schema: { body: schemas.TemplateRequest },
      answer: schemas.TemplateResponse,
    }),
    (request) => putTemplate(request, pathId(request, "msgId"), request.body, false),
  );
}
