/** What each error of the API means for whoever sent the request: why, where its answer does not say so, and what to do. */
import type { ErrorName } from "../errors.ts";

export const ADVICE: Readonly<Record<ErrorName, string>> = {
  badRequest:
    "Mend what the reason names and send the request again. The page at /docs has the fields of every operation.",
  unauthorized:
    "Check the Authorization header: Basic with username and password, App with an API key, or IBSSO with a session token. A key may have been revoked or have ended; Settings lists them.",
  loginError: "Check the username and the password. With a second factor the login needs its code too.",
  noResellerRights: "Log in with the account of a reseller: this operation is for resellers.",
  forbidden:
    "The caller is known, and may not do this. The reason says what is missing: a scope of the key, a network, another kind of account.",
  notFound: "Check the path and the ids in it. What belongs to another account is not found either.",
  accountNotFound: "Check the account's key: it must be an account that you manage.",
  bulkNotFound: "Check the bulkId: it must be a scheduled bulk of this account.",
  methodNotAllowed: "Use another method: the header Allow of the answer names those that the path has.",
  notAcceptable: "Send Accept: application/json, or no Accept header at all.",
  requestTimeout: "The request came too slowly: send it whole, and look at the network between.",
  conflict:
    "It has changed meanwhile, or the Idempotency-Key was used for another request. Look at what is there now, and decide anew.",
  requestTooLarge: "Send less in one request: split the messages over several.",
  unsupportedMediaType: "Send JSON, with Content-Type: application/json.",
  tooManyRequests:
    "Wait as long as the header Retry-After says, then go on more slowly, or put more messages into one request.",
  headersTooLarge: "Send smaller headers: 16 kB is the most.",
  general:
    "This is a fault of the service and not of the request. Send it again later; if it goes on, tell the operator.",
  notImplemented: "Send the body as it is, or in chunks: Transfer-Encoding may name nothing but chunked.",
  unavailable:
    "Send the same request again after Retry-After. With an Idempotency-Key it is safe to do so: nothing is sent twice.",
};

/** Why, for errors whose answers say no more than their name. */
export const REASONS: Partial<Readonly<Record<ErrorName, string>>> = {
  notFound: "There is nothing at this path.",
  methodNotAllowed: "The path does not take this method.",
};
