/** Logging in and out. There are two spellings of the same: the older one is the reseller's, the newer one anybody's. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { checkAddress, type NamedPassword, readBasic, readToken } from "./auth.ts";
import { ApiError } from "./errors.ts";
import { checkLogin, type LoginParts, loginError, readCode } from "./login.ts";
import { type Api, operation } from "./operation.ts";
import { bodyFields, headerText, queryFields } from "./parameters.ts";
import * as schemas from "./schemas.ts";

/** Anybody may send one, so it is no larger than it has to be. */
const LOGIN_OCTETS = 4_096;

/** Username and password stand in the body, in headers of their names, in the query, or in a Basic header: the first that has both. */
function readLogin(request: FastifyRequest): NamedPassword | null {
  const headers = { username: headerText(request.headers.username), password: headerText(request.headers.password) };
  for (const { username, password } of [bodyFields(request), headers, queryFields(request)]) {
    if (typeof username === "string" && typeof password === "string") return { username, password };
  }
  return readBasic(request.headers.authorization);
}

export function sessionOperations(api: Api, parts: LoginParts): void {
  const { sessions, logins, attempts } = parts;
  /** Opens a session and returns its token. */
  const open = async (request: FastifyRequest): Promise<string> => {
    const pair = readLogin(request);
    const login = pair === null ? null : await checkLogin(parts, { ...pair, code: readCode(request) }, request.ip);
    if (login === null) throw loginError();
    const { account, user, shownWith } = login;
    if (account.suspended) throw new ApiError("forbidden", { description: "The account is suspended." });
    checkAddress(account, request.ip);
    const event = logins.opened(user.username, request.ip, shownWith);
    const token = await sessions.open({ account, user, withFactor: shownWith !== null, event });
    attempts.knows(token, request.ip);
    return token;
  };
  const end = async (request: FastifyRequest, reply: FastifyReply) => {
    await sessions.end(readToken(request.headers.authorization)!);
    return reply.code(204).send();
  };
  const login = { auth: "none", form: true, bodyOctets: LOGIN_OCTETS, takes: schemas.LoginRequest } as const;
  const logout = { auth: "session", form: true, bodyOctets: LOGIN_OCTETS } as const;

  api.post(
    "/1/customerProfile/login",
    operation({ tag: "Reseller", summary: "Log in for a session token", ...login, answer: schemas.LoginResponse }),
    async (request) => ({ login: { verified: true, ibAuthCookie: await open(request) } }),
  );
  api.post(
    "/1/customerProfile/logout",
    operation({ tag: "Reseller", summary: "End the session", ...logout }),
    async (request, reply) => end(request, reply),
  );

  api.post(
    "/auth/1/session",
    operation({ tag: "Account", summary: "Log in for a session token", ...login, answer: schemas.SessionResponse }),
    async (request) => ({ token: await open(request) }),
  );
  api.delete(
    "/auth/1/session",
    operation({ tag: "Account", summary: "End the session", ...logout }),
    async (request, reply) => end(request, reply),
  );
}
