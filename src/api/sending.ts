/** The sending operations: advanced (both versions), multi and single, of texts and of binary messages. */
import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { Intake } from "../intake/intake.ts";
import type { BinaryFields, MessageFields, RequestedMessage, SendAnswer, SendRequest } from "../intake/request.ts";
import { STATUS, statusById } from "../sms/statuses.ts";
import { ApiError } from "./errors.ts";
import { type Api, accountOf, operation } from "./operation.ts";
import * as schemas from "./schemas.ts";

const MAX_IDEMPOTENCY_KEY = 255;

/** The Idempotency-Key header, if there is one. */
export function idempotencyKey(request: FastifyRequest): string | null {
  const key = request.headers["idempotency-key"];
  if (key === undefined) return null;
  if (typeof key !== "string" || key.length === 0 || key.length > MAX_IDEMPOTENCY_KEY) {
    throw new ApiError("badRequest", {
      variables: ["Idempotency-Key"],
      description: `Idempotency-Key must be 1 to ${MAX_IDEMPOTENCY_KEY} characters long.`,
    });
  }
  return key;
}

/** Tells one request from another: the operation, its query where that has parameters, and every byte of the body. */
export function bodyHash(request: FastifyRequest, query = ""): string {
  const hash = createHash("sha256").update(`${request.method} ${request.routeOptions.url}${query}\n`);
  return hash.update(request.rawBody ?? "").digest("base64url");
}

export const keyReused = (): ApiError =>
  new ApiError("conflict", { description: "The Idempotency-Key was used for another request." });

function sendRequest(
  request: FastifyRequest,
  bulkId: string | undefined,
  messages: RequestedMessage[],
  query = "",
): SendRequest {
  return {
    bulkId: bulkId === undefined || bulkId === "" ? null : bulkId,
    messages,
    idempotencyKey: idempotencyKey(request),
    bodyHash: () => bodyHash(request, query),
  };
}

function listOf(to: string | string[]): string[] {
  return typeof to === "string" ? [to] : to;
}

type Accepted = Extract<SendAnswer, { kind: "accepted" }>;

/** The accepted answer, or the error that the other kinds are. */
function accepted(answer: SendAnswer): Accepted {
  if (answer.kind === "conflict") throw keyReused();
  if (answer.kind === "wrong") {
    throw new ApiError("badRequest", {
      variables: answer.problems.map(({ field }) => field),
      description: `${answer.problems.map(({ field, says }) => `${field} ${says}`).join("; ")}.`,
    });
  }
  return answer;
}

function results(answer: Accepted) {
  return answer.results.map(({ to, statusId, smsCount, messageId }) => ({
    to,
    status: statusById(statusId),
    ...(statusId === STATUS.PENDING_ACCEPTED.id ? {} : { smsCount }),
    ...(messageId === null ? {} : { messageId }),
  }));
}

/** Version 2 answers before anything is handed on: what is accepted is pending, and parts are counted for whoever asks. */
function resultsV2(answer: Accepted, withSmsCount: boolean) {
  return answer.results.map(({ to, statusId, smsCount, messageId }) => ({
    to,
    status: statusById(statusId === STATUS.PENDING_ENROUTE.id ? STATUS.PENDING_ACCEPTED.id : statusId),
    ...(withSmsCount ? { smsCount } : {}),
    ...(messageId === null ? {} : { messageId }),
  }));
}

/** What the messages of an operation carry. */
type Kind = "text" | "binary";

interface SingleBody {
  readonly to: string | string[];
  readonly bulkId?: string;
  readonly messageId?: string;
}

interface SeveralBody<Message> {
  readonly bulkId?: string;
  readonly messages: readonly Message[];
}

/** A field that belongs to the other kind is one that nobody knows here. */
function fieldsOf(kind: Kind, fields: object): MessageFields {
  if (!("text" in fields && "binary" in fields)) return fields as MessageFields;
  const { text, binary, ...options } = fields as { text: string; binary: BinaryFields };
  return kind === "text" ? { ...options, text } : { ...options, binary };
}

/** One message to one or more destinations. `query` is what the request says beside its body. */
export async function sendSingle(
  intake: Pick<Intake, "send">,
  request: FastifyRequest,
  kind: Kind,
  body: SingleBody,
  query = "",
) {
  const { to, bulkId, messageId } = body;
  const numbers = listOf(to);
  // A messageId of the client's can name only one message.
  const named = numbers.length === 1 && messageId !== undefined ? { messageId } : {};
  const message = {
    path: "",
    fields: fieldsOf(kind, body),
    destinations: numbers.map((number) => ({ to: number, ...named })),
  };
  const answer = accepted(await intake.send(accountOf(request), sendRequest(request, bulkId, [message], query)));
  return { ...(numbers.length > 1 ? { bulkId: answer.bulkId } : {}), messages: results(answer) };
}

export function sendingOperations(api: Api, intake: Pick<Intake, "send">): void {
  operationsFor(api, intake, "text", "text");
  operationsFor(api, intake, "binary", "binary message");
}

function operationsFor(api: Api, intake: Pick<Intake, "send">, kind: Kind, one: string): void {
  const requests = schemas.SendingRequests[kind];
  const send = (request: FastifyRequest, bulkId: string | undefined, messages: RequestedMessage[]) =>
    intake.send(accountOf(request), sendRequest(request, bulkId, messages));
  const advanced = (
    request: FastifyRequest,
    body: SeveralBody<{ destinations: RequestedMessage["destinations"] }>,
  ): Promise<SendAnswer> => {
    const messages = body.messages.map((message, index) => ({
      path: `messages[${index}]`,
      fields: fieldsOf(kind, message),
      destinations: message.destinations,
    }));
    return send(request, body.bulkId, messages);
  };
  const multi = (request: FastifyRequest, body: SeveralBody<{ to: string | string[] }>): Promise<SendAnswer> => {
    const messages = body.messages.map((message, index) => ({
      path: `messages[${index}]`,
      fields: fieldsOf(kind, message),
      destinations: listOf(message.to).map((number) => ({ to: number })),
    }));
    return send(request, body.bulkId, messages);
  };

  api.post(
    `/sms/1/${kind}/advanced`,
    operation({
      tag: "Sending",
      summary: `Send fully featured ${one}s`,
      auth: "account",
      scope: "send",
      bodyOctets: "large",
      schema: { body: requests.advanced },
      answer: schemas.AdvancedResponse,
    }),
    async (request) => {
      const answer = accepted(await advanced(request, request.body));
      return { bulkId: answer.bulkId, trackingProcessKey: answer.trackingProcessKey, messages: results(answer) };
    },
  );

  api.post(
    `/sms/2/${kind}/advanced`,
    operation({
      tag: "Sending",
      summary: `Send fully featured ${one}s, version 2`,
      auth: "account",
      scope: "send",
      bodyOctets: "large",
      schema: { body: requests.advancedV2 },
      answer: schemas.BulkResponse,
    }),
    async (request) => {
      const answer = accepted(await advanced(request, request.body));
      return { bulkId: answer.bulkId, messages: resultsV2(answer, request.body.includeSmsCountInResponse === true) };
    },
  );

  api.post(
    `/sms/1/${kind}/multi`,
    operation({
      tag: "Sending",
      summary: `Send different ${one}s to different destinations`,
      auth: "account",
      scope: "send",
      bodyOctets: "large",
      schema: { body: requests.multi },
      answer: schemas.BulkResponse,
    }),
    async (request) => {
      const answer = accepted(await multi(request, request.body));
      return { bulkId: answer.bulkId, messages: results(answer) };
    },
  );

  api.post(
    `/sms/1/${kind}/single`,
    operation({
      tag: "Sending",
      summary: `Send one ${one} to one or more destinations`,
      auth: "account",
      scope: "send",
      bodyOctets: "large",
      schema: { body: requests.single },
      answer: schemas.SingleResponse,
    }),
    async (request) => sendSingle(intake, request, kind, request.body),
  );
}
