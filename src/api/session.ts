/** Logging in and out. There are two spellings of the same: the older one is the reseller's, the newer one anybody's. */
import type { FastifyRequest } from "fastify";
import { type NamedPassword, readBasic, readToken } from "./auth.ts";
import { NO_LOGIN } from "./auth-reasons.ts";
import { loginError, openSession, readCode } from "./login.ts";
import { type Api, operation } from "./operation.ts";
import { bodyFields, headerText, queryFields } from "./parameters.ts";
import type { ApiParts } from "./parts.ts";
import * as schemas from "./schemas.ts";

/** Anybody may send one, so it is no larger than it has to be. */
export const LOGIN_OCTETS = 4_096;

/** Username and password stand in the body, in headers of their names, in the query, or in a Basic header: the first that has both. */
function readLogin(request: FastifyRequest): NamedPassword | null {
  const headers = { username: headerText(request.headers.username), password: headerText(request.headers.password) };
  for (const { username, password } of [bodyFields(request), headers, queryFields(request)]) {
    if (typeof username === "string" && typeof password === "string") return { username, password };
  }
  return readBasic(request.headers.authorization);
}

export function sessionOperations(api: Api, parts: ApiParts): void {
  const { sessions } = parts;
  const open = async (request: FastifyRequest): Promise<string> => {
    const pair = readLogin(request);
    if (pair === null) throw loginError(NO_LOGIN);
    return (await openSession(parts, { ...pair, code: readCode(request) }, request.ip)).token;
  };
  const end = (request: FastifyRequest) => sessions.end(readToken(request.headers.authorization)!);
  const login = { auth: "none", form: true, bodyOctets: LOGIN_OCTETS, takes: schemas.LoginRequest } as const;
  const logout = { auth: "session", form: true, bodyOctets: LOGIN_OCTETS } as const;

  api.post(
    "/1/customerProfile/login",
    operation({
      id: "loginReseller",
      tag: "Reseller",
      summary: "Log in for a session token",
      ...login,
      answer: schemas.LoginResponse,
    }),
    async (request) => ({ login: { verified: true, ibAuthCookie: await open(request) } }),
  );
  api.post(
    "/1/customerProfile/logout",
    operation({ id: "logoutReseller", tag: "Reseller", summary: "End the session", ...logout }),
    end,
  );

  api.post(
    "/auth/1/session",
    operation({
      id: "openSession",
      tag: "Account",
      summary: "Log in for a session token",
      ...login,
      answer: schemas.SessionResponse,
    }),
    async (request) => ({ token: await open(request) }),
  );
  api.delete(
    "/auth/1/session",
    operation({ id: "endSession", tag: "Account", summary: "End the session", ...logout }),
    end,
  );
}
