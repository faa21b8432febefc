/** How errors are told: whatever goes wrong becomes one of the API's own errors, and an answer. */
import type { IncomingMessage } from "node:http";
import { finished } from "node:stream/promises";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { Refused } from "../admin/refusal.ts";
import type { Log } from "../runtime/log.ts";
import { StoreUnavailable } from "../store/port/errors.ts";
import { ApiError, type ErrorName, RETRY_SOON } from "./errors.ts";
import type { Api } from "./operation.ts";
import { refusalError } from "./refusals.ts";

/** Answers what an operation, or a check before it, throws. */
export function answerErrors(api: Api, log: Log): void {
  api.setErrorHandler(async (error: FastifyError, request, reply) => {
    request.progress?.refused();
    if (!request.raw.complete) request.progress?.connection.dropRest(request.raw);
    // The answer ends this connection, and a client that still writes would see that end and not the answer.
    if (!reply.raw.shouldKeepAlive) await dropRest(request.raw);
    return sendError(toApiError(error, request, log), reply);
  });
}

/** What the framework itself objects to, in the API's words. */
const FRAMEWORK_ERRORS: Readonly<Record<string, [ErrorName, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ["unsupportedMediaType", "Content-Type must be application/json."],
  FST_ERR_BAD_URL: ["notFound", "The path is not a valid URL."],
};

export function toApiError(error: FastifyError, request: FastifyRequest, log: Log): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof Refused) return refusalError(error.refusal);
  const known = FRAMEWORK_ERRORS[error.code];
  if (known !== undefined) return new ApiError(known[0], { description: known[1] });
  if (error instanceof StoreUnavailable) {
    log.error({ err: error, route: request.routeOptions.url }, "the store did not answer");
    return new ApiError("unavailable", { headers: RETRY_SOON });
  }
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500)
    return new ApiError("badRequest");
  log.error({ err: error, route: request.routeOptions.url }, "a request failed");
  return new ApiError("general");
}

export function sendError(error: ApiError, reply: FastifyReply): FastifyReply {
  return (
    reply
      .code(error.kind.status)
      // Not closed: the rest of a body that is too large is read and dropped, so that the client gets to see the answer.
      .removeHeader("connection")
      .headers(error.details.headers ?? {})
      .type("application/json; charset=utf-8")
      .serializer(JSON.stringify)
      .send(error.body())
  );
}

/** Reads what is left of a body and drops it. The time-out of requests is the bound. */
async function dropRest(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return;
  request.resume();
  await finished(request).catch(() => undefined);
}
