/** The URLs that a user gives us to call (notifyUrl, forwardUrl, an alert's): one check, with one bound and one set of words. */
import { boundedCache } from "./cache.ts";

export const MAX_URL_LENGTH = 2_048;

/** URLs that were looked at: a client has a few of them, and gives one with every message. */
const MAX_KNOWN = 1_000;
const callable = boundedCache<string, true>(MAX_KNOWN);

/** What is wrong with such a URL, as the rest of a sentence about it. Null if it can be called. */
export function urlProblem(text: string): string | null {
  if (text.length > MAX_URL_LENGTH) return `is longer than ${MAX_URL_LENGTH} characters`;
  if (callable.has(text)) return null;
  // To make an object of it would take ten times as long as to look whether one could be made.
  if (!HTTP.test(text) || !URL.canParse(text)) return "is not an absolute http or https URL";
  callable.set(text, true);
  return null;
}

/** A URL parser alone takes "http:host" and a blank in front. */
const HTTP = /^https?:\/\//i;

/** Null when it is no URL, not an absolute one, or neither http nor https. */
export function parseHttpUrl(text: string): URL | null {
  return HTTP.test(text) ? URL.parse(text) : null;
}

/** What `hostOf` says of a text that is no such URL. */
export const NO_HOST = "-";

/** Scheme, name and port of a URL, as connections are made to it. */
export function hostOf(url: string): string {
  return parseHttpUrl(url)?.origin ?? NO_HOST;
}
