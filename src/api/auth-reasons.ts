/**
 * Why a caller is not let in, in a sentence for whoever has to mend it. A stranger learns nothing of it about accounts: an unknown user and a wrong
 * password are the same sentence, and so are a key or a token that never was and one that was taken away. Nothing of what the caller sent comes back.
 */
import { ApiError } from "./errors.ts";

export const WRONG_PASSWORD = "The username or the password is wrong.";
export const WRONG_KEY =
  "The API key is not known here: it is not complete, or was revoked. (A token stands behind IBSSO or Bearer.)";
export const EXPIRED_KEY = "The API key has expired: make another one.";
export const WRONG_TOKEN =
  "The token is not known here, or has ended: log in again. (An API key stands behind App: Authorization: App <key>.)";
export const NO_LOGIN =
  "Username and password are missing: give both in the body, in headers, in the query, or as Basic.";
export const NOT_ENOUGH =
  "The user has a second factor, so the password alone is not enough: log in with a code for a session, or use an API key.";

const ANY = "Basic, App, IBSSO or Bearer";
const NOTHING = `The Authorization header is missing: it is ${ANY}, a space, and the credentials.`;
const UNKNOWN_SCHEME = `The Authorization header cannot be read: it must be ${ANY}, a space, and the credentials.`;
const UNREADABLE_BASIC = "The Authorization header cannot be read: behind Basic stands username:password in base64.";
/** Of a caller that brings no token where nothing else counts. */
export const TOKEN_ONLY =
  "This takes the token of a session only: log in, and send Authorization: IBSSO and the token.";

/** Of a header in which nobody is named in a way that is known. */
export function unreadable(header: string | undefined): ApiError {
  if (header === undefined || header.trim() === "") return unauthorized(NOTHING);
  return unauthorized(/^ *basic(?: |$)/i.test(header) ? UNREADABLE_BASIC : UNKNOWN_SCHEME);
}

export function unauthorized(description: string): ApiError {
  return new ApiError("unauthorized", { description });
}

export function suspended(): ApiError {
  return new ApiError("forbidden", "The account is suspended.");
}
