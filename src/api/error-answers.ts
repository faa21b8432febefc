/** How errors are told: whatever goes wrong becomes one of the API's own errors, and an answer. */
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { Refused } from "../admin/refusal.ts";
import type { Log, LogLimiter } from "../runtime/log.ts";
import { StoreUnavailable } from "../store/port/errors.ts";
import { isConsole } from "./console/cookie.ts";
import { errorAnswer } from "./error-forms.ts";
import { ApiError, type ErrorName, RETRY_SOON } from "./errors.ts";
import type { Api } from "./operation.ts";
import { refusalError } from "./refusals.ts";

/** Answers what an operation, or a check before it, throws. */
export function answerErrors(api: Api, log: Log, limiter: LogLimiter): void {
  api.setErrorHandler((error: FastifyError, request, reply) => {
    request.progress?.refused();
    return sendError(toApiError(error, request.routeOptions.url, log, limiter), reply);
  });
}

/** What the framework itself objects to, in the API's words. */
const FRAMEWORK_ERRORS: Readonly<Record<string, [ErrorName, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ["unsupportedMediaType", "Content-Type must be application/json."],
  FST_ERR_BAD_URL: ["notFound", "The path is not a valid URL."],
};

/** While the store is away every request fails alike: the limiter bounds the lines that say so. */
export function toApiError(
  error: Error & Partial<FastifyError>,
  route: string | undefined,
  log: Log,
  limiter: LogLimiter | null = null,
): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof Refused) return refusalError(error.refusal);
  const known = FRAMEWORK_ERRORS[error.code ?? ""];
  if (known !== undefined) return new ApiError(known[0], { description: known[1] });
  if (error instanceof StoreUnavailable) {
    const write = (more: object): void =>
      log.error({ route, reason: error.message, ...more }, "the store did not answer; a request was refused");
    if (limiter === null) write({});
    else limiter.write("away", write);
    return new ApiError("unavailable", { headers: RETRY_SOON });
  }
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500)
    return new ApiError("badRequest");
  log.error({ err: error, route }, "a request failed");
  return new ApiError("general");
}

const CLOSES = { connection: "close" };
const REALM = 'realm="heliograph"';
/** Every scheme that is understood, a line each. Old clients read the first and no further, and know Basic. */
const CHALLENGES = {
  "www-authenticate": [
    `Basic ${REALM}, charset="UTF-8"`,
    ...["App", "IBSSO", "Bearer"].map((scheme) => `${scheme} ${REALM}`),
  ],
};
/** At the name of Basic a browser opens a dialog of its own, over the page that asks already. */
const CONSOLE_CHALLENGE = { "www-authenticate": `IBSSO ${REALM}` };

export function sendError(error: ApiError, reply: FastifyReply): FastifyReply {
  reply.request.refusal = error;
  const { status, contentType, body } = errorAnswer(error, reply.request.originalUrl);
  return (
    reply
      .code(status)
      // The framework would end the connection after each body that it cannot have. Whoever ends one says so.
      .removeHeader("connection")
      .headers(reply.raw.shouldKeepAlive ? {} : CLOSES)
      .headers(error.details.headers ?? {})
      .headers(error.kind.status === 401 ? challengesFor(reply.request) : {})
      .type(contentType)
      .serializer(asItIs)
      .send(body)
  );
}

/** The answer is written already. */
const asItIs = (body: unknown): string => body as string;

function challengesFor(request: FastifyRequest): Readonly<Record<string, string | string[]>> {
  return isConsole(request) ? CONSOLE_CHALLENGE : CHALLENGES;
}
