/** Tokens for programs, as OAuth 2 gives them for a name and a password (client credentials): good for an hour, in `Authorization: Bearer`. */
import type { FastifyRequest } from "fastify";
import { BEARER_SECONDS } from "../auth/sessions.ts";
import { Type } from "../runtime/type.ts";
import { SCOPES, type Scope } from "../store/port/accounts.ts";
import { TokenErrorResponse } from "./error-schemas.ts";
import { ApiError, badField } from "./errors.ts";
import { openSession, readCode } from "./login.ts";
import { type Api, operation } from "./operation.ts";
import { bodyFields, queryFields } from "./parameters.ts";
import type { ApiParts } from "./parts.ts";
import { LOGIN_OCTETS } from "./session.ts";
import { OneOf, OptionalText, Text, Whole } from "./shapes.ts";

/** The family's names of scopes, and what they are here. Its word for sending includes the reports of what was sent. */
const FAMILY_SCOPES: Readonly<Record<string, readonly Scope[]>> = {
  "message:send": ["send", "track"],
  "sms:message:send": ["send", "track"],
  "sms:manage": ["send", "track"],
  "sms:logs:read": ["track"],
  "inbound-message:read": ["track"],
  "sms:inbound-message:read": ["track"],
  "2fa:manage": ["pins"],
  "2fa:pin:send": ["pins"],
};
const MAX_SCOPES = 20;

const TokenRequest = Type.Object(
  {
    client_id: Text("The username."),
    client_secret: Text("The password."),
    grant_type: OneOf(["client_credentials"]),
    scope: OptionalText("What the token is for, separated by spaces; everything unless given."),
  },
  { description: "As a form; or in the query." },
);

const TokenResponse = Type.Object({
  access_token: Text("For Authorization: Bearer …"),
  expires_in: Whole("Seconds."),
  token_type: Type.String(),
});

/** A parameter in the body or, as one client has it, in the query. */
function parameter(request: FastifyRequest, name: string): string | null {
  for (const fields of [bodyFields(request), queryFields(request)]) {
    const value = fields[name];
    if (Array.isArray(value)) throw badField(name, "must be given once");
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}

function required(request: FastifyRequest, name: string): string {
  const value = parameter(request, name);
  if (value === null) throw badField(name, "is required");
  return value;
}

/** Null for everything. */
function readScopes(text: string | null): Scope[] | null {
  if (text === null) return null;
  const names = text.split(" ").filter((name) => name !== "");
  if (names.length > MAX_SCOPES) throw badField("scope", `must have at most ${MAX_SCOPES} items`);
  const scopes = names.flatMap((name) => {
    const own = SCOPES.find((scope) => scope === name);
    const known = own === undefined ? (Object.hasOwn(FAMILY_SCOPES, name) ? FAMILY_SCOPES[name] : undefined) : [own];
    if (known === undefined)
      throw badField("scope", `must be of ${[...SCOPES, ...Object.keys(FAMILY_SCOPES)].join(", ")} (invalid_scope)`);
    return known;
  });
  return [...new Set(scopes)];
}

export function tokenOperations(api: Api, parts: ApiParts): void {
  api.post(
    "/auth/1/oauth2/token",
    operation({
      id: "createAccessToken",
      tag: "Account",
      summary: "Get a token for a program, good for an hour",
      auth: "none",
      form: "lists",
      bodyOctets: LOGIN_OCTETS,
      takes: TokenRequest,
      answer: TokenResponse,
      errors: TokenErrorResponse,
    }),
    async (request, reply) => {
      const grant = required(request, "grant_type");
      if (grant !== "client_credentials") throw badField("grant_type", "must be client_credentials");
      const login = {
        username: required(request, "client_id"),
        password: required(request, "client_secret"),
        code: readCode(request),
      };
      const scopes = readScopes(parameter(request, "scope"));
      const { token } = await openSession(parts, login, request.ip, scopes).catch(asUnauthorized);
      // RFC 6749, 5.1.
      reply.header("cache-control", "no-store");
      return { access_token: token, expires_in: BEARER_SECONDS, token_type: "Bearer" };
    },
  );
}

/** The family's word for a wrong login is another one here. */
function asUnauthorized(error: unknown): never {
  if (!(error instanceof ApiError) || error.kindName !== "loginError") throw error;
  throw new ApiError("unauthorized", error.details);
}
