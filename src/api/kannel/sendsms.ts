/**
 * Kannel's door: GET and POST /cgi-bin/sendsms, for programs that were written for Kannel's smsbox. They say what they want in parameters, and are
 * answered in Kannel's words. What comes of them is as of any other message.
 */
import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { NO_LOGIN, unauthorized } from "../auth-reasons.ts";
import { ApiError } from "../errors.ts";
import { type Api, accountOf } from "../operation.ts";
import type { ApiParts } from "../parts.ts";
import { accepted, sendRequest } from "../sending.ts";
import { answerOf, PLAIN_TEXT, SENDSMS_PATH } from "./answers.ts";
import { isForm, pairIn } from "./login.ts";
import { type BodyKind, readMessage } from "./message.ts";
import { formParameters, headerParameters, joined, type Parameters, queryParameters, rejected } from "./parameters.ts";
import { sendsmsByGet, sendsmsByPost } from "./schemas.ts";

/** The types of body that have the text of a message. One without a type is octets, as HTTP has it. */
const BODY_KINDS: ReadonlyMap<string, BodyKind> = new Map([
  ["", "octets"],
  ["application/octet-stream", "octets"],
  ["text/plain", "text"],
]);
/** Kannel knows what these are, and does not take them for a message. */
const UNSUPPORTED = new Set(["text/html", "text/xml", "text/vnd.wap.wml"]);

interface Read {
  readonly parameters: Parameters;
  readonly bodyKind: BodyKind;
}

/** A body that is no form has the text, and its type the charset. */
function readPost(request: FastifyRequest): Read {
  const body = request.body instanceof Buffer ? request.body : Buffer.alloc(0);
  const beside = joined(queryParameters(request.url), headerParameters(request.headers));
  if (body.length === 0) return { parameters: beside, bodyKind: null };
  if (isForm(request)) {
    // Kept for the console's page of requests, which masks what is secret by its name.
    request.rawBody = body;
    return { parameters: joined(beside, formParameters(body)), bodyKind: null };
  }
  const [type = "", ...options] = (request.headers["content-type"] ?? "").toLowerCase().split(";");
  const bodyKind = BODY_KINDS.get(type.trim());
  if (UNSUPPORTED.has(type.trim())) throw new ApiError("unsupportedMediaType");
  if (bodyKind === undefined) throw rejected("Invalid content-type");
  const charset = options
    .map((option) => /^\s*charset="?([^"\s]+)"?\s*$/.exec(option)?.[1])
    .find((name) => name !== undefined);
  const fields = new Map([["text", body]]);
  if (charset !== undefined) fields.set("charset", Buffer.from(charset, "latin1"));
  return { parameters: joined(fields, beside), bodyKind };
}

/** Tells one request from another, whoever the account shows to be. */
function hashOf(parameters: Parameters): string {
  const hash = createHash("sha256").update(SENDSMS_PATH);
  for (const [name, value] of [...parameters].sort(([one], [other]) => (one < other ? -1 : 1))) {
    if (name !== "username" && name !== "password") hash.update(`\n${name} ${value.toString("hex")}`);
  }
  return hash.digest("base64url");
}

export function kannelOperations(api: Api, { intake, clock, admitNamed }: ApiParts): void {
  const send = async (request: FastifyRequest, reply: FastifyReply, { parameters, bodyKind }: Read) => {
    const { message, denied } = readMessage(parameters, bodyKind, clock.now());
    const asked = {
      ...sendRequest(request, undefined, [message]),
      bodyHash: () => hashOf(parameters),
      door: () => "Kannel",
    };
    const { results } = accepted(request, await intake.send(accountOf(request), asked));
    const { status, text } = answerOf(results, denied, message.fields.from !== undefined);
    return reply.code(status).type(PLAIN_TEXT).send(text);
  };

  api.get(SENDSMS_PATH, { ...sendsmsByGet, exposeHeadRoute: false }, (request, reply) =>
    send(request, reply, { parameters: queryParameters(request.url), bodyKind: null }),
  );

  api.post(SENDSMS_PATH, sendsmsByPost, async (request, reply) => {
    const read = readPost(request);
    if (request.account === null) {
      const pair = pairIn(read.parameters);
      if (pair === null) throw unauthorized(NO_LOGIN);
      await admitNamed(request, pair);
    }
    return send(request, reply, read);
  });
}
