/** The URLs that a user gives us to call (notifyUrl, forwardUrl, an alert's): one check, with one bound and one set of words. */

export const MAX_URL_LENGTH = 2_048;

/** What is wrong with such a URL, as the rest of a sentence about it. Null if it can be called. */
export function urlProblem(text: string): string | null {
  if (text.length > MAX_URL_LENGTH) return `is longer than ${MAX_URL_LENGTH} characters`;
  return parseHttpUrl(text) === null ? "is not an absolute http or https URL" : null;
}

/** Null when it is no URL, not an absolute one, or neither http nor https. A URL parser alone takes "http:host" and a blank in front. */
export function parseHttpUrl(text: string): URL | null {
  return /^https?:\/\//i.test(text) ? URL.parse(text) : null;
}
