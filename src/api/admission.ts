/**
 * What is checked of a request before its body is read: whether there is room for it, where it comes from, who is calling and what that caller may
 * do. A request that passes is counted as under way (`RequestProgress`) until it is answered.
 */
import type { FastifyContextConfig, FastifyRequest } from "fastify";
import type { Networks } from "../runtime/networks.ts";
import type { Settings } from "../settings/settings.ts";
import type { Account } from "../store/port/accounts.ts";
import {
  AUTHENTICATION,
  type Auth,
  type AuthParts,
  authenticatePair,
  checkAddress,
  checkScope,
  type NamedPassword,
  type RequestCaller,
} from "./auth.ts";
import { MAX_PIPELINED, RequestProgress, type Site } from "./client-connection.ts";
import type { ClientConnections } from "./client-connections.ts";
import { checkShownAccount, takeCookie } from "./console/cookie.ts";
import { wantsPage } from "./console/static.ts";
import { ApiError, RETRY_SOON, tooMany, unavailable } from "./errors.ts";
import { showAsHead } from "./head.ts";
import { checkHome, checkHost, checkTransferCoding, ownHostsOf } from "./headers.ts";
import { loginOf } from "./kannel/login.ts";
import { checkAccept, checkContentEncoding, checkContentType, isCsvWanted } from "./negotiation.ts";
import type { Api } from "./operation.ts";
import type { KnownPaths } from "./paths.ts";
import { checkQuery } from "./query.ts";
import type { RateLimits } from "./rate-limits.ts";
import { admittedBefore } from "./short-way.ts";

export interface AdmissionParts {
  readonly auth: AuthParts;
  readonly settings: Settings;
  readonly rateLimits: RateLimits;
  readonly connections: ClientConnections;
  readonly paths: KnownPaths;
  readonly trustedProxies: Networks;
  readonly isSandbox: boolean;
}

/** Lets a request in whose caller is named in its body. */
export type AdmitNamed = (request: FastifyRequest, pair: NamedPassword) => Promise<void>;

export function admitRequests(api: Api, parts: AdmissionParts): AdmitNamed {
  const { auth: authParts, settings, rateLimits, connections, paths, trustedProxies } = parts;
  const ownHosts = ownHostsOf(settings);

  /** What is checked of a request whose caller is known, if it has to be. */
  const admit = (request: FastifyRequest, account: Account | null, config: FastifyContextConfig): void => {
    const { auth, scope = null, form = false, csv = false, json = false } = config;
    const progress = request.progress!;
    if (account !== null) {
      request.account = account;
      progress.identified();
      checkShownAccount(request, account);
      if (connections.isCrowded(null, "caller")) throw busy();
      checkAddress(account, request.ip);
      // Nothing but the end of a session asks for one.
      checkScope(account, scope, settings.resellers, auth === "session");
      progress.holds(rateLimits.takeRequest(account));
    }
    if (json) checkQuery(request.url);
    if (json) checkAccept(request.headers.accept, csv && isCsvWanted(request.query) ? "text/csv" : "application/json");
    if (json && request.method !== "GET" && request.method !== "HEAD") checkBodyHeaders(request, form !== false);
  };
  /** Whoever is wrong about who it is stays a stranger. */
  const wasWrong = (error: unknown, site: Site): never => {
    if (error instanceof ApiError && error.kind.status === 401) rateLimits.takeStranger(site.name);
    throw error;
  };
  /** What is checked of any request, whoever sends it. */
  const checkStranger = (request: FastifyRequest, site: Site, auth: Auth): void => {
    const isKnown = request.routeOptions.config.isKnown?.(request) === true;
    if (isKnown) request.progress!.identified();
    const who = auth === "none" ? "visitor" : "stranger";
    if (connections.isCrowded(null, who)) throw busy();
    if (connections.isCrowded(site, who)) throw tooMany("Too many requests from this address are in progress.");
    // Whoever shows who it is has its account's limits.
    if (auth === "none" && !isKnown) rateLimits.takeStranger(site.name);
    if (parts.isSandbox) checkHome(request, ownHosts);
    // Before its body is read: whatever that is, nobody wants it.
    if ((request.is404 && !wantsPage(request)) || !paths.takes(request)) throw paths.unknown(request);
    if (request.headers.host === undefined && request.raw.httpVersion === "1.1")
      throw new ApiError("badRequest", "The Host header is missing.");
  };
  // The hooks call back and return no promise: each promise costs every request a microsecond.
  api.addHook("onRequest", (request, reply, done) => {
    showAsHead(request.raw);
    const { config } = request.routeOptions;
    const { auth = "none", always = false } = config;
    const connection = connections.of(request.raw.socket);
    if (connection === null) {
      reply.hijack();
      return;
    }
    const before = admittedBefore(request.raw);
    if (before !== null) {
      request.progress = before.progress;
      request.account = before.account;
      done();
      return;
    }
    const site = trustedProxies.any ? connections.siteAt(request.ip) : connection.site;
    const who = always ? "watcher" : auth === "none" ? "visitor" : "stranger";
    request.progress = new RequestProgress(connections, connection, site, reply.raw, config.url, who);
    if (connection.underWay.length > MAX_PIPELINED) {
      connection.overran();
      throw new ApiError("unavailable", {
        description: "Too many requests on this connection are not answered yet.",
        headers: { ...RETRY_SOON, connection: "close" },
      });
    }
    checkHost(request);
    checkTransferCoding(request);
    // A service that is busy is still up: whoever watches it gets an answer.
    if (always) {
      done();
      return;
    }
    checkStranger(request, site, auth);
    // The console's cookie is a session token like any other: from here on it stands where that stands.
    const hasCookie = request.headers.authorization === undefined && request.headers.cookie !== undefined;
    const choice = hasCookie && auth !== "none" ? takeCookie(request, authParts.sessions) : null;
    const account =
      choice === null
        ? identify(authParts, auth, request, connection)
        : choice.then(() => identify(authParts, auth, request, connection));
    if (account instanceof Promise) {
      account
        .catch((error: unknown) => wasWrong(error, site))
        .then((found) => admit(request, found, config))
        .then(() => done(), done);
      return;
    }
    admit(request, account, config);
    done();
  });
  return async (request, pair) => {
    const account = await authenticatePair(authParts, pair, request.ip).catch((error: unknown) =>
      wasWrong(error, request.progress!.site),
    );
    admit(request, account, request.routeOptions.config);
  };
}

function checkBodyHeaders({ headers }: FastifyRequest, form: boolean): void {
  checkContentType(headers["content-type"], form);
  checkContentEncoding(headers["content-encoding"]);
}

function identify(parts: AuthParts, auth: Auth, request: FastifyRequest, connection: RequestCaller["connection"]) {
  const { authorization } = request.headers;
  const caller = { header: authorization, address: request.ip, connection, route: request.routeOptions.url };
  return AUTHENTICATION[auth](parts, caller, auth === "kannel" ? loginOf(request) : request.query);
}

function busy(): ApiError {
  return unavailable("Too many requests are in progress.");
}
