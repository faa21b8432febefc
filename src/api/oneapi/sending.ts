/** Sending by the OneAPI: one text to one or more phones. The client's correlator is the bulkId, so the same request again is not sent twice. */
import type { FastifyRequest } from "fastify";
import type { Intake } from "../../intake/intake.ts";
import type { MessageFields, MessageResult, RequestedMessage, SendAnswer } from "../../intake/request.ts";
import { messageStatusOf } from "../../reports/rendering/oneapi-item.ts";
import { unitsOf } from "../../reports/rendering/report-item.ts";
import { MAX_URL_LENGTH, urlProblem } from "../../runtime/urls.ts";
import { statusById } from "../../sms/statuses.ts";
import { LANGUAGE_CHOICES, type LanguageChoice } from "../../sms/text.ts";
import { badField } from "../errors.ts";
import { bodyHash } from "../idempotency.ts";
import { type Api, accountOf, operation, SENDING } from "../operation.ts";
import { bodyFields, type Fields } from "../parameters.ts";
import { accepted, sendRequest } from "../sending.ts";
import {
  bareAddress,
  OTHER_CORRELATOR,
  readCallbackData,
  readCorrelator,
  readField,
  resourceUrl,
  senderInPath,
} from "./fields.ts";
import * as schemas from "./schemas.ts";

/** Longer than any sender, and short enough to be told. */
const MAX_SENDER = 64;

export function readSender(fields: Fields): string | undefined {
  const sender = readField(fields, "senderAddress", MAX_SENDER);
  return sender === undefined ? undefined : bareAddress(sender);
}

export function readNotifyUrl(fields: Fields): string | undefined {
  const url = readField(fields, "notifyURL", MAX_URL_LENGTH);
  const says = url === undefined ? null : urlProblem(url);
  if (says !== null) throw badField("notifyURL", says);
  return url;
}

/** One text, an array of texts, or one with commas. */
function readAddresses({ address }: Fields): string[] {
  if (address === undefined || address === "") throw badField("address", "is required");
  const texts = typeof address === "string" ? [address] : address;
  if (!Array.isArray(texts) || texts.some((text) => typeof text !== "string"))
    throw badField("address", "must be a text or an array of texts");
  const numbers = (texts as string[]).flatMap((text) => text.split(",")).map(bareAddress);
  const named = numbers.filter((number) => number !== "");
  if (named.length === 0) throw badField("address", "is required");
  return named;
}

function readMessage({ message }: Fields): string {
  if (message === undefined || message === "") throw badField("message", "is required");
  if (typeof message !== "string") throw badField("message", "must be a text, given once");
  return message;
}

/** The family's own word for Spanish. */
const OTHER_CODES: Readonly<Record<string, LanguageChoice>> = { SP: "ES" };

function readLanguage({ language }: Fields): MessageFields["language"] {
  if (language === undefined || language === "") return undefined;
  if (typeof language !== "object" || Array.isArray(language)) throw badField("language", "must be an object");
  const fields = language as Fields;
  const written = readField(fields, "languageCode", 16)?.toUpperCase();
  const languageCode = LANGUAGE_CHOICES.find((code) => code === (OTHER_CODES[written ?? ""] ?? written));
  if (written !== undefined && languageCode === undefined)
    throw badField(
      "language.languageCode",
      `must be one of ${[...LANGUAGE_CHOICES, ...Object.keys(OTHER_CODES)].join(", ")}`,
    );
  const singleShift = readFlag(fields, "useSingleShift");
  const lockingShift = readFlag(fields, "useLockingShift");
  return {
    ...(languageCode === undefined ? {} : { languageCode }),
    ...(singleShift === undefined ? {} : { singleShift }),
    ...(lockingShift === undefined ? {} : { lockingShift }),
  };
}

/** A boolean, or the text of one. */
function readFlag(fields: Fields, name: string): boolean | undefined {
  const value = fields[name];
  if (value === undefined || value === "" || typeof value === "boolean") return value === "" ? undefined : value;
  const word = typeof value === "string" ? value.toLowerCase() : "";
  if (word !== "true" && word !== "false") throw badField(`language.${name}`, "must be true or false");
  return word === "true";
}

/** Built field by field: what else the body has is nobody's. */
function readRequest(body: Fields, from: string): RequestedMessage {
  const notifyUrl = readNotifyUrl(body);
  const callbackData = readCallbackData(body);
  const language = readLanguage(body);
  return {
    path: "",
    reportForm: "oneapi",
    destinations: readAddresses(body).map((to) => ({ to })),
    fields: {
      from,
      text: readMessage(body),
      ...(notifyUrl === undefined ? {} : { notifyUrl }),
      ...(callbackData === undefined ? {} : { callbackData }),
      ...(language === undefined ? {} : { language }),
    },
  };
}

/** Problems are told under the names of this family. */
const NAMES: Readonly<Record<string, string>> = { to: "address", from: "senderAddress", text: "message" };

function inOwnNames(answer: SendAnswer): SendAnswer {
  if (answer.kind !== "wrong") return answer;
  const problems = answer.problems.map(({ field, says }) => ({ field: NAMES[field] ?? field, says }));
  return { kind: "wrong", problems };
}

/** What is rejected costs nothing. */
function priceOf({ statusId, smsCount, pricePerPartMicros }: MessageResult): number | undefined {
  if (statusById(statusId).groupName === "REJECTED") return 0;
  return pricePerPartMicros === null ? undefined : unitsOf(pricePerPartMicros * BigInt(smsCount));
}

function resultOf(result: MessageResult, senderAddress: string) {
  return {
    messageStatus: messageStatusOf(result.statusId),
    messageId: result.messageId,
    senderAddress,
    destinationAddress: result.to,
    price: priceOf(result),
  };
}

export function deliveryInfosUrl(request: FastifyRequest, sender: string, correlator: string): string {
  return resourceUrl(request, "outbound", sender, "requests", correlator, "deliveryInfos");
}

export function sendingOperation(api: Api, intake: Pick<Intake, "send">): void {
  api.post(
    "/1/smsmessaging/outbound/:sender/requests",
    operation({
      ...SENDING,
      id: "oneApiSend",
      tag: "OneAPI",
      summary: "Send one text to one or more destinations",
      form: "lists",
      bodyOctets: "large",
      takes: schemas.OutboundRequest,
      alsoTakes: [OTHER_CORRELATOR],
      makes: true,
      answer: schemas.OutboundResponse,
    }),
    async (request, reply) => {
      const body = bodyFields(request);
      const sender = readSender(body) ?? senderInPath(request);
      const message = readRequest(body, sender);
      const wanted = {
        ...sendRequest(request, readCorrelator(body), [message]),
        // Where the sender stands in the path alone, it tells two requests apart too.
        bodyHash: () => bodyHash(request, ` ${sender}`),
      };
      const { bulkId, results } = accepted(request, inOwnNames(await intake.send(accountOf(request), wanted)));
      const resourceURL = deliveryInfosUrl(request, sender, bulkId);
      reply.header("location", resourceURL);
      return {
        sendMessageResults: results.map((result) => resultOf(result, sender)),
        clientCorrelator: bulkId,
        resourceReference: { resourceURL },
      };
    },
  );
}
