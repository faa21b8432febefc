/**
 * PINs: sent, sent again, verified, and what became of them. A PIN is stored before its message is accepted: whoever pays for a message
 * can verify it, whenever the process dies. Where the message is rejected, the PIN is counted, so that nobody gets more of them than the limits
 * allow, but it cannot be verified.
 */
import type { FastifyRequest } from "fastify";
import type { RequestedMessage } from "../intake/request.ts";
import { NO_REPORT } from "../message/report-form.ts";
import type { PinSending, PinSendingOutcome } from "../pins/commands.ts";
import { MAX_VERIFICATIONS } from "../pins/defaults.ts";
import { isDestination, NUMBER_FORM } from "../sms/addresses.ts";
import { ApiExceptionResponse } from "./error-schemas.ts";
import { ApiError, badField, tooMany } from "./errors.ts";
import { plain } from "./near-misses.ts";
import { type Api, accountOf, operation } from "./operation.ts";
import type { ApiParts } from "./parts.ts";
import { newPinId, PIN_TAG, pathId, unknown } from "./pin-applications.ts";
import * as schemas from "./pin-schemas.ts";
import { fieldsOf, readText } from "./query.ts";
import { type Accepted, accepted, isGood, sendRequest } from "./sending.ts";

const SENDING = { tag: PIN_TAG, auth: "account", scope: "pins", errors: ApiExceptionResponse } as const;
const SECOND_MS = 1_000;
const MIN_VALIDITY_MS = 60 * SECOND_MS;
/** Placeholders without a place that a caller is told of. */
const MAX_TOLD = 10;

/** A number in international form. People write a plus sign, or two zeros, before it. */
function readNumber(field: string, text: string): string {
  const number = text.replace(/^(?:\+|00)/, "");
  if (!isDestination(number)) throw badField(field, `must be a phone number: ${NUMBER_FORM}`);
  return number;
}

const FIELD = { application: "applicationId", template: "messageId" } as const;

/** What may be sent, or the error that the other outcomes are. */
function made(outcome: PinSendingOutcome): Extract<PinSendingOutcome, { kind: "made" }> {
  switch (outcome.kind) {
    case "made":
      return outcome;
    case "unknown":
      if (outcome.what === "pin") throw unknown("pinId");
      throw badField(FIELD[outcome.what], `names no ${outcome.what} of yours`);
    case "disabled":
      throw badField("applicationId", "names an application that is not enabled");
    case "used up":
      throw badField("pinId", "names a PIN that cannot be verified any more: send a new one");
    case "wrong placeholders":
      throw badField("placeholders", outcome.says);
    case "too many":
      throw tooMany(`The limit of PINs for this ${outcome.of} is reached.`, outcome.waitMs);
  }
}

interface SendingFields {
  readonly from?: string;
  readonly placeholders?: Readonly<Record<string, string>>;
  readonly trackDelivery?: boolean;
}

export function pinOperations(api: Api, { store, intake, clock }: ApiParts): void {
  /** Hands the message with the PIN to the same intake as any other. */
  const send = async (
    request: FastifyRequest,
    pinId: string,
    first: PinSending["first"],
    { from = "", placeholders, trackDelivery = false }: SendingFields,
  ) => {
    const account = accountOf(request);
    const nowMs = clock.now();
    const wish = { pinId, first, from: from === "" ? null : from, placeholders: placeholders ?? null, nowMs };
    const { message, times, unused } = made(await store.sendPin({ accountId: account.id, ...wish }));
    const notSent = (undone: { uncount: boolean; forget: boolean }) =>
      store.pinNotSent({ accountId: account.id, pinId, atMs: nowMs, times, ...undone });
    const wanted: RequestedMessage = {
      path: "",
      fields: {
        text: message.text,
        ...(message.from === null ? {} : { from: message.from }),
        ...(message.regional === null ? {} : { regional: message.regional }),
      },
      destinations: [{ to: message.to }],
      shownText: message.shownText,
      // One that comes later than the PIN is good for helps nobody.
      validityMs: Math.max(MIN_VALIDITY_MS, message.timeToLiveMs),
      ...(trackDelivery ? {} : { reportForm: NO_REPORT }),
    };
    let answer: Accepted;
    try {
      // Under a key that was used before there would be no message with this PIN.
      const whole = { ...sendRequest(request, undefined, [wanted]), idempotencyKey: null, door: () => "PIN" };
      answer = accepted(request, await intake.send(account, whole));
    } catch (error) {
      // Nothing was accepted. After any other error nobody knows: then it counts, and can be verified.
      if (error instanceof ApiError) await notSent({ uncount: true, forget: first !== null });
      throw error;
    }
    if (placeholders !== undefined && unused.length > 0)
      request.odd = unused
        .slice(0, MAX_TOLD)
        .map((name) => `placeholders.${plain(name)} has no place in the text of the template`);
    const [{ statusId, messageId }] = answer.results as [(typeof answer.results)[number]];
    const isSent = isGood(statusId);
    if (!isSent) await notSent({ uncount: false, forget: false });
    const { ncNeeded } = request.query as { readonly ncNeeded?: unknown };
    return {
      pinId,
      to: message.to,
      ...(ncNeeded === "false" ? {} : { ncStatus: "NC_NOT_CONFIGURED" }),
      smsStatus: isSent ? "MESSAGE_SENT" : "MESSAGE_NOT_SENT",
      ...(trackDelivery ? { externalMessageId: messageId } : {}),
    };
  };

  api.post(
    "/2fa/2/pin",
    operation({
      ...SENDING,
      id: "sendPin",
      summary: "Send a PIN",
      schema: { body: schemas.SendPinRequest, querystring: schemas.SendPinQuery },
      answer: schemas.SendPinResponse,
    }),
    (request) => {
      const { applicationId, messageId, to, ...fields } = request.body;
      const first = {
        applicationId: applicationId.toUpperCase(),
        templateId: messageId.toUpperCase(),
        to: readNumber("to", to),
      };
      return send(request, newPinId(), first, fields);
    },
  );

  api.post(
    "/2fa/2/pin/:pinId/resend",
    {
      ...operation({
        ...SENDING,
        id: "resendPin",
        summary: "Send the same PIN again",
        schema: { body: schemas.ResendPinRequest },
        answer: schemas.SendPinResponse,
      }),
      // Some clients send no body where it would say nothing.
      preValidation: async (request: FastifyRequest) => {
        if (request.body === undefined) request.body = {};
      },
    },
    (request) => send(request, pathId(request, "pinId"), null, request.body),
  );

  api.post(
    "/2fa/2/pin/:pinId/verify",
    operation({
      ...SENDING,
      id: "verifyPin",
      summary: "Verify a PIN",
      schema: { body: schemas.VerifyPinRequest },
      answer: schemas.VerifyPinResponse,
    }),
    async (request) => {
      const pinId = pathId(request, "pinId");
      const { pin } = request.body;
      const verdict = await store.verifyPin({ accountId: accountOf(request).id, pinId, pin, nowMs: clock.now() });
      if (verdict.kind === "unknown") throw unknown("pinId");
      if (verdict.kind === "too many")
        throw tooMany("The limit of verifications of this phone number is reached.", verdict.waitMs);
      const { to, attemptsRemaining, error } = verdict;
      return {
        pinId,
        msisdn: to,
        verified: error === null,
        attemptsRemaining,
        ...(error === null ? {} : { pinError: error }),
      };
    },
  );

  /** Clients write "undefined" where they were told nothing. */
  const readFlag = (query: unknown, name: "verified" | "sent"): boolean | null => {
    const text = readText(fieldsOf(query), name);
    if (text === null || text === "undefined") return null;
    if (text !== "true" && text !== "false") throw badField(name, "must be true or false");
    return text === "true";
  };

  api.get(
    "/2fa/2/applications/:appId/verifications",
    operation({
      ...SENDING,
      id: "pinVerifications",
      summary: "What became of the PINs of a phone number, newest first",
      query: schemas.VerificationsQuery,
      answer: schemas.VerificationsResponse,
    }),
    async (request) => {
      const { query } = request;
      const msisdn = readText(fieldsOf(query), "msisdn");
      if (msisdn === null) throw badField("msisdn", "is required");
      const found = await store.pinVerifications({
        accountId: accountOf(request).id,
        applicationId: pathId(request, "appId"),
        // A plus sign that was not escaped arrives as a space.
        to: readNumber("msisdn", msisdn.trim()),
        verified: readFlag(query, "verified"),
        sent: readFlag(query, "sent"),
        limit: MAX_VERIFICATIONS,
      });
      if (found === null) throw unknown("appId");
      return {
        verifications: found.map(({ to, sentAtMs, verifiedAtMs }) => ({
          msisdn: to,
          verified: verifiedAtMs !== null,
          ...(verifiedAtMs === null ? {} : { verifiedAt: verifiedAtMs }),
          ...(sentAtMs === null ? {} : { sentAt: sentAtMs }),
        })),
      };
    },
  );
}
