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
  unavailable: { status: 503, messageId: "SERVICE_UNAVAILABLE", text: "Service unavailable" },
} satisfies Record<string, ErrorKind>;

export type ErrorName = keyof typeof ERROR_KINDS;

/** The header of an error that is over soon. */
export const RETRY_SOON = { "retry-after": "1" };

export interface ErrorDetails {
  /** The offending fields. */
  readonly variables?: readonly string[];
  /** What is wrong, in one sentence. */
  readonly description?: string;
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
  readonly kind: ErrorKind;
  readonly details: ErrorDetails;
  /** Where the framework looks for the status; it also writes it, so it cannot be a getter. */
  statusCode: number;

  constructor(name: ErrorName, details: ErrorDetails = {}) {
    super(details.description ?? ERROR_KINDS[name].text);
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
  return new ApiError("badRequest", { variables: [field], description: `${clip(field, MAX_NAME)} ${says}.` });
}
