/** The errors of the API: each code with its HTTP status and text, and the one object that every error is told in. */

interface ErrorKind {
  readonly status: number;
  readonly messageId: string;
  readonly text: string;
}

const ERROR_KINDS = {
  badRequest: { status: 400, messageId: "BAD_REQUEST", text: "Bad request" },
  unauthorized: { status: 401, messageId: "UNAUTHORIZED", text: "Unauthorized" },
  loginError: { status: 401, messageId: "LOGIN_ERROR", text: "Login error" },
  noResellerRights: { status: 403, messageId: "UNAUTHORIZED", text: "Unauthorized" },
  forbidden: { status: 403, messageId: "FORBIDDEN", text: "Forbidden" },
  notFound: { status: 404, messageId: "NOT_FOUND", text: "Not found" },
  accountNotFound: { status: 404, messageId: "NOT_FOUND", text: "Account not found" },
  bulkNotFound: { status: 404, messageId: "NOT_FOUND", text: "Bulk not found" },
  methodNotAllowed: { status: 405, messageId: "METHOD_NOT_ALLOWED", text: "Method not allowed" },
  notAcceptable: { status: 406, messageId: "NOT_ACCEPTABLE", text: "Not acceptable" },
  requestTimeout: { status: 408, messageId: "REQUEST_TIMEOUT", text: "Request timeout" },
  conflict: { status: 409, messageId: "CONFLICT", text: "Conflict" },
  requestTooLarge: { status: 413, messageId: "REQUEST_TOO_LARGE", text: "Request too large" },
  unsupportedMediaType: { status: 415, messageId: "UNSUPPORTED_MEDIA_TYPE", text: "Unsupported media type" },
  tooManyRequests: { status: 429, messageId: "TOO_MANY_REQUESTS", text: "Too many requests" },
  headersTooLarge: { status: 431, messageId: "REQUEST_TOO_LARGE", text: "Request too large" },
  general: { status: 500, messageId: "GENERAL_ERROR", text: "Something went wrong" },
  notImplemented: { status: 501, messageId: "NOT_IMPLEMENTED", text: "Not implemented" },
  unavailable: { status: 503, messageId: "SERVICE_UNAVAILABLE", text: "Service unavailable" },
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
