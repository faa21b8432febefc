/** What every answer says to browsers, and in the sandbox which web pages may ask at all. */
import { isIP } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { hasOtherCoding, hasSeveralHosts } from "../runtime/request-heads.ts";
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

/** Answers are somebody's own: unless it says otherwise, none is kept by a cache. */
export function addHeaders(reply: FastifyReply, headers: Readonly<Record<string, string>>): void {
  reply.headers(headers);
  if (!reply.hasHeader("cache-control")) reply.header("cache-control", "no-store");
}

/**
 * The sandbox has accounts with known passwords and runs where a browser runs. A page of another site could have its name point to this machine and
 * then ask as if it were at home: so a request must name this machine, and a page that asks must have come from here. A name without a dot
 * ("localhost", a container's name) or an address is nobody's site.
 */
export function checkHome({ headers }: FastifyRequest, ownHost: string): void {
  const { host = "", origin } = headers;
  const name = host
    .replace(/:\d{1,5}$/, "")
    .replace(/^\[|\]$/g, "")
    .toLowerCase();
  const isHome = !name.includes(".") || isIP(name) !== 0 || name.endsWith(".localhost") || name === ownHost;
  if (!isHome)
    throw new ApiError("forbidden", {
      description: "The sandbox answers under the name localhost, a name without a dot, or an address.",
    });
  if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`)
    throw new ApiError("forbidden", { description: "The sandbox does not answer the pages of other sites." });
}

/** A name or an address, and a port. It comes back in URLs that the service gives. */
const HOST = /^(?:[\w.-]{0,255}|\[[\da-f:.]{2,45}\])(?::\d{0,5})?$/i;

/** The last one that was fine: nearly all requests name the same. */
let goodHost: string | undefined;

export function checkHost({ headers: { host }, raw }: FastifyRequest): void {
  if (host !== undefined && host !== goodHost) {
    if (!HOST.test(host)) throw new ApiError("badRequest", { description: "The Host header names no host." });
    goodHost = host;
  }
  if (hasSeveralHosts(raw)) throw new ApiError("badRequest", { description: "The Host header must be given once." });
}

export function checkTransferCoding({ raw }: FastifyRequest): void {
  if (hasOtherCoding(raw))
    throw new ApiError("notImplemented", {
      description: "Of the transfer codings only chunked is known.",
      headers: { connection: "close" },
    });
}
