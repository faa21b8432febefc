/**
 * Who logs in: a password, and a code where a second factor is in force. Wrong codes are counted like wrong passwords, under the same user
 * and address, so that whoever has found out one of the two cannot try out the other.
 */
import type { FastifyRequest } from "fastify";
import { MAX_CODE_CHARACTERS, proofOf } from "../auth/second-factor.ts";
import type { Account, Scope, User } from "../store/port/accounts.ts";
import type { FactorProof } from "../store/port/credentials.ts";
import { attemptAs, checkAddress, type NamedPassword } from "./auth.ts";
import { suspended, WRONG_PASSWORD } from "./auth-reasons.ts";
import { ApiError, badField } from "./errors.ts";
import { bodyFields, headerText, queryFields } from "./parameters.ts";
import type { ApiParts } from "./parts.ts";

interface LoggedIn {
  readonly account: Account;
  readonly user: User;
  /** Null where no second factor is in force. */
  readonly shownWith: FactorProof["kind"] | null;
}

/** A code stands in the body, in a header of this name, or in the query: the first that has one. */
export function readCode(request: FastifyRequest): string | null {
  const header = { code: headerText(request.headers.code) };
  for (const { code } of [bodyFields(request), header, queryFields(request)]) {
    if (code === undefined || code === "") continue;
    if (typeof code !== "string") throw badField("code", "must be a text");
    if (code.length > MAX_CODE_CHARACTERS)
      throw badField("code", `must be at most ${MAX_CODE_CHARACTERS} characters long`);
    return code;
  }
  return null;
}

export function loginError(description: string): ApiError {
  return new ApiError("loginError", { description });
}

export const WRONG_CODE = "The code is wrong, or was used before.";

export interface LoginInput extends NamedPassword {
  readonly code: string | null;
}

/** Opens a session for whoever may log in from there, and gives its token; with scopes, or null for all, one of a program. */
export async function openSession(
  parts: ApiParts,
  login: LoginInput,
  address: string,
  scopes?: readonly Scope[] | null,
): Promise<LoggedIn & { readonly token: string }> {
  const found = await checkLogin(parts, login, address);
  if (found === null) throw loginError(WRONG_PASSWORD);
  const { account, user, shownWith } = found;
  if (account.suspended) throw suspended();
  checkAddress(account, address);
  const event = parts.logins.opened(user.username, address, shownWith);
  const token = await parts.sessions.open({
    account,
    user,
    withFactor: shownWith !== null,
    event,
    ...(scopes === undefined ? {} : { scopes }),
  });
  parts.attempts.knows(token, address);
  return { ...found, token };
}

/** Null for a wrong password. What the second factor has to say is told to whoever knows the password. */
async function checkLogin(
  parts: ApiParts,
  { username, password, code }: LoginInput,
  address: string,
): Promise<LoggedIn | null> {
  let wrongCode = false;
  // Only the two together are known again from an address: each code is another guess, whatever is known of the password.
  const proof = code === null ? password : `${password}\0${code}`;
  const login = await attemptAs(parts, { username, password, proof }, address, async (asker) => {
    const account = await parts.credentials.verify(username, password, asker);
    if (account?.user == null) return null;
    const { user } = account;
    if (!user.secondFactor) return { account, user, shownWith: null };
    // Neither wrong nor right: it must not forgive wrong codes.
    if (code === null) throw loginError("A code of the second factor is needed: give it as code.");
    const shownWith = await takeCode(parts, username, code);
    wrongCode = shownWith === null;
    return shownWith === null ? null : { account, user, shownWith };
  });
  if (wrongCode) {
    noteWrongCode(parts, username, address);
    throw loginError(WRONG_CODE);
  }
  return login;
}

export function noteWrongCode({ logins }: ApiParts, username: string, address: string): void {
  logins.wrong({ action: "wrongCode", username, address, facts: {} });
}

/** How the second factor was shown, if it was: from now on the code is good for nothing. */
async function takeCode(
  { store, clock }: ApiParts,
  username: string,
  code: string,
): Promise<FactorProof["kind"] | null> {
  const factor = await store.secondFactor({ username });
  const proof = factor === null ? null : proofOf(code, factor, clock.now());
  if (proof === null) return null;
  return (await store.useSecondFactor({ username, proof })) === "taken" ? proof.kind : null;
}
