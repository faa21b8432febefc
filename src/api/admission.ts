/**
 * What is checked of a request before its body is read: whether there is room for it, where it comes from, who is calling and what that caller may
 * do. A request that passes is counted as under way (`RequestProgress`) until it is answered.
 */
import type { FastifyContextConfig, FastifyRequest } from "fastify";
import type { Networks } from "../runtime/networks.ts";
import type { Settings } from "../runtime/settings.ts";
import type { Account } from "../store/port/accounts.ts";
import { AUTHENTICATION, type Auth, type AuthParts, checkAddress, checkScope } from "./auth.ts";
import { MAX_PIPELINED, RequestProgress, type Site } from "./client-connection.ts";
import type { ClientConnections } from "./client-connections.ts";
import { ApiError, RETRY_SOON } from "./errors.ts";
import { checkHome } from "./headers.ts";
import { checkAccept, checkContentType, isCsvWanted } from "./negotiation.ts";
import type { Api } from "./operation.ts";
import type { KnownPaths } from "./paths.ts";
import type { RateLimits } from "./rate-limits.ts";

export interface AdmissionParts {
  readonly auth: AuthParts;
  readonly settings: Settings;
  readonly rateLimits: RateLimits;
  readonly connections: ClientConnections;
  readonly paths: KnownPaths;
  readonly trustedProxies: Networks;
  readonly isSandbox: boolean;
  /** From then on every new request is told that the service stops. */
  readonly isDraining: () => boolean;
}

export function admitRequests(api: Api, parts: AdmissionParts): void {
  const { auth: authParts, settings, rateLimits, connections, paths, trustedProxies, isDraining } = parts;

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
      progress.holds(rateLimits.takeRequest(account));
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
    if (auth === "none") rateLimits.takeStranger(site.name);
    if (parts.isSandbox) checkHome(request, settings.server.host);
    // Before its body is read: whatever that is, nobody wants it.
    if (request.is404) throw paths.unknown(request);
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
    const site = trustedProxies.any ? connections.siteAt(request.ip) : connection.site;
    const who = always ? "watcher" : auth === "none" ? "visitor" : "stranger";
    request.progress = new RequestProgress(connections, connection, site, reply.raw, config.url, who);
    // Nobody reads a body of these.
    const bodiless = request.method === "GET" || request.method === "HEAD";
    if (bodiless && request.headers["transfer-encoding"] !== undefined) connection.dropRest(request.raw);
    if (isDraining())
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
    const account = AUTHENTICATION[auth](authParts, caller, request.query);
    if (account instanceof Promise) {
      account
        .catch((error: unknown) => {
          // Whoever is wrong about who it is stays a stranger.
          if (error instanceof ApiError && error.kind.status === 401) rateLimits.takeStranger(site.name);
          throw error;
        })
        .then((found) => admit(request, found, config))
        .then(() => done(), done);
      return;
    }
    admit(request, account, config);
    done();
  });
}

function busy(): ApiError {
  return new ApiError("unavailable", { description: "Too many requests are in progress.", headers: RETRY_SOON });
}
