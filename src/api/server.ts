/** The HTTP edge: the server, what is checked before any operation, how errors are told, and the operations themselves. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { finished } from "node:stream/promises";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import Fastify, { type FastifyContextConfig, type FastifyError, type FastifyReply, type FastifyRequest } from "fastify";
import { Refused } from "../admin/refusal.ts";
import type { Intake } from "../intake/intake.ts";
import { systemClock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Metric } from "../runtime/metrics.ts";
import { maxOpenFiles } from "../runtime/open-files.ts";
import { networksOf, type Settings } from "../runtime/settings.ts";
import { type Account, StoreUnavailable } from "../store/port.ts";
import { AUTHENTICATION, checkAddress, checkScope } from "./auth.ts";
import { Bodies } from "./bodies.ts";
import { parseForm, parseJson } from "./body.ts";
import { brokenRequestAnswerer, tellLate } from "./broken-requests.ts";
import { MemoryBudget, Share, SMALL_OCTETS } from "./budget.ts";
import { type BulkParts, bulkOperations } from "./bulks.ts";
import type { Certificate } from "./certificate.ts";
import { MAX_PIPELINED, Progress, type Site } from "./connection.ts";
import { Connections } from "./connections.ts";
import { type CredentialParts, credentialOperations } from "./credentials.ts";
import { type DeadLetterParts, deadLetterOperations } from "./dead-letters.ts";
import { documentApi } from "./documentation.ts";
import { ApiError, type ErrorName } from "./errors.ts";
import { addHeaders, checkHome, headersFor } from "./headers.ts";
import { type HealthParts, healthOperations } from "./health.ts";
import { type InboxParts, inboxOperations } from "./inbox.ts";
import { type LogParts, logOperations } from "./logs.ts";
import { type MoneyParts, moneyOperations } from "./money.ts";
import { checkAccept, checkContentType, isCsvWanted } from "./negotiation.ts";
import { type Api, type Auth, SMALL_BODY } from "./operation.ts";
import { type OperatorParts, operatorOperations } from "./operator/operations.ts";
import { previewOperations } from "./previews.ts";
import type { RateLimits } from "./rate-limits.ts";
import { refusalError } from "./refusals.ts";
import { type ReportParts, reportOperations } from "./reports.ts";
import { type SandboxParts, sandboxOperations } from "./sandbox.ts";
import { type SecondFactorParts, secondFactorOperations } from "./second-factor.ts";
import { sendingOperations } from "./sending.ts";
import { sessionOperations } from "./session.ts";
import { textQueryOperations } from "./text-query.ts";
import { describe } from "./validation.ts";

export interface ApiParts
  extends Omit<SecondFactorParts, "store">,
    MoneyParts,
    InboxParts,
    LogParts,
    ReportParts,
    DeadLetterParts,
    HealthParts {
  readonly store: SecondFactorParts["store"] &
    MoneyParts["store"] &
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
  /** A node that leaves requests to others serves health and metrics only. */
  readonly takesRequests: boolean;
  readonly log: Log;
  readonly intake: Pick<Intake, "send">;
  readonly rateLimits: RateLimits;
  /** Null outside the sandbox. */
  readonly write: SandboxParts["write"] | null;
  /** Told of every answer, for the metrics. */
  readonly onAnswer: (route: string, status: number, durationMs: number) => void;
}

const HEADER_BYTES = 16 * 1024;
const NO_REQUESTS_HERE = "This node takes no requests: its roles do not include api.";
const RETRY_SOON = { "retry-after": "1" };

export interface ApiServer {
  readonly api: Api;
  /** From now on every new request is told that the service stops. */
  drain(): void;
  /** What strangers and callers have of it now, for the metrics. */
  metrics(): Metric[];
  /** Ends what goes on beside the requests. */
  stop(): Promise<void>;
}

export async function buildServer(parts: ApiParts): Promise<ApiServer> {
  const { settings, log } = parts;
  let draining = false;
  const trusted = networksOf(settings, "trustedProxies");
  const bodies = new Bodies(settings.limits.bodiesBytes);
  const answers = new MemoryBudget(settings.limits.answersBytes);
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
  // By the machine's own clock, as Node's time-outs: what clients do takes real time.
  const connections = new Connections(
    {
      ...settings.server,
      maxConnections: possibleConnections(settings, log),
      tls: tls !== null,
      isProxy: (address) => trusted.any && trusted.has(address),
    },
    systemClock,
    ({ socket, newest }) => tellLate(socket, newest?.headersSent === true),
  );
  const api = Fastify({
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
    rewriteUrl: (request) => decodable(pathOf(request.url ?? "/")),
    clientErrorHandler: brokenRequestAnswerer(connections),
    frameworkErrors: (error, request, reply) => sendError(toApiError(error, request, log), reply),
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allowUnionTypes: true } },
    schemaErrorFormatter: describe,
  }).withTypeProvider<TypeBoxTypeProvider>();
  api.server.on("connection", (socket: Socket) => connections.open(socket));
  if (tls !== null) api.server.on("secureConnection", (socket: Socket) => connections.secured(socket));
  // What nobody is going to answer need not come as far as the router.
  const [dispatch] = api.server.listeners("request") as ((request: IncomingMessage, response: unknown) => void)[];
  api.server.removeAllListeners("request");
  api.server.on("request", (request, response) => {
    if (connections.of(request.socket) !== null) dispatch!(request, response);
  });
  // Expectations other than 100-continue may be ignored (RFC 9110, 10.1.1); Node's own answer has no error object.
  api.server.on("checkExpectation", (request, response) => api.server.emit("request", request, response));
  api.decorateRequest("account", null);
  api.decorateRequest("rawBody", null);
  api.decorateRequest("progress", null);

  readBodies(api, parts.settings, bodies, connections);
  const methodsOf = new Map<string, Set<string>>();
  api.addHook("onRoute", ({ url, method }) => {
    const path = url.replace(/\/$/, "") || "/";
    const methods = methodsOf.get(path) ?? new Set();
    for (const name of [method].flat()) methods.add(name);
    methodsOf.set(path, methods);
  });

  /** What is checked of a request whose caller is known, if it has to be. */
  const admit = (request: FastifyRequest, account: Account | null, config: FastifyContextConfig): void => {
    const { scope = null, form = false, csv = false, json = false } = config;
    const progress = request.progress!;
    if (account !== null) {
      request.account = account;
      progress.identified();
      if (connections.isCrowded(null, "caller")) throw busy();
      checkAddress(account, request.ip);
      checkScope(account, scope, settings.resellers);
      progress.holds(parts.rateLimits.takeRequest(account));
    }
    if (json) checkAccept(request.headers.accept, csv && isCsvWanted(request.query) ? "text/csv" : "application/json");
    if (json && request.method !== "GET" && request.method !== "HEAD")
      checkContentType(request.headers["content-type"], form);
  };
  /** What is checked of any request, whoever sends it. */
  const checkStranger = (request: FastifyRequest, site: Site, auth: Auth): void => {
    const who = auth === "none" ? "visitor" : "stranger";
    if (connections.isCrowded(null, who)) throw busy();
    if (connections.isCrowded(site, who))
      throw new ApiError("tooManyRequests", {
        description: "Too many requests from this address are in progress.",
        headers: RETRY_SOON,
      });
    // Whoever shows who it is has its account's limits.
    if (auth === "none") parts.rateLimits.takeStranger(site.name);
    if (parts.write !== null) checkHome(request, settings.server.host);
    // Before its body is read: whatever that is, nobody wants it.
    if (request.is404) throw unknownPath(request);
    if (request.headers.host === undefined && request.raw.httpVersion === "1.1")
      throw new ApiError("badRequest", { description: "The Host header is missing." });
  };
  // The hooks call back and return no promise: each promise costs every request a microsecond.
  api.addHook("onRequest", (request, reply, done) => {
    const { config } = request.routeOptions;
    const { auth = "none", always = false } = config;
    const connection = connections.of(request.raw.socket);
    if (connection === null) {
      reply.hijack();
      return;
    }
    const site = trusted.any ? connections.siteAt(request.ip) : connection.site;
    const who = always ? "watcher" : auth === "none" ? "visitor" : "stranger";
    request.progress = new Progress(connections, connection, site, reply.raw, config.url, who);
    // Nobody reads a body of these.
    const bodiless = request.method === "GET" || request.method === "HEAD";
    if (bodiless && request.headers["transfer-encoding"] !== undefined) connection.dropRest(request.raw);
    if (draining)
      throw new ApiError("unavailable", {
        description: "The service is stopping.",
        headers: { ...RETRY_SOON, connection: "close" },
      });
    if (connection.underWay.length > MAX_PIPELINED) {
      connection.overran();
      throw new ApiError("unavailable", {
        description: "Too many requests on this connection are not answered yet.",
        headers: { ...RETRY_SOON, connection: "close" },
      });
    }
    // A service that is busy is still up: whoever watches it gets an answer.
    if (always) {
      done();
      return;
    }
    checkStranger(request, site, auth);
    const caller = { header: request.headers.authorization, address: request.ip, connection };
    const account = AUTHENTICATION[auth](parts, caller, request.query);
    if (account instanceof Promise) {
      account
        .catch((error: unknown) => {
          // Whoever is wrong about who it is stays a stranger.
          if (error instanceof ApiError && error.kind.status === 401) parts.rateLimits.takeStranger(site.name);
          throw error;
        })
        .then((found) => admit(request, found, config))
        .then(() => done(), done);
      return;
    }
    admit(request, account, config);
    done();
  });
  const headers = headersFor(tls !== null);
  api.addHook("onSend", (request, reply, payload, done) => {
    addHeaders(reply, headers);
    // Nobody is to send another request on this connection.
    if (draining) reply.header("connection", "close");
    if (typeof payload !== "string" || payload.length <= SMALL_OCTETS) {
      done();
      return;
    }
    // An answer stays in memory until its client has taken it.
    const share = new Share(answers, request.account?.id ?? null);
    request.progress?.holds(() => share.release());
    if (share.grow(payload.length)) {
      done();
      return;
    }
    const error = new ApiError("unavailable", { description: "Too many large answers wait to be taken." });
    reply.code(error.kind.status).headers(RETRY_SOON).removeHeader("content-length");
    done(null, JSON.stringify(error.body()));
  });
  api.addHook("onResponse", (request, reply, done) => {
    const { progress } = request;
    progress?.end();
    parts.onAnswer(progress?.route ?? "unknown", reply.statusCode, reply.elapsedTime);
    done();
  });

  api.setErrorHandler(async (error: FastifyError, request, reply) => {
    request.progress?.refused();
    if (!request.raw.complete) request.progress?.connection.dropRest(request.raw);
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
    if (request.url === UNDECODABLE) return new ApiError("notFound", { description: "The path is not a valid URL." });
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
      connections.closeUnused();
    },
    metrics: () => [...connections.metrics(), ...bodies.metrics()],
    stop: () => connections.stop(),
  };
}

/** For the database, carriers, receivers of reports and logs: a process that cannot open these is as good as dead. */
const OTHER_FILES = 512;

/** As many connections as the settings say, or as the system lets the process have. */
function possibleConnections({ server }: Settings, log: Log): number {
  const files = maxOpenFiles() ?? Number.MAX_SAFE_INTEGER;
  const possible = Math.max(Math.floor(files / 2), files - OTHER_FILES);
  if (possible >= server.maxConnections) return server.maxConnections;
  log.warn({ maxConnections: possible, openFiles: files }, "the system allows fewer connections than the settings");
  return possible;
}

function busy(): ApiError {
  return new ApiError("unavailable", { description: "Too many requests are in progress.", headers: RETRY_SOON });
}

/** All that clients, resellers and operators ask for, and the page that says how. */
async function clientOperations(api: Api, parts: ApiParts): Promise<void> {
  await documentApi(api, systemClock);
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
  secondFactorOperations(api, parts);
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

/** Leads nowhere, as any other path that is not there. */
const UNDECODABLE = "/undecodable";

/** What the router cannot decode it would refuse by itself, past every bound and header. */
function decodable(path: string): string {
  if (!path.includes("%")) return path;
  try {
    decodeURIComponent(path.split(/[?#;]/, 1)[0]!);
    return path;
  } catch {
    return UNDECODABLE;
  }
}

type Done = (error: Error | null, body?: unknown) => void;

/** Reads bodies into memory, within the bounds of their operations, and gives them to their parsers. */
function readBodies(api: Api, { limits }: Settings, bodies: Bodies, connections: Connections): void {
  api.removeAllContentTypeParsers();
  const parsedBy =
    (parse: (body: Buffer) => unknown) =>
    (request: FastifyRequest, raw: IncomingMessage, done: Done): void => {
      const { bodyOctets = SMALL_BODY } = request.routeOptions.config;
      const limit = bodyOctets === "large" ? limits.bodyBytes : Math.min(bodyOctets, limits.bodyBytes);
      const progress = request.progress!;
      const owner = {
        accountId: request.account?.id ?? null,
        dismiss: () => connections.dismiss(progress.connection),
        holds: (release: () => void) => progress.holds(release),
      };
      bodies.read(raw, limit, owner, (error, body) => {
        if (error !== null) {
          done(error);
          return;
        }
        request.rawBody = body!;
        let value: unknown;
        try {
          value = parse(body!);
        } catch (fault) {
          done(fault as Error);
          return;
        }
        done(null, value);
      });
    };
  api.addContentTypeParser("application/json", parsedBy(parseJson));
  api.addContentTypeParser("application/x-www-form-urlencoded", parsedBy(parseForm));
  // Only what has no Content-Type comes here: the others were refused before their body was read.
  api.addContentTypeParser("*", parsedBy(parseJson));
}

/** What the framework itself objects to, in the API's words. */
const FRAMEWORK_ERRORS: Readonly<Record<string, [ErrorName, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ["unsupportedMediaType", "Content-Type must be application/json."],
  FST_ERR_BAD_URL: ["notFound", "The path is not a valid URL."],
};

function toApiError(error: FastifyError, request: FastifyRequest, log: Log): ApiError {
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

/** Reads what is left of a body and drops it. The time-out of requests is the bound. */
async function dropRest(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return;
  request.resume();
  await finished(request).catch(() => undefined);
}
