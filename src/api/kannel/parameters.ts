/**
 * The parameters of Kannel's sendsms, wherever they stand: in the query, in a form, or in headers that begin with X-Kannel. They are octets: which
 * characters those are, the request itself says in its charset.
 */
import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import { ApiError } from "../errors.ts";

/** By their names in the query. */
export type Parameters = ReadonlyMap<string, Buffer>;

/** Names that older versions of Kannel had, or that are short for others. */
export const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ["user", "username"],
  ["pass", "password"],
  ["dlrurl", "dlr-url"],
  ["dlrmask", "dlr-mask"],
]);
const HEADER_PREFIX = "x-kannel-";
const MAX_PARAMETERS = 100;
const [PERCENT, PLUS, SPACE, AMPERSAND, EQUALS] = [0x25, 0x2b, 0x20, 0x26, 0x3d];

export const DENIED = "Number(s) has/have been denied by white- and/or black-lists.";

/** What is wrong, in Kannel's own words. */
export function rejected(says: string): ApiError {
  return new ApiError("badRequest", { description: says });
}

/** The parameters of a URL, as it came. Its characters are octets. */
export function queryParameters(url: string): Parameters {
  const mark = url.indexOf("?");
  return formParameters(Buffer.from(mark < 0 ? "" : url.slice(mark + 1), "latin1"));
}

/** Of a name that stands twice, the first counts. */
export function formParameters(form: Buffer): Parameters {
  const parameters = new Map<string, Buffer>();
  let count = 0;
  for (let start = 0; start < form.length; ) {
    const found = form.indexOf(AMPERSAND, start);
    const end = found < 0 ? form.length : found;
    if (++count > MAX_PARAMETERS) throw rejected(`More than ${MAX_PARAMETERS} parameters, rejected`);
    const pair = form.subarray(start, end);
    const equals = pair.indexOf(EQUALS);
    const given = decoded(equals < 0 ? pair : pair.subarray(0, equals)).toString("latin1");
    const name = OTHER_NAMES.get(given) ?? given;
    if (!parameters.has(name)) parameters.set(name, equals < 0 ? Buffer.alloc(0) : decoded(pair.subarray(equals + 1)));
    start = end + 1;
  }
  return parameters;
}

/** A percent sign with no two digits behind it stands for itself. */
function decoded(octets: Buffer): Buffer {
  const plain = Buffer.allocUnsafe(octets.length);
  let length = 0;
  for (let at = 0; at < octets.length; at++) {
    const octet = octets[at]!;
    const value = octet === PERCENT ? hexAt(octets, at + 1) : null;
    if (value !== null) at += 2;
    plain[length++] = value ?? (octet === PLUS ? SPACE : octet);
  }
  return plain.subarray(0, length);
}

/** The octet that two digits stand for. */
function hexAt(octets: Buffer, at: number): number | null {
  const digits = octets.toString("latin1", at, at + 2);
  return /^[\da-f]{2}$/i.test(digits) ? Number.parseInt(digits, 16) : null;
}

export function headerParameters(headers: IncomingHttpHeaders): Parameters {
  const parameters = new Map<string, Buffer>();
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith(HEADER_PREFIX) || typeof value !== "string") continue;
    const given = name.slice(HEADER_PREFIX.length);
    const octets = Buffer.from(value.trim(), "latin1");
    parameters.set(OTHER_NAMES.get(given) ?? given, given === "udh" ? headerUdh(octets) : octets);
  }
  return parameters;
}

/** In a header it is written in hex, or as in a query. */
function headerUdh(octets: Buffer): Buffer {
  const digits = octets.toString("latin1");
  return /^(?:[\da-f]{2})+$/i.test(digits) ? Buffer.from(digits, "hex") : decoded(octets);
}

/** Those of the first that has a name. */
export function joined(...sources: readonly Parameters[]): Parameters {
  return new Map(sources.toReversed().flatMap((source) => [...source]));
}

/** A short text that is none of the message's: UTF-8, or else Latin-1. */
export function textOf(octets: Buffer | undefined): string | null {
  if (octets === undefined || octets.length === 0) return null;
  return octets.toString(isUtf8(octets) ? "utf8" : "latin1");
}
