/** What every answer says to browsers, and in the sandbox which web pages may ask at all. */
import { isIP } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { LOOPBACK } from "../runtime/networks.ts";
import { hasOtherCoding, hasSeveralHosts } from "../runtime/request-smuggling.ts";
import { parseHostNames } from "../settings/lists.ts";
import type { Settings } from "../settings/settings.ts";
import { ApiError } from "./errors.ts";

/** An answer of the API is no page: nothing in it is to be run, shown in a frame, or kept by anybody on the way. */
const API_HEADERS = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
};
const TLS_HEADERS = { ...API_HEADERS, "strict-transport-security": "max-age=31536000" };

/** For the pages at /docs. Their styles are written into the elements by their script, which a policy calls inline. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function headersFor(tls: boolean): Readonly<Record<string, string>> {
  return tls ? TLS_HEADERS : API_HEADERS;
}

/** Answers are somebody's own: unless it says otherwise, none is kept by a cache. A page that is shown in place of an answer has its policy. */
export function addHeaders(reply: FastifyReply, headers: Readonly<Record<string, string>>): void {
  const own = reply.getHeader("content-security-policy");
  reply.headers(headers);
  if (own !== undefined) reply.header("content-security-policy", own);
  if (!reply.hasHeader("cache-control")) reply.header("cache-control", "no-store");
}

/** Ends of names that nobody can register: RFC 6761 and RFC 6762 keep them, and ICANN has set .internal aside for networks of one's own. */
const UNREGISTERED = [".internal", ".local", ".localhost", ".test"] as const;

/**
 * The sandbox has accounts with known passwords and runs where a browser runs. A page of another site could have its name point to this machine and
 * then ask as if it were at home: so a request must name this machine, and a page that asks must have come from this machine. A name without a dot
 * ("localhost", a container's name), one that nobody can register, or an address is nobody's site. `ownHosts` are names that the operator vouches for.
 */
export function checkHome({ headers }: FastifyRequest, ownHosts: ReadonlySet<string>): void {
  const { host = "", origin } = headers;
  const name = hostName(host);
  if (!isNobodysSite(name) && !ownHosts.has(name))
    throw new ApiError(
      "forbidden",
      `The sandbox answers under an address, a name without a dot, and names under ${UNREGISTERED.join(", ")}: ` +
        `to have it answer under ${name}, start it with --allow-host ${name}.`,
    );
  if (origin === undefined || origin === `http://${host}` || origin === `https://${host}`) return;
  const page = pageName(origin);
  if (page === null || !(isThisMachine(page) || ownHosts.has(page)))
    throw new ApiError(
      "forbidden",
      "The sandbox does not answer the pages of other sites. It answers those of this machine (http://localhost and any port), " +
        "and of a site that it is started with --allow-host NAME for.",
    );
}

/** The names of this machine that the settings give. */
export function ownHostsOf({ server }: Settings): ReadonlySet<string> {
  return new Set([server.host.toLowerCase(), ...parseHostNames(server.allowHosts)!]);
}

/** "[::1]:8080" → "::1" */
function hostName(host: string): string {
  return host
    .replace(/:\d{1,5}$/, "")
    .replace(/^\[|\]$/g, "")
    .toLowerCase();
}

function isNobodysSite(name: string): boolean {
  return !name.includes(".") || isIP(name) !== 0 || UNREGISTERED.some((end) => name.endsWith(end));
}

/** Browsers ask nobody where these are (RFC 6761, 6.3). */
function isThisMachine(name: string): boolean {
  return LOOPBACK.test(name) || name.endsWith(".localhost");
}

/** Of the site that a page came from; null where that is none, as for "null", which a page in a frame has. */
function pageName(origin: string): string | null {
  const url = URL.parse(origin);
  return url !== null && url.origin === origin && /^https?:$/.test(url.protocol) ? hostName(url.host) : null;
}

/** A name or an address, and a port. It comes back in URLs that the service gives. */
const HOST = /^(?:[\w.-]{0,255}|\[[\da-f:.]{2,45}\])(?::\d{0,5})?$/i;

/** The last one that was fine: nearly all requests name the same. */
let goodHost: string | undefined;

export function isHost(host: string): boolean {
  if (host === goodHost) return true;
  if (!HOST.test(host)) return false;
  goodHost = host;
  return true;
}

export function checkHost({ headers: { host }, raw }: FastifyRequest): void {
  if (host !== undefined && !isHost(host)) throw new ApiError("badRequest", "The Host header names no host.");
  if (hasSeveralHosts(raw)) throw new ApiError("badRequest", "The Host header must be given once.");
}

export function checkTransferCoding({ raw }: FastifyRequest): void {
  if (hasOtherCoding(raw))
    throw new ApiError("notImplemented", {
      description: "Of the transfer codings only chunked is known.",
      headers: { connection: "close" },
    });
}
