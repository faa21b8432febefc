/** The HTTP edge: the server, what is checked before any operation, how errors are told, and the operations themselves. */
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { finished } from "node:stream/promises";
import { TLSSocket } from "node:tls";
import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import Fastify, { type FastifyContextConfig, type FastifyError, type FastifyReply, type FastifyRequest } from "fastify";
import type { Intake } from "../intake/intake.ts";
import type { Log } from "../runtime/log.ts";
import { networksOf, type Settings } from "../runtime/settings.ts";
import { type Account, StoreUnavailable } from "../store/port.ts";
import { AUTHENTICATION, type AuthParts, checkAddress, checkScope } from "./auth.ts";
import { parseForm, parseJson } from "./body.ts";
import { type BulkParts, bulkOperations } from "./bulks.ts";
import type { Certificate } from "./certificate.ts";
import { Connections, Progress } from "./connections.ts";
import { type CredentialParts, credentialOperations } from "./credentials.ts";
import { type DeadLetterParts, deadLetterOperations } from "./dead-letters.ts";
import { ApiError, type ErrorName } from "./errors.ts";
import { type HealthParts, healthOperations } from "./health.ts";
import { type InboxParts, inboxOperations } from "./inbox.ts";
import { type LogParts, logOperations } from "./logs.ts";
import { type MoneyParts, moneyOperations } from "./money.ts";
import { checkAccept, checkContentType, isCsvWanted } from "./negotiation.ts";
import type { Api } from "./operation.ts";
import { type OperatorParts, operatorOperations } from "./operator/operations.ts";
import { previewOperations } from "./previews.ts";
import type { RateLimits } from "./rate-limits.ts";
import { type ReportParts, reportOperations } from "./reports.ts";
import { type SandboxParts, sandboxOperations } from "./sandbox.ts";
import { sendingOperations } from "./sending.ts";
import { sessionOperations } from "./session.ts";
import { textQueryOperations } from "./text-query.ts";
import { describe } from "./validation.ts";

export interface ApiParts
  extends AuthParts,
    MoneyParts,
    InboxParts,
    LogParts,
    ReportParts,
    DeadLetterParts,
    HealthParts {
  readonly store: MoneyParts["store"] &
    InboxParts["store"] &
    BulkParts["store"] &
    LogParts["store"] &
    ReportParts["store"] &
    DeadLetterParts["store"] &
    CredentialParts["store"] &
    OperatorParts["store"];
  readonly settings: Settings;
  /** Null where the API is served without TLS. */
  readonly certificate: Certificate | null;
  /** A node that leaves requests to others serves health and figures only. */
  readonly takesRequests: boolean;
  readonly log: Log;
  readonly intake: Pick<Intake, "send">;
  readonly rateLimits: RateLimits;
  /** Null outside the sandbox. */
  readonly write: SandboxParts["write"] | null;
  /** Told of every answer, for the figures. */
  readonly onAnswer: (route: string, status: number, durationMs: number) => void;
}

const HEADER_BYTES = 16 * 1024;
const NO_REQUESTS_HERE = "This node takes no requests: its roles do not include api.";
const RETRY_SOON = { "retry-after": "1" };

export interface ApiServer {
  readonly api: Api;
  /** From now on every new request is told that the service stops. */
  drain(): void;
}

export async function buildServer(parts: ApiParts): Promise<ApiServer> {
  const { settings, log } = parts;
  let draining = false;
  let requests = 0;
  /** By the other side's address: with TLS the connection below first, and from its handshake on the one above it. */
  const connections = new Map<string, Socket>();
  const progressOn = new Connections();

  const trusted = networksOf(settings, "trustedProxies");
  const http = {
    headersTimeout: settings.server.headersTimeoutMs,
    // How late a slow request may be noticed: a tenth of the shorter time-out.
    connectionsCheckingInterval: Math.max(50, Math.min(1_000, settings.server.headersTimeoutMs / 10)),
    maxHeaderSize: HEADER_BYTES,
    noDelay: true,
    // A missing one is told of below, in the API's words.
    requireHostHeader: false,
  };
  const tls =
    parts.certificate === null
      ? null
      : { ...http, ...parts.certificate.options, handshakeTimeout: settings.server.headersTimeoutMs };
  const api = Fastify({
    bodyLimit: settings.limits.bodyBytes,
    requestTimeout: settings.server.requestTimeoutMs,
    http,
    // Out of sight of the types, for which a server with TLS and one without are two kinds of API.
    ...(tls === null ? {} : ({ https: tls } as object)),
    // Whoever is not trusted may write into these headers what he likes.
    trustProxy: trusted.any ? (address: string) => trusted.has(address) : false,
    // Requests that come while the server closes get our own answer, below.
    return503OnClosing: false,
    forceCloseConnections: "idle",
    routerOptions: { ignoreTrailingSlash: true },
    rewriteUrl: (request) => pathOf(request.url ?? "/"),
    clientErrorHandler: brokenRequestAnswerer(progressOn),
    frameworkErrors: (error, request, reply) => sendError(toApiError(error, request, log), reply),
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allowUnionTypes: true } },
    schemaErrorFormatter: describe,
  }).withTypeProvider<TypeBoxTypeProvider>();
  api.server.maxConnections = settings.server.maxConnections;
  const keep = (socket: Socket): void => {
    const name = `${socket.remoteAddress} ${socket.remotePort}`;
    connections.set(name, socket);
    socket.once("close", () => connections.get(name) === socket && connections.delete(name));
  };
  api.server.on("connection", keep);
  if (tls !== null) api.server.on("secureConnection", keep);
  // Expectations other than 100-continue may be ignored (RFC 9110, 10.1.1); Node's own answer has no error object.
  api.server.on("checkExpectation", (request, response) => api.server.emit("request", request, response));
  api.decorateRequest("account", null);
  api.decorateRequest("rawBody", null);
  api.decorateRequest("progress", null);

  readBodies(api);
  const methodsOf = new Map<string, Set<string>>();
  api.addHook("onRoute", ({ url, method }) => {
    const path = url.replace(/\/$/, "") || "/";
    const methods = methodsOf.get(path) ?? new Set();
    for (const name of [method].flat()) methods.add(name);
    methodsOf.set(path, methods);
  });

  const onEnd = (): void => {
    requests--;
  };
  /** What is checked of a request whose caller is known, if it has to be. */
  const admit = (request: FastifyRequest, account: Account | null, config: FastifyContextConfig): void => {
    const { scope = null, form = false, csv = false, json = false } = config;
    if (account !== null) {
      request.account = account;
      checkAddress(account, request.ip);
      checkScope(account, scope, settings.resellers);
      request.progress!.holds(parts.rateLimits.takeRequest(account));
    }
    if (json) checkAccept(request.headers.accept, csv && isCsvWanted(request.query) ? "text/csv" : "application/json");
    if (json && request.method !== "GET" && request.method !== "HEAD")
      checkContentType(request.headers["content-type"], form);
  };
  // The hooks call back and return no promise: each promise costs every request a microsecond.
  api.addHook("onRequest", (request, reply, done) => {
    const { config } = request.routeOptions;
    const { auth = "none", json = false } = config;
    const connection = progressOn.of(request.raw.socket);
    connection.newest = reply.raw;
    requests++;
    request.progress = new Progress(connection, config.url, onEnd);
    if (draining)
      throw new ApiError("unavailable", {
        description: "The service is stopping.",
        headers: { ...RETRY_SOON, connection: "close" },
      });
    // Before its body is read: whatever that is, nobody wants it.
    if (request.is404) throw unknownPath(request);
    if (request.headers.host === undefined && request.raw.httpVersion === "1.1")
      throw new ApiError("badRequest", { description: "The Host header is missing." });
    // A service that is busy is still up: whoever watches it gets an answer.
    if (json && requests > settings.server.maxRequests) {
      throw new ApiError("unavailable", { description: "Too many requests are in progress.", headers: RETRY_SOON });
    }
    const caller = { header: request.headers.authorization, address: request.ip, connection };
    const account = AUTHENTICATION[auth](parts, caller, request.query);
    if (account instanceof Promise) {
      account.then((found) => admit(request, found, config)).then(() => done(), done);
      return;
    }
    admit(request, account, config);
    done();
  });
  api.addHook("onSend", (_request, reply, _payload, done) => {
    // Nobody is to send another request on this connection.
    if (draining) reply.header("connection", "close");
    done();
  });
  api.addHook("onResponse", (request, reply, done) => {
    const { progress } = request;
    progress?.end();
    parts.onAnswer(progress?.route ?? "unknown", reply.statusCode, reply.elapsedTime);
    done();
  });

  api.setErrorHandler(async (error: FastifyError, request, reply) => {
    // The answer ends this connection, and a client that still writes would see that end and not the answer.
    if (!reply.raw.shouldKeepAlive) await dropRest(request.raw);
    return sendError(toApiError(error, request, log), reply);
  });
  /** Of a path with names in it, such as /operator/1/accounts/:key. */
  const methodsLike = (path: string): Set<string> | undefined => {
    const steps = path.split("/");
    for (const [pattern, methods] of methodsOf) {
      const wanted = pattern.split("/");
      if (
        wanted.length === steps.length &&
        wanted.every((step, index) => step.startsWith(":") || step === steps[index])
      )
        return methods;
    }
    return undefined;
  };
  const unknownPath = (request: FastifyRequest): ApiError => {
    const path = request.url.split("?")[0]!.replace(/\/$/, "") || "/";
    const methods = methodsOf.get(path) ?? methodsLike(path);
    if (methods === undefined)
      return new ApiError("notFound", parts.takesRequests ? {} : { description: NO_REQUESTS_HERE });
    return new ApiError("methodNotAllowed", { headers: { allow: [...methods].sort().join(", ") } });
  };
  api.setNotFoundHandler((request, reply) => sendError(unknownPath(request), reply));

  if (parts.takesRequests) await clientOperations(api, parts);
  healthOperations(api, parts);
  await api.ready();
  return {
    api,
    drain: () => {
      draining = true;
      // Node closes those that have been used and are idle; browsers also open some in advance.
      for (const socket of connections.values()) {
        const handshaking = tls !== null && !(socket instanceof TLSSocket);
        if (socket.bytesRead === 0 || handshaking) socket.destroy();
      }
    },
  };
}

/** All that clients, resellers and operators ask for, and the page that says how. */
async function clientOperations(api: Api, parts: ApiParts): Promise<void> {
  await documentApi(api);
  const intake = parts.rateLimits.before(parts.intake);
  sendingOperations(api, intake);
  textQueryOperations(api, intake);
  previewOperations(api);
  inboxOperations(api, parts);
  bulkOperations(api, parts);
  reportOperations(api, parts);
  logOperations(api, parts);
  deadLetterOperations(api, parts);
  operatorOperations(api, parts);
  if (parts.write !== null) sandboxOperations(api, { write: parts.write });
  moneyOperations(api, parts);
  sessionOperations(api, parts);
  credentialOperations(api, parts);
  api.get("/", { schema: { hide: true } }, async (_, reply) => reply.redirect("/docs"));
}

/** A request target in absolute form, as old clients and proxies send it, is served by its path. */
function pathOf(target: string): string {
  const match = /^https?:\/\/[^/?#]*(.*)$/i.exec(target);
  if (match === null) return target;
  const path = match[1]!;
  return path.startsWith("/") ? path : `/${path}`;
}

type Done = (error: Error | null, body?: unknown) => void;

function readBodies(api: Api): void {
  api.removeAllContentTypeParsers();
  const asJson = (request: FastifyRequest, body: Buffer | string, done: Done): void => {
    request.rawBody = body as Buffer;
    done(null, parseJson(body as Buffer));
  };
  api.addContentTypeParser("application/json", { parseAs: "buffer" }, asJson);
  api.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "buffer" },
    async (request: FastifyRequest, body: Buffer | string) => {
      request.rawBody = body as Buffer;
      return parseForm(body as Buffer);
    },
  );
  // Only what has no Content-Type comes here: the others were refused before their body was read.
  api.addContentTypeParser("*", { parseAs: "buffer" }, asJson);
}

async function documentApi(api: Api): Promise<void> {
  await api.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Heliograph",
        version: "1",
        description:
          "The SMS messaging API of Heliograph. Guides, limits and error codes are in the project's docs folder.",
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      components: {
        securitySchemes: {
          basic: { type: "http", scheme: "basic" },
          apiKey: {
            type: "apiKey",
            in: "header",
            name: "Authorization",
            description: "App and the key",
          },
          session: {
            type: "apiKey",
            in: "header",
            name: "Authorization",
            description: "IBSSO and the token from login",
          },
        },
      },
    },
  });
  await api.register(swaggerUi, {
    routePrefix: "/docs",
    theme: { title: "Heliograph API" },
    // No validator: it would be told, on a server of its own, where this service is.
    uiConfig: { docExpansion: "list", defaultModelsExpandDepth: 0, validatorUrl: null },
  });
  api.get("/openapi.json", { schema: { hide: true } }, async () => api.swagger());
}

/** What the framework itself objects to, in the API's words. */
const FRAMEWORK_ERRORS: Readonly<Record<string, [ErrorName, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ["requestTooLarge", "The body is larger than the service takes."],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ["badRequest", "The body is not as long as Content-Length says."],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ["unsupportedMediaType", "Content-Type must be application/json."],
  FST_ERR_BAD_URL: ["notFound", "The path is not a valid URL."],
};

function toApiError(error: FastifyError, request: FastifyRequest, log: Log): ApiError {
  if (error instanceof ApiError) return error;
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

function sendError(error: ApiError, reply: FastifyReply): FastifyReply {
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

const BROKEN_REQUESTS: Readonly<Record<string, ErrorName>> = {
  HPE_HEADER_OVERFLOW: "headersTooLarge",
  ERR_HTTP_REQUEST_TIMEOUT: "requestTimeout",
};

/**
 * What cannot even be read as HTTP is told so, and the connection ends: our side of it once the requests before are answered, the
 * client's when it has written what it had to say (what is reset while it writes, it cannot read) or when the time for a request is over.
 */
function brokenRequestAnswerer(connections: Connections) {
  const told = new WeakSet<Socket>();
  const tell = (error: Error & { code?: string }, socket: Socket): void => {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const timeIsOver = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
    const apiError = new ApiError(BROKEN_REQUESTS[error.code ?? ""] ?? "badRequest", {
      description: timeIsOver ? "The request did not come whole in time." : "The request could not be read.",
    });
    const body = JSON.stringify(apiError.body());
    const { status } = apiError.kind;
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  };
  return (error: Error & { code?: string }, socket: Socket): void => {
    if (error.code === "ECONNRESET") {
      socket.destroy();
      return;
    }
    // Each further piece of the same broken request comes here again.
    if (told.has(socket) && error.code !== "ERR_HTTP_REQUEST_TIMEOUT" && !socket.readableEnded) return;
    told.add(socket);
    const before = connections.find(socket)?.newest;
    if (before?.req.complete && !before.closed) before.once("close", () => tell(error, socket));
    // It is the rest of a body that is broken or late; whoever has the answer to its head is not told twice.
    else if (before?.req.complete === false && before.writableEnded) socket.destroy();
    else tell(error, socket);
  };
}

/** Reads what is left of a body and drops it. The time-out of requests is the bound. */
async function dropRest(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return;
  request.resume();
  await finished(request).catch(() => undefined);
}
