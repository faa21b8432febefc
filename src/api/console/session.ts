/** Signing in to the console and out of it: the same login as everybody's, whose token goes into a cookie that no script can read. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { DEMO_ACCOUNTS } from "../../auth/demo-accounts.ts";
import { Type } from "../../runtime/type.ts";
import { VERSION } from "../../runtime/version.ts";
import { ApiError } from "../errors.ts";
import { type LoginInput, openSession, readCode } from "../login.ts";
import { type Api, operation } from "../operation.ts";
import type { ApiParts } from "../parts.ts";
import { LOGIN_OCTETS } from "../session.ts";
import { Flag, OneOf, OptionalText, Text } from "../shapes.ts";
import { isOwnPage, setCookie, tokensOf } from "./cookie.ts";

const PATH = "/console/1/session";
const Kind = Text("client, reseller or operator.");

const SignIn = Type.Object({
  username: Type.String({ minLength: 1 }),
  password: Type.String({ minLength: 1 }),
  code: OptionalText("Of the second factor, where one is in force."),
});
const SignedIn = Type.Object({ username: Type.String(), accountKey: Type.String(), kind: Kind });
const DemoSignIn = Type.Object({
  account: OneOf(DEMO_ACCOUNTS.map(({ username }) => username)),
});
const About = Type.Object({
  signedIn: Flag("Whether the browser has a session, which may have ended since."),
  sandbox: Type.Boolean(),
  version: Type.String(),
  demoAccounts: Type.Array(Type.Object({ username: Type.String(), kind: Kind }), {
    description: "Whom one may be with one click. None outside the sandbox.",
  }),
});

/** A form on a page of others could sign its visitor in as somebody else, who then reads what he writes. */
function checkOwnPage(request: FastifyRequest): void {
  if (isOwnPage(request)) return;
  throw new ApiError(
    "forbidden",
    "Only the console's own page signs in here: programs log in with POST /auth/1/session.",
  );
}

export function consoleSessionOperations(api: Api, parts: ApiParts): void {
  const isSandbox = parts.sandbox !== null;
  const endSessions = async (request: FastifyRequest): Promise<void> => {
    for (const token of tokensOf(request)) await parts.sessions.end(token);
  };
  const signIn = async (request: FastifyRequest, reply: FastifyReply, login: LoginInput) => {
    const { account, user, token } = await openSession(parts, login, request.ip);
    // The browser forgets the session that it had; nobody else is to find it.
    await endSessions(request);
    setCookie(request, reply, token);
    return { username: user.username, accountKey: account.key, kind: account.kind };
  };
  const open = { tag: "Console", auth: "none", bodyOctets: LOGIN_OCTETS } as const;

  api.post(
    PATH,
    operation({
      ...open,
      id: "consoleSignIn",
      summary: "Sign in to the console",
      schema: { body: SignIn },
      answer: SignedIn,
    }),
    async (request, reply) => {
      checkOwnPage(request);
      const { username, password } = request.body;
      return signIn(request, reply, { username, password, code: readCode(request) });
    },
  );

  // Whoever asks to be signed out is, also where the session has ended by itself.
  api.delete(
    PATH,
    operation({ ...open, id: "consoleSignOut", summary: "Sign out of the console" }),
    async (request, reply) => {
      checkOwnPage(request);
      await endSessions(request);
      setCookie(request, reply, null);
    },
  );

  api.get(
    "/console/1/about",
    operation({ ...open, id: "consoleAbout", summary: "What this installation is", answer: About }),
    async (request) => ({
      signedIn: tokensOf(request).length > 0,
      sandbox: isSandbox,
      version: VERSION,
      demoAccounts: isSandbox ? DEMO_ACCOUNTS.map(({ username, kind }) => ({ username, kind })).reverse() : [],
    }),
  );

  if (!isSandbox) return;
  api.post(
    `${PATH}/demo`,
    operation({
      ...open,
      id: "consoleSignInDemo",
      summary: "Sign in as one of the sandbox's accounts",
      schema: { body: DemoSignIn },
      answer: SignedIn,
    }),
    async (request, reply) => {
      checkOwnPage(request);
      const { username, password } = DEMO_ACCOUNTS.find((account) => account.username === request.body.account)!;
      return signIn(request, reply, { username, password, code: null });
    },
  );
}
