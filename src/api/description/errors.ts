/**
 * Which errors an operation gives, and what each looks like. Most follow from what the operation is: who may call it, whether it takes a body, whether its path
 * names something. The others stand in a table. Their examples are made by the code that answers with them.
 */
import { WRONG_KEY, WRONG_PASSWORD } from "../auth-reasons.ts";
import { errorAnswer } from "../error-forms.ts";
import { ErrorResponse } from "../error-schemas.ts";
import { ApiError, ERROR_KINDS, type ErrorDetails, type ErrorName } from "../errors.ts";
import { HEEDS_KEY } from "../idempotency.ts";
import type { HeaderObject, OperationObject, Reference, ResponseObject, Schema } from "./document.ts";
import type { SharedSchemas } from "./shared-schemas.ts";

/** What an operation gives beside what follows from its shape, by its id or the beginning of it. */
const MORE: readonly (readonly [ids: RegExp, errors: readonly ErrorName[]])[] = [
  [/^oneApiSubscribeTo/, ["conflict"]],
  [/^oneApiRedirectInbound$/, ["notFound"]],
  [/^(getBulk|getBulkStatus)$/, ["bulkNotFound"]],
  [/^(moveBulk|setBulkStatus)$/, ["bulkNotFound", "conflict"]],
  [/^(loginReseller|openSession|consoleSignIn|consoleSignInDemo)$/, ["loginError", "forbidden"]],
  [/^addFunds$/, ["noResellerRights", "accountNotFound"]],
  [/^(makeAccount|changeAccount|retireAccount|moveFunds)$/, ["conflict"]],
  [/^(set|delete)(Carrier|Route|RatePlan|ExchangeRate|Number)$/, ["conflict"]],
  [/^(begin|confirm|remove)SecondFactor$/, ["conflict"]],
  [/^(get|move)SandboxClock$|^writeFromPhone$/, ["conflict"]],
  [/^createAccessToken$/, ["unauthorized", "forbidden"]],
  [/^get(Metrics|Status)$/, ["forbidden"]],
  [/^get(Health|Readiness|Metrics|Status)$/, ["badRequest", "headersTooLarge"]],
];

/** What an example of each says beside its text. */
const SAYS: { readonly [Name in ErrorName]?: ErrorDetails } = {
  badRequest: { variables: ["messages[0].text"], description: "messages[0].text must not be empty." },
  unauthorized: { description: WRONG_KEY },
  loginError: { description: WRONG_PASSWORD },
  noResellerRights: { description: "The account has no reseller rights." },
  forbidden: { description: "The API key is good for track; this needs the scope send." },
  conflict: { description: "The bulk is CANCELED: only one that is PENDING or PAUSED can be changed." },
  unsupportedMediaType: { description: "Content-Type must be application/json." },
  tooManyRequests: { description: "Too many requests from this address are in progress." },
  unavailable: { description: "The service is stopping." },
};

const RETRY_AFTER: HeaderObject = { description: "Seconds to wait before the next try.", schema: { type: "integer" } };
const HEADERS: Readonly<Record<number, Readonly<Record<string, HeaderObject>>>> = {
  401: { "WWW-Authenticate": { description: "How to show who one is.", schema: { type: "string" } } },
  429: { "Retry-After": RETRY_AFTER },
  503: { "Retry-After": RETRY_AFTER },
};

function errorsOf(
  path: string,
  { operationId = "", tags, security = [], parameters = [], requestBody }: OperationObject,
) {
  const isGuarded = security.length > 0;
  const isWatched = tags?.includes("Health") === true;
  const hasQuery = parameters.some((parameter) => "in" in parameter && parameter.in === "query");
  const rules: readonly (readonly [applies: boolean, errors: readonly ErrorName[]])[] = [
    // The sandbox answers no pages of other sites, whatever they ask for.
    [!isWatched, ["badRequest", "forbidden"]],
    [tags?.includes("Console") === true && hasQuery, ["notFound"]],
    [isGuarded, ["unauthorized"]],
    [path.includes("{"), [path.includes("/accounts/{key}") ? "accountNotFound" : "notFound"]],
    [requestBody !== undefined, ["requestTooLarge", "unsupportedMediaType"]],
    [!isWatched, ["tooManyRequests"]],
    [true, ["general", "unavailable"]],
    [HEEDS_KEY.has(operationId), ["conflict"]],
    ...MORE.map(([ids, errors]) => [ids.test(operationId), errors] as const),
  ];
  return new Set(rules.flatMap(([applies, errors]) => (applies ? errors : [])));
}

/** The body of errors wherever an operation says nothing else. */
const CONTRACT = JSON.parse(JSON.stringify(ErrorResponse)) as Schema;

export const capital = (word: string): string => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;

/** Gathers the answers that errors are told in, each once. */
export class ErrorAnswers {
  readonly #shared: SharedSchemas;
  readonly #answers = new Map<string, ResponseObject>();

  constructor(shared: SharedSchemas) {
    this.#shared = shared;
  }

  /** The errors of an operation, by status. They have the body that the operation says for all of them; the contract's where it says none. */
  of(path: string, described: OperationObject): Record<string, Reference> {
    const said = described.responses["4XX"];
    const own = said !== undefined && "content" in said ? Object.values(said.content ?? {})[0]?.schema : undefined;
    const schema = own === undefined ? CONTRACT : { title: `${capital(described.operationId ?? "")}Error`, ...own };
    const byStatus = new Map<number, ErrorName[]>();
    for (const name of errorsOf(path, described)) {
      const { status } = errorAnswer(new ApiError(name), path);
      byStatus.set(status, [...(byStatus.get(status) ?? []), name]);
    }
    const statuses = [...byStatus].sort(([one], [other]) => one - other);
    return Object.fromEntries(
      statuses.map(([status, names]) => [String(status), this.#reference(path, schema, status, names)] as const),
    );
  }

  all(): Record<string, ResponseObject> {
    return Object.fromEntries([...this.#answers].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  #reference(path: string, schema: Schema, status: number, names: readonly ErrorName[]): Reference {
    const form = schema.title === CONTRACT.title ? "" : schema.title;
    const key = `${names.map(capital).join("Or")}${form}`;
    if (!this.#answers.has(key)) this.#answers.set(key, this.#answer(path, schema, status, names));
    return { $ref: `#/components/responses/${key}` };
  }

  #answer(path: string, schema: Schema, status: number, names: readonly ErrorName[]): ResponseObject {
    const headers = HEADERS[status];
    const [contentType = ""] = errorAnswer(new ApiError(names[0]!), path).contentType.split(";");
    const isJson = contentType === "application/json";
    const examples = names.map((name) => {
      const { body } = errorAnswer(new ApiError(name, SAYS[name]), path);
      const value = isJson ? JSON.parse(body) : body;
      return [name, { summary: ERROR_KINDS[name].when, value }] as const;
    });
    return {
      description: examples.map(([, { summary }]) => summary).join(" "),
      ...(headers === undefined ? {} : { headers }),
      content: {
        [contentType]: {
          schema: this.#shared.share(schema),
          ...(examples.length === 1 ? { example: examples[0]![1].value } : { examples: Object.fromEntries(examples) }),
        },
      },
    };
  }
}
