/**
 * The HTTP edge: the server of the API. Here its parts are put together; each is a file of its own: connections and requests under way
 * (client-connections.ts), what is checked before any operation (admission.ts), bodies (content-types.ts), errors (error-answers.ts), and the operations.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import Fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import { systemClock } from "../runtime/clock.ts";
import { type Log, LogLimiter } from "../runtime/log.ts";
import type { Metric } from "../runtime/metrics.ts";
import { maxOpenFiles } from "../runtime/open-files.ts";
import { networksOf, type Settings } from "../settings/settings.ts";
import { admitRequests } from "./admission.ts";
import { Bodies } from "./bodies.ts";
import { brokenRequestAnswerer, tellLate } from "./broken-requests.ts";
import { MemoryBudget, Share, SMALL_OCTETS } from "./budget.ts";
import type { Certificate } from "./certificate.ts";
import { ClientConnections } from "./client-connections.ts";
import { clientOperations } from "./client-operations.ts";
import { Live } from "./console/live.ts";
import { RequestLog } from "./console/request-log.ts";
import { type PageForNone, wantsPage } from "./console/static.ts";
import { takeContentTypes } from "./content-types.ts";
import { Draining } from "./draining.ts";
import { answerErrors, sendError, toApiError } from "./error-answers.ts";
import { errorAnswer } from "./error-forms.ts";
import { noRoomForAnswer, RETRY_SOON } from "./errors.ts";
import { showAsGet } from "./head.ts";
import { addHeaders, headersFor, ownHostsOf } from "./headers.ts";
import { type HealthParts, healthOperations } from "./health.ts";
import { LazySchemas } from "./lazy-schemas.ts";
import { listenAt } from "./listening.ts";
import { tellNearMisses } from "./near-misses.ts";
import type { Api } from "./operation.ts";
import type { ApiParts } from "./parts.ts";
import { KnownPaths, routedPath, targetHost } from "./paths.ts";
import { RequestLines } from "./request-lines.ts";
import { ShortConnection } from "./short-connection.ts";
import { ShortWay } from "./short-way.ts";
import { refuseUnknownParameters } from "./strict-queries.ts";
import { leaveBody } from "./unwanted-bodies.ts";
import { describe } from "./validation.ts";

export interface ServerParts
  extends Omit<ApiParts, "live" | "requestLog" | "admitNamed">,
    Omit<HealthParts, "isLeaving"> {
  /** Null where the API is served without TLS. */
  readonly certificate: Certificate | null;
  /** A node that leaves requests to others serves health and metrics only. */
  readonly takesRequests: boolean;
  /** Told of every answer, for the metrics. */
  readonly onAnswer: (route: string, status: number, durationMs: number) => void;
}

const HEADER_BYTES = 16 * 1024;

export interface ApiServer {
  readonly api: Api;
  /** At the host and the port of the settings. */
  listen(): Promise<void>;
  /** What strangers and callers have of it now, for the metrics. */
  metrics(): Metric[];
  /** Compiles the schemas of the operations that bring messages, or of all, in turns between requests. Gives how many schemas those were. */
  compileSchemas(which: "sending" | "all"): Promise<number>;
  /** Nobody new is let in; what is under way is answered, within a bound (draining.ts). */
  stop(): Promise<void>;
}

export async function buildServer(parts: ServerParts): Promise<ApiServer> {
  const { settings, log } = parts;
  const trusted = networksOf(settings, "trustedProxies");
  const bodies = new Bodies(settings.limits.bodiesBytes);
  const answers = new MemoryBudget(settings.limits.answersBytes);
  // By the machine's own clock too: pages watch in real time, whatever the clock of a sandbox shows.
  const live = new Live({ clock: systemClock, log, settings });
  parts.catalogue.onChange(() => live.recheck());
  parts.sessions.onEnd = (token) => live.signedOut(token);
  const requestLog = new RequestLog({ ...parts, maxOctets: settings.console.requestsBytes });
  const refusals = new LogLimiter(parts.clock);
  const lines = new RequestLines(log, parts.clock.now());
  const http = {
    headersTimeout: settings.server.headersTimeoutMs,
    // Node refuses a shorter one, or its own that is; the framework sets that of the settings afterwards.
    requestTimeout: Math.max(settings.server.headersTimeoutMs, settings.server.requestTimeoutMs),
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
  const connections = new ClientConnections(
    {
      ...settings.server,
      maxConnections: possibleConnections(settings, log),
      tls: tls !== null,
      isProxy: (address) => trusted.any && trusted.has(address),
    },
    systemClock,
    tellLate,
  );
  const answerBroken = brokenRequestAnswerer(connections, (code, socket) => lines.broken(code, socket));
  const schemas = new LazySchemas();
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
    // A HEAD is led to the route of GET (head.ts).
    exposeHeadRoutes: false,
    // Steps that are too long are led elsewhere before they come to the router.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: HEADER_BYTES },
    rewriteUrl: (request) => {
      const { url = "/" } = request;
      const host = targetHost(url);
      if (host !== null) request.headers.host = host;
      return routedPath(url);
    },
    clientErrorHandler: answerBroken,
    frameworkErrors: (error, request, reply) =>
      sendError(toApiError(error, request.routeOptions.url, log, refusals), reply),
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allowUnionTypes: true } },
    schemaController: { compilersFactory: schemas.compilers },
    schemaErrorFormatter: describe,
  }).withTypeProvider<TypeBoxTypeProvider>();
  const draining = new Draining({ server: api.server, connections, clock: systemClock, settings: settings.server });
  const watch = (socket: Socket): void => {
    const connection = connections.find(socket);
    if (hasShortWay && connection !== undefined) ShortConnection.watch(shortWay, connection, socket);
  };
  api.server.on("connection", (socket: Socket) => {
    connections.open(socket);
    if (tls === null) watch(socket);
  });
  if (tls !== null)
    api.server.on("secureConnection", (socket: Socket) => {
      connections.secured(socket);
      watch(socket);
    });
  // A client that ends its side gets its answers all the same.
  Object.assign(api.server, { httpAllowHalfOpen: true });
  // Node lets go of such a connection, whatever is still to be answered on it. None is made for anybody.
  api.server.on("connect", (_: IncomingMessage, socket: Socket) => {
    socket.on("error", () => undefined).resume();
    answerBroken({ code: "CONNECT" }, socket);
  });
  // Of a request on the short way Node does not know.
  api.server.on("timeout", (socket: Socket) => {
    if ((connections.find(socket)?.underWay.length ?? 0) === 0) socket.destroy();
  });
  // What nobody is going to answer need not come as far as the router.
  const [dispatch] = api.server.listeners("request") as ((request: IncomingMessage, response: unknown) => void)[];
  const headers = headersFor(tls !== null);
  const hasRoomFor = ({ account, progress }: FastifyRequest, answer: string): boolean => {
    if (answer.length <= SMALL_OCTETS) return true;
    // An answer stays in memory until its client has taken it.
    const share = new Share(answers, account?.id ?? null);
    progress?.holds(() => share.release());
    return share.grow(answer.length);
  };
  const answering = (request: FastifyRequest, reply: FastifyReply): void => {
    if (request.odd !== null) tellWarnings(request, reply, request.odd);
    if (draining.isDraining) draining.mark(request, reply);
  };
  const answered = (request: FastifyRequest, status: number, durationMs: number): void => {
    const { progress, account } = request;
    // How long somebody watched says nothing about how quick the service is.
    if (progress?.isStream !== true) parts.onAnswer(progress?.route ?? "unknown", status, durationMs);
    if (account !== null && request.method !== "GET") live.touch(account.id);
    // A quarter of a microsecond.
    if (settings.console.enabled) requestLog.note(request, status, durationMs);
  };
  // Behind a proxy others than the connection say where a request comes from; and lines of the log tell more than is known there.
  const hasShortWay = !trusted.any && !lines.isOn;
  const shortWay = new ShortWay({
    ...parts,
    auth: parts,
    connections,
    schemas,
    homes: parts.sandbox === null ? null : ownHostsOf(settings),
    headers,
    isOpen: () => !draining.isDraining,
    keepAliveMs: api.server.keepAliveTimeout,
    toApiError: (error, route) => toApiError(error, route, log, refusals),
    hasRoomFor,
    answering,
    answered,
  });
  api.server.removeAllListeners("request");
  api.server.on("request", (request, response) => {
    const connection = connections.of(request.socket);
    if (connection === null) return;
    if (connection.admitted !== null) shortWay.goesOn(request, response, connection);
    showAsGet(request);
    dispatch!(request, response);
  });
  // Expectations other than 100-continue may be ignored (RFC 9110, 10.1.1); Node's own answer has no error object.
  api.server.on("checkExpectation", (request, response) => api.server.emit("request", request, response));
  const sendingPaths = new Set<string>();
  api.addHook("onRoute", (route) => {
    const { url, method, config } = route;
    if (config?.scope === "send" && method === "POST") sendingPaths.add(url);
    shortWay.note(route);
  });
  for (const name of ["account", "rawBody", "progress", "workDone", "refusal", "rejections", "odd"] as const)
    api.decorateRequest(name, null);

  takeContentTypes(api, { ...parts, limits: settings.limits, bodies, connections, clock: systemClock });
  const paths = new KnownPaths(api, parts.takesRequests);
  const admitNamed = admitRequests(api, {
    ...parts,
    auth: parts,
    connections,
    paths,
    trustedProxies: trusted,
    isSandbox: parts.sandbox !== null,
  });
  const tellWarnings = tellNearMisses(api, { log, live: parts.liveHub, clock: parts.clock });
  refuseUnknownParameters(api);
  api.addHook("onSend", (request, reply, payload, done) => {
    request.workDone?.();
    leaveBody(request, reply, connections);
    addHeaders(reply, headers);
    answering(request, reply);
    lines.identify(request, reply);
    if (typeof payload !== "string" || hasRoomFor(request, payload)) {
      done();
      return;
    }
    const { status, contentType, body } = errorAnswer(noRoomForAnswer(), request.originalUrl);
    reply.code(status).headers(RETRY_SOON).type(contentType).removeHeader("content-length");
    done(null, body);
  });
  api.addHook("onResponse", (request, reply, done) => {
    request.progress?.end();
    answered(request, reply.statusCode, reply.elapsedTime);
    if (lines.isOn) lines.answered(request, reply);
    done();
  });

  answerErrors(api, log, refusals);
  let pageForNone: PageForNone | null = null;
  api.setNotFoundHandler((request, reply) => {
    const error = paths.unknown(request);
    if (pageForNone === null || error.kind.status !== 404 || !wantsPage(request)) return sendError(error, reply);
    return pageForNone(request, reply);
  });

  if (parts.takesRequests) pageForNone = await clientOperations(api, { ...parts, live, requestLog, admitNamed });
  healthOperations(api, { ...parts, isLeaving: () => draining.isLeaving });
  await api.ready();
  return {
    api,
    listen: async () => {
      draining.besides = await listenAt(api.server, (place) => api.listen(place), settings.server, log);
    },
    metrics: () => [...connections.metrics(), ...bodies.metrics()],
    compileSchemas: (which) =>
      which === "all" ? schemas.compile() : schemas.compile(sendingPaths, () => !draining.isLeaving),
    stop: async () => {
      live.stop();
      await draining.stop();
      await api.close();
      connections.stop();
    },
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
