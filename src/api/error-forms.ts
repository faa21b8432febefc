/**
 * How an error is told, by the family of the path that was asked for. Clients of version 3 and of the PIN operations read their own form, and nothing
 * but its own fields: Java's drops the whole body for one that it does not know.
 */
import { type ApiError, shownDescription, shownViolations, type Violation } from "./errors.ts";
import { errorInKannelsWords, PLAIN_TEXT, SENDSMS_PATH } from "./kannel/answers.ts";
import { pathOf } from "./paths.ts";

interface ErrorAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}
type Form = (error: ApiError) => ErrorAnswer;

const JSON_TYPE = "application/json; charset=utf-8";

/** A form whose body is this object. */
function json(bodyOf: (error: ApiError) => object): Form {
  return (error) => ({
    status: error.kind.status,
    contentType: JSON_TYPE,
    body: JSON.stringify(bodyOf(error)),
  });
}

/** In its text alone. */
function plain({ kind: { status, text } }: ApiError): ErrorAnswer {
  return { status, contentType: PLAIN_TEXT, body: `${text}\n` };
}

const contracts = json((error) => error.body());

/** Where Kannel's door is closed there is nothing of Kannel's. */
function kannels(error: ApiError): ErrorAnswer {
  if (error.kindName === "notFound") return contracts(error);
  const { status, text } = errorInKannelsWords(error);
  return { status, contentType: PLAIN_TEXT, body: text };
}

/** All five fields, always. */
function apiError(error: ApiError): object {
  const { status, text, remedy } = error.kind;
  return {
    errorCode: `E${status}`,
    description: shownDescription(error) ?? `${text}.`,
    action: remedy,
    violations: shownViolations(error).map(({ field, says }) => ({ property: field, violation: says })),
    resources: [],
  };
}

/** The older body with its documented fields only. */
function apiException(error: ApiError): object {
  const { messageId, text } = error.kind;
  const violations = shownViolations(error);
  return {
    requestError: {
      serviceException: {
        messageId,
        text: violations.length > 0 ? text : (shownDescription(error) ?? text),
        ...(violations.length === 0 ? {} : { validationErrors: byField(violations) }),
      },
    },
  };
}

/** OAuth's words for what is wrong with a caller. */
const TOKEN_WORDS: Readonly<Record<number, string>> = { 401: "invalid_client", 403: "access_denied" };
const isWordless = (status: number): boolean => status === 400 || status === 429 || status >= 500;

/** Beside the older body an error has a word of OAuth, except where the request was wrong, came too often, or is not to blame. */
function tokenError(error: ApiError): object {
  const { status } = error.kind;
  return { ...apiException(error), ...(isWordless(status) ? {} : { error: TOKEN_WORDS[status] ?? "invalid_request" }) };
}

/** A list for each field, whatever the caller has called it. */
function byField(violations: readonly Violation[]): Record<string, string[]> {
  const lists = new Map<string, string[]>();
  for (const { field, says } of violations) lists.set(field, [...(lists.get(field) ?? []), says]);
  return Object.fromEntries(lists);
}

/** By the beginning of the path; all others have the contract's object. */
const FORMS: readonly (readonly [path: string, form: Form])[] = [
  ["/sms/3/", json(apiError)],
  ["/2fa/", json(apiException)],
  ["/ct/", json(apiException)],
  ["/auth/1/oauth2/", json(tokenError)],
  [SENDSMS_PATH, kannels],
];

/** By the target as it was asked for. Of paths that are not there, too, and of those that cannot be decoded. */
export function errorAnswer(error: ApiError, target: string): ErrorAnswer {
  if (error.kind.isPlain) return plain(error);
  const path = `${plainPath(target)}/`;
  const form = FORMS.find(([beginning]) => path.startsWith(beginning))?.[1] ?? contracts;
  return form(error);
}

/** No family has more than this in the beginning of its paths, escaped. */
const MAX_BEGINNING = 100;

function plainPath(target: string): string {
  const path = pathOf(target).slice(0, MAX_BEGINNING).split(/[?#]/, 1)[0]!;
  return path.replace(/%([2-7][\da-f])/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}
