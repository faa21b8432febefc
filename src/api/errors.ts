/**
 * The errors of the API, in one catalogue: each with its HTTP status, its code and text, when it is answered and what to do about it; and the one object that
 * an error is told in. The log calls it by its name here.
 */

interface ErrorKind {
  readonly status: number;
  /** The code of the contract: several kinds share one where it says so. */
  readonly messageId: string;
  readonly text: string;
  /** When it is answered, for the docs and the console. */
  readonly when: string;
  /** What whoever sent the request can do. */
  readonly remedy: string;
  /** Told in its text alone, to a person with a phone in the hand or in a provider's log; all others in the form of the path's family (error-forms.ts). */
  readonly isPlain?: true;
}

/** docs/api.md has a row of each, which a test holds to what stands here. */
export const ERROR_KINDS = {
  badRequest: {
    status: 400,
    messageId: "BAD_REQUEST",
    text: "Bad request",
    when: "It is not JSON (the line and the column are named), a type is wrong, a field is missing or a value is out of its limits: nothing of it was done, and nothing was charged.",
    remedy:
      "Mend what the reason names and send the request again. The page at /docs has the fields of every operation.",
  },
  unauthorized: {
    status: 401,
    messageId: "UNAUTHORIZED",
    text: "Unauthorized",
    when: "There are no credentials, or wrong ones, or a password comes without the second factor that it needs.",
    remedy:
      "Check the Authorization header: Basic with username and password, App with an API key, or IBSSO with a session token. A key may have been revoked or have ended; Settings lists them.",
  },
  loginError: {
    status: 401,
    messageId: "LOGIN_ERROR",
    text: "Login error",
    when: "The username or the password is wrong, or the login needs a code.",
    remedy: "Check the username and the password. With a second factor the login needs its code too.",
  },
  noResellerRights: {
    status: 403,
    messageId: "UNAUTHORIZED",
    text: "Unauthorized",
    when: "The account has no reseller rights.",
    remedy: "Log in with the account of a reseller: this operation is for resellers.",
  },
  forbidden: {
    status: 403,
    messageId: "FORBIDDEN",
    text: "Forbidden",
    when: "The caller is known, and may not do this: the account is suspended or of another kind, the address is not allowed, the API key lacks the scope or would make something mightier than itself, the password was set by the reseller, or a second factor is required or its code is wrong.",
    remedy: "Read in the reason what is missing: a scope of the key, a network, another kind of account.",
  },
  notFound: {
    status: 404,
    messageId: "NOT_FOUND",
    text: "Not found",
    when: "There is nothing at this path, or what it names is not the caller's. What there is near it is named.",
    remedy: "Check the path and the ids in it. What belongs to another account is not found either.",
  },
  accountNotFound: {
    status: 404,
    messageId: "NOT_FOUND",
    text: "Account not found",
    when: "There is no such account, or it is not the caller's.",
    remedy: "Check the account's key: it must be an account that you manage.",
  },
  bulkNotFound: {
    status: 404,
    messageId: "NOT_FOUND",
    text: "Bulk not found",
    when: "There is no such bulk in the account.",
    remedy: "Check the bulkId: it must be a scheduled bulk of this account.",
  },
  methodNotAllowed: {
    status: 405,
    messageId: "METHOD_NOT_ALLOWED",
    text: "Method not allowed",
    when: "The path does not take this method. Allow says which it takes, and so does the reason.",
    remedy: "Use another method: the header Allow of the answer names those that the path has.",
  },
  notAcceptable: {
    status: 406,
    messageId: "NOT_ACCEPTABLE",
    text: "Not acceptable",
    when: "Accept excludes JSON.",
    remedy: "Send Accept: application/json, or no Accept header at all.",
  },
  requestTimeout: {
    status: 408,
    messageId: "REQUEST_TIMEOUT",
    text: "Request timeout",
    when: "The request did not arrive in time.",
    remedy: "Send it whole and faster, and look at the network between.",
  },
  conflict: {
    status: 409,
    messageId: "CONFLICT",
    text: "Conflict",
    when: "It cannot be done to what is there now, somebody has changed that since the version that was seen, or the Idempotency-Key was used for another request.",
    remedy: "Look at what is there now, and decide anew.",
  },
  requestTooLarge: {
    status: 413,
    messageId: "REQUEST_TOO_LARGE",
    text: "Request too large",
    when: "The body is larger than this operation takes.",
    remedy: "Send less in one request: split the messages over several.",
  },
  unsupportedMediaType: {
    status: 415,
    messageId: "UNSUPPORTED_MEDIA_TYPE",
    text: "Unsupported media type",
    when: "The body has another Content-Type than those of this operation.",
    remedy: "Send JSON, with Content-Type: application/json.",
  },
  tooManyRequests: {
    status: 429,
    messageId: "TOO_MANY_REQUESTS",
    text: "Too many requests",
    when: "The account or the address asks too often or has too much in progress, there were too many wrong logins, or too many passwords are being checked.",
    remedy:
      "Wait as long as the header Retry-After says, then go on more slowly, or put more messages into one request.",
  },
  headersTooLarge: {
    status: 431,
    messageId: "REQUEST_TOO_LARGE",
    text: "Request too large",
    when: "The headers are larger than 16 KiB.",
    remedy: "Send smaller headers.",
  },
  general: {
    status: 500,
    messageId: "GENERAL_ERROR",
    text: "Something went wrong",
    when: "Something went wrong inside the service: a bug.",
    remedy:
      "This is a fault of the service and not of the request. Send it again later; if it goes on, tell the operator.",
  },
  notImplemented: {
    status: 501,
    messageId: "NOT_IMPLEMENTED",
    text: "Not implemented",
    when: "Transfer-Encoding names another coding than chunked.",
    remedy: "Send the body as it is, or in chunks: Transfer-Encoding may name nothing but chunked.",
  },
  unavailable: {
    status: 503,
    messageId: "SERVICE_UNAVAILABLE",
    text: "Service unavailable",
    when: "The service starts, stops, is overloaded, or cannot reach its store. The same request may work later.",
    remedy:
      "Send the same request again after Retry-After. With an Idempotency-Key it is safe to do so: nothing is sent twice.",
  },
  linkUnknown: {
    status: 404,
    messageId: "NOT_FOUND",
    text: "This link leads nowhere. It may have expired, or a part of it is missing.",
    when: "The code of a short link is nobody's, or is older than its link.",
    remedy: "Open the link as it stands in the message, all of it.",
    isPlain: true,
  },
  linkAway: {
    status: 503,
    messageId: "SERVICE_UNAVAILABLE",
    text: "This link cannot be opened just now. Please try again in a minute.",
    when: "The store does not say where a short link leads.",
    remedy: "Open the link again in a minute.",
    isPlain: true,
  },
  callbackUnknown: {
    status: 404,
    messageId: "NOT_FOUND",
    text: "There is nothing here.",
    when: "The address of a carrier's callback names no such carrier, or has a wrong token or ending.",
    remedy: "Give the provider the addresses that heliograph carrier show prints.",
    isPlain: true,
  },
  callbackForeign: {
    status: 403,
    messageId: "FORBIDDEN",
    text: "Not from there.",
    when: "A carrier's callback comes from outside its callbackNetworks.",
    remedy: "Add the network to the carrier's callbackNetworks, if it is the provider's.",
    isPlain: true,
  },
  callbackUnsigned: {
    status: 403,
    messageId: "FORBIDDEN",
    text: "The signature is wrong.",
    when: "A carrier's callback is not signed as its provider signs.",
    remedy: "Compare the carrier's callbackSecret with that of the provider.",
    isPlain: true,
  },
  callbackNotKept: {
    status: 503,
    messageId: "SERVICE_UNAVAILABLE",
    text: "Please come again.",
    when: "What a carrier's callback says could not be kept.",
    remedy: "The provider has to call again, as it does by itself after a 503.",
    isPlain: true,
  },
} satisfies Record<string, ErrorKind>;

export type ErrorName = keyof typeof ERROR_KINDS;

/** The header of an error that is over soon. */
export const RETRY_SOON = { "retry-after": "1" };

export interface Violation {
  readonly field: string;
  /** What is wrong with it; a sentence whose subject is the field. */
  readonly says: string;
}

export interface ErrorDetails {
  /** The offending fields. */
  readonly variables?: readonly string[];
  /** What is wrong, in one sentence. */
  readonly description?: string;
  /** The same of each field, where it can be told apart. */
  readonly violations?: readonly Violation[];
  readonly headers?: Readonly<Record<string, string>>;
  /** What is there now, for whoever wanted to change an older version of it. */
  readonly current?: unknown;
}

/** Characters of one field's name, characters of the sentence, and fields that an error tells. */
const MAX_NAME = 200;
const MAX_DESCRIPTION = 1_000;
const MAX_VARIABLES = 20;
/** What could move the cursor, turn the direction of writing or end a line where an error is shown. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Callers choose the names of fields, and get nothing back but their beginning: not megabytes, and nothing that cannot be seen. */
function clip(text: string, length: number): string {
  const beginning = text.length > length ? `${text.slice(0, length)}…` : text;
  return beginning.toWellFormed().replace(INVISIBLE, "\ufffd");
}

export class ApiError extends Error {
  readonly kindName: ErrorName;
  readonly kind: ErrorKind;
  readonly details: ErrorDetails;
  /** Where the framework looks for the status; it also writes it, so it cannot be a getter. */
  statusCode: number;

  /** A text is what is wrong, in one sentence. */
  constructor(name: ErrorName, given: ErrorDetails | string = {}) {
    const details: ErrorDetails = typeof given === "string" ? { description: given } : given;
    super(details.description ?? ERROR_KINDS[name].text);
    this.kindName = name;
    this.kind = ERROR_KINDS[name];
    this.details = details;
    this.statusCode = this.kind.status;
  }

  body() {
    const { variables, description, current } = this.details;
    return {
      requestError: {
        clientCorrelator: null,
        serviceException: {
          messageId: this.kind.messageId,
          text: this.kind.text,
          variables: variables?.slice(0, MAX_VARIABLES).map((name) => clip(name, MAX_NAME)) ?? null,
          additionalDescription: description === undefined ? null : clip(description, MAX_DESCRIPTION),
        },
        variables: null,
      },
      ...(current === undefined ? {} : { current }),
    };
  }
}

/** One field is wrong; the sentence begins with its name. */
export function badField(field: string, says: string): ApiError {
  return badFields([{ field, says }]);
}

/** Fields are wrong, and the sentence names each. */
export function badFields(violations: readonly Violation[]): ApiError {
  const shown = violations.slice(0, MAX_VARIABLES);
  const sentence = shown.map(({ field, says }) => `${clip(field, MAX_NAME)} ${says}`).join("; ");
  return new ApiError("badRequest", {
    variables: shown.map(({ field }) => field),
    description: sentence.endsWith("?") ? sentence : `${sentence}.`,
    violations: shown,
  });
}

/** What is wrong in one sentence, as callers may see it. */
export function shownDescription({ details: { description } }: ApiError): string | null {
  return description === undefined ? null : clip(description, MAX_DESCRIPTION);
}

/** What is wrong with each field, as callers may see it. */
export function shownViolations({ details, kind }: ApiError): Violation[] {
  const { variables = [], description } = details;
  const violations = details.violations ?? variables.map((field) => ({ field, says: description ?? kind.text }));
  return violations
    .slice(0, MAX_VARIABLES)
    .map(({ field, says }) => ({ field: clip(field, MAX_NAME), says: clip(says, MAX_DESCRIPTION) }));
}

export function noRoomForAnswer(): ApiError {
  return unavailable("Too many large answers wait to be taken.");
}

/** Somebody has to wait so long. */
export function tooMany(description: string, waitMs = 1_000): ApiError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  return new ApiError("tooManyRequests", { description, headers: { "retry-after": String(seconds) } });
}

/** Not now: it may be asked for again soon. */
export function unavailable(description: string): ApiError {
  return new ApiError("unavailable", { description, headers: RETRY_SOON });
}
