/** What every operation of the API is made with: who may call it, what it takes, what it answers; and who is calling. */
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from "fastify";
import type { TSchema } from "../runtime/type.ts";
import type { Account, Scope } from "../store/port/accounts.ts";
import type { Auth } from "./auth.ts";
import type { RequestProgress } from "./client-connection.ts";
import { ErrorResponse } from "./error-schemas.ts";
import type { ApiError } from "./errors.ts";
import { Done } from "./schemas.ts";

export type Api = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** What the body of an operation may have at most, unless it says otherwise. */
export const SMALL_BODY = 65_536;
type BodyOctets = number | "large";

declare module "fastify" {
  interface FastifyContextConfig {
    auth?: Auth;
    /** What an API key must be good for; null where there is nothing to ask for. */
    scope?: Scope | null;
    /** Takes a form body too; "lists" where a name may stand in it more than once. */
    form?: boolean | "lists";
    /** Speaks JSON, and so refuses a caller that wants anything else. */
    json?: boolean;
    /** Reads its body itself, whatever that is: it gets the octets. */
    octets?: boolean;
    /** Gives CSV to whoever asks for that format in the query. */
    csv?: boolean;
    /** The largest body that it takes, in octets; "large" is what the settings allow. */
    bodyOctets?: BodyOctets;
    /** Other spellings that it takes of its own fields. */
    alsoTakes?: readonly string[];
    /** Sends, and can be reached on the short way (short-way.ts). */
    isShort?: boolean;
    /** For whoever watches the service: answered however busy it is. */
    always?: boolean;
    /** Whether a request without credentials has another secret of ours in its address: then it is no stranger's. */
    isKnown?: (request: FastifyRequest) => boolean;
  }
  interface FastifyRequest {
    account: Account | null;
    rawBody: Buffer | null;
    progress: RequestProgress | null;
    /** Called when its answer is made, where somebody waits for that (large-requests.ts). */
    workDone: (() => void) | null;
    /** The error that it is answered with. */
    refusal: ApiError | null;
    /** What became of its messages, where some were rejected though the request was not. */
    rejections: Rejections | null;
    /** What is odd about it though it was done, a sentence each. */
    odd: readonly string[] | null;
  }
}

export interface Rejections {
  readonly rejected: number;
  /** How many messages it had. */
  readonly messages: number;
  /** What is wrong with the first number or sender that was rejected, where that is why. */
  readonly why: string | null;
  /** Of the first that was rejected. */
  readonly statusId: number;
}

export interface OperationOptions<Schema> {
  /** The operationId, by which generated clients call it. No two have the same. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly auth: Auth;
  /** What an API key must be good for; null where any will do. Whatever takes API keys says so. */
  readonly scope?: Scope | null;
  readonly form?: boolean | "lists";
  readonly csv?: boolean;
  /** Other spellings that it takes of its own fields. */
  readonly alsoTakes?: readonly string[];
  /** The largest body; 64 KiB unless given. */
  readonly bodyOctets?: BodyOctets;
  /** The parameters of an operation that reads them itself, wherever they stand: for the page at /docs, not checked. */
  readonly takes?: TSchema;
  /** The same of the query: a query has nothing but texts, so the schema cannot check it. */
  readonly query?: TSchema;
  readonly schema?: Schema;
  /** Without one it is 204. */
  readonly answer?: TSchema;
  /** It makes something: the answer has the status 201. */
  readonly makes?: boolean;
  /** A HEAD would do it, or read all of it, and show it to nobody. */
  readonly withoutHead?: boolean;
  /** The body of its errors (error-forms.ts), unless it is the contract's. */
  readonly errors?: TSchema;
}

const SECURITY: Readonly<Record<Auth, Record<string, string[]>[]>> = {
  none: [],
  account: [{ basic: [] }, { apiKey: [] }, { session: [] }],
  query: [{ basic: [] }, { apiKey: [] }, { session: [] }],
  kannel: [{ basic: [] }, { apiKey: [] }, { session: [] }],
  session: [{ session: [] }],
  login: [{ basic: [] }, { session: [] }],
  user: [{ basic: [] }, { session: [] }],
  reseller: [{ session: [] }],
  operator: [{ basic: [] }, { apiKey: [] }, { session: [] }],
  manager: [{ basic: [] }, { apiKey: [] }, { session: [] }],
  known: [{ basic: [] }, { apiKey: [] }, { session: [] }],
};

/** Whom most operations are for: any account, and of its API keys those that are good for this. */
export const SENDING = { auth: "account", scope: "send" } as const;
export const TRACKING = { auth: "account", scope: "track" } as const;

/** Before an operation whose good answers have another status than 200. */
function answersWith(status: number) {
  return (_: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    reply.code(status);
    done();
  };
}

/** The options of a route, for the router, the validator and the page at /docs alike. */
export function operation<const Schema extends { body?: TSchema; querystring?: TSchema }>(
  options: OperationOptions<Schema>,
) {
  const { id, tag, summary, auth, scope, form = false, csv = false, takes, query, schema, answer } = options;
  const { errors = ErrorResponse, makes = false, alsoTakes = [], withoutHead = false } = options;
  const { bodyOctets = SMALL_BODY } = options;
  const status = answer === undefined ? 204 : makes ? 201 : 200;
  if (scope === undefined && SECURITY[auth].some((choice) => "apiKey" in choice)) throw new Error(`${id}: no scope`);
  const good: { 200?: TSchema; 201?: TSchema; 204?: TSchema } = { [status]: answer ?? Done };
  return {
    ...(status === 200 ? {} : { preHandler: answersWith(status) }),
    ...(withoutHead ? { exposeHeadRoute: false } : {}),
    config: { auth, scope: scope ?? null, form, csv, bodyOctets, json: true, alsoTakes },
    ...(takes === undefined && query === undefined ? {} : { validatorCompiler: () => () => true }),
    schema: {
      ...(schema as Schema),
      ...(takes === undefined
        ? {}
        : { body: takes, consumes: ["application/json", "application/x-www-form-urlencoded"] }),
      ...(query === undefined ? {} : { querystring: query }),
      operationId: id,
      tags: [tag],
      summary,
      security: SECURITY[auth],
      // Which errors it gives is worked out for its description (description/errors.ts).
      response: { ...good, "4xx": errors },
    },
  };
}

/** The account that the authentication of this request found. */
export function accountOf(request: FastifyRequest): Account {
  if (request.account === null) throw new Error(`${request.routeOptions.url} has no authentication`);
  return request.account;
}
