/**
 * Who is calling: Basic or an API key (App) for messaging, reports and balance; a session token (IBSSO) for reseller operations and
 * wherever Basic is taken. The password of a user with a second factor is good for opening a session, together with a code, and for
 * nothing else.
 */
import type { ApiKeys } from "../auth/api-keys.ts";
import { type LoginAttempts, TooManyAttempts } from "../auth/attempts.ts";
import type { Credentials } from "../auth/credentials.ts";
import { type Asker, isTooLong, TooManyLogins } from "../auth/passwords.ts";
import type { Sessions } from "../auth/sessions.ts";
import { boundedCache } from "../runtime/cache.ts";
import { onceEach } from "../runtime/lazy.ts";
import { Networks, networkOf, plainAddress, storedNetwork } from "../runtime/networks.ts";
import type { FactorPolicy, Settings } from "../settings/settings.ts";
import { factorPolicyOf } from "../settings/words.ts";
import type { Account, AccountKind, Scope } from "../store/port/accounts.ts";
import {
  EXPIRED_KEY,
  NOT_ENOUGH,
  suspended,
  TOKEN_ONLY,
  unauthorized,
  unreadable,
  WRONG_KEY,
  WRONG_PASSWORD,
  WRONG_TOKEN,
} from "./auth-reasons.ts";
import { ApiError, tooMany } from "./errors.ts";
import { wrongAccount } from "./wrong-account.ts";

/**
 * "account": Basic, an API key or a token. "query": the same, or a password in the query. "kannel": the same, or a password in its headers or in a form. "session": a token. "login": Basic or a token. "user": the
 * same, also of a user who lacks the second factor that is required. "reseller": a token of a reseller. "operator": as account, of an operator.
 * "manager": the same, or of a reseller. "known": as account, also of a user who lacks the second factor that is required.
 */
export type Auth = keyof typeof AUTHENTICATION;

export interface AuthParts {
  readonly credentials: Credentials;
  readonly sessions: Sessions;
  readonly apiKeys: ApiKeys;
  readonly attempts: LoginAttempts;
  readonly settings: Pick<Settings, "access" | "resellers">;
}

/** What a request says of who sends it. */
export interface RequestCaller {
  /** The Authorization header. */
  readonly header: string | undefined;
  readonly address: string;
  /** Where it came on. */
  readonly connection: { caller: SeenCaller | null };
  /** The path of the operation that it asks for. */
  readonly route?: string | undefined;
}

/** Who has shown an API key on a connection. The same header from the same address is taken there for as long as the account is remembered. */
export interface SeenCaller {
  readonly header: string;
  readonly address: string;
  readonly account: Account;
}

export interface NamedPassword {
  readonly username: string;
  readonly password: string;
}

/** Splits an Authorization header into its scheme, in lower case, and the rest. */
function readHeader(header: string | undefined): { scheme: string; value: string } {
  const match = /^ *([A-Za-z]+) +(\S+) *$/.exec(header ?? "");
  return { scheme: match?.[1]?.toLowerCase() ?? "", value: match?.[2] ?? "" };
}

export function readBasic(header: string | undefined): NamedPassword | null {
  const { scheme, value } = readHeader(header);
  if (scheme !== "basic") return null;
  const pair = Buffer.from(value, "base64").toString("utf8");
  const colon = pair.indexOf(":");
  return colon < 0 ? null : { username: pair.slice(0, colon), password: pair.slice(colon + 1) };
}

/** The schemes under which a token comes: a session's, a program's, and an older word for the same. */
const TOKEN_SCHEMES: readonly string[] = ["ibsso", "bearer", "oauth"];

export function readToken(header: string | undefined): string | null {
  const { scheme, value } = readHeader(header);
  return TOKEN_SCHEMES.includes(scheme) ? value : null;
}

export function readApiKey(header: string | undefined): string | null {
  const { scheme, value } = readHeader(header);
  return scheme === "app" || scheme === "apikey" ? value : null;
}

const MAX_USERNAME_CHARACTERS = 256;

/**
 * Checks what somebody brings for a user; null is wrong, and counted. Too many, wrong or at once, is the caller's to try again. `proof` is
 * the password with whatever was brought beside it: only the same together was right before.
 */
export async function attemptAs<Result>(
  { attempts }: AuthParts,
  { username, password, proof = password }: NamedPassword & { readonly proof?: string },
  address: string,
  check: (asker: Asker) => Promise<Result | null>,
): Promise<Result | null> {
  // Nobody's name, and nobody's password: nothing is done with them. The second is a guess all the same.
  if (username === "" || username.length > MAX_USERNAME_CHARACTERS) {
    attempts.wrong(username, address);
    return null;
  }
  const attempted = { username, address, password: isTooLong(password) ? "" : proof };
  const network = networkOf(address);
  return within(() =>
    attempts.attempt(attempted, async (wasLetIn) => (isTooLong(password) ? null : check({ network, wasLetIn }))),
  );
}

/**
 * Checks a password that is to do for itself. One to which a second factor belongs counts neither as wrong nor as right: whoever knows it
 * could otherwise have his wrong codes forgiven.
 */
export function checkPassword(parts: AuthParts, pair: NamedPassword, address: string): Promise<Account | null> {
  return attemptAs(parts, pair, address, async (asker) => {
    const account = await parts.credentials.verify(pair.username, pair.password, asker);
    if (account?.user?.secondFactor === true) throw unauthorized(NOT_ENOUGH);
    return account;
  });
}

/** Checks the password of somebody who is in already, by a session: a second factor was shown with that. */
export function checkOwnPassword(parts: AuthParts, pair: NamedPassword, address: string): Promise<Account | null> {
  return attemptAs(parts, pair, address, (asker) => parts.credentials.verify(pair.username, pair.password, asker));
}

async function within<Result>(check: () => Promise<Result>): Promise<Result> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof TooManyLogins) throw tooMany("Too many passwords are being checked right now.", 1_000);
    if (error instanceof TooManyAttempts) throw tooMany("There were too many wrong logins.", error.waitMs);
    throw error;
  }
}

/** Looks for the account of a key or a token; too many wrong ones are the caller's to try again. */
function checkSecret(
  { attempts }: AuthParts,
  secret: string,
  address: string,
  find: (secret: string) => Promise<Account | null>,
): Promise<Account | null> {
  return within(() => attempts.attempt({ secret, address }, () => find(secret)));
}

async function checkToken(parts: AuthParts, token: string, address: string): Promise<Account> {
  return active(await checkSecret(parts, token, address, (secret) => parts.sessions.find(secret)), WRONG_TOKEN);
}

/** One that has expired counts as wrong. Whoever has it may know: nobody guesses a key. */
async function checkKey(parts: AuthParts, key: string, address: string): Promise<Account> {
  let why = WRONG_KEY;
  const account = await checkSecret(parts, key, address, async (secret) => {
    const found = await parts.apiKeys.find(secret);
    if (found !== "expired") return found;
    why = EXPIRED_KEY;
    return null;
  });
  return active(account, why);
}

/** The accounts whose users must have a second factor. */
const FACTOR_REQUIRED: Readonly<Record<FactorPolicy, readonly AccountKind[]>> = {
  optional: [],
  operators: ["operator"],
  managers: ["operator", "reseller"],
};

export function isFactorRequired({ settings }: Pick<AuthParts, "settings">, { kind }: Account): boolean {
  return FACTOR_REQUIRED[factorPolicyOf(settings)].includes(kind);
}

/** A user who must have a second factor and has none can do nothing but enrol one. API keys are nobody's. */
function enrolled(parts: AuthParts, account: Account): Account {
  if (account.user === null || account.user.secondFactor || !isFactorRequired(parts, account)) return account;
  throw new ApiError(
    "forbidden",
    "A second factor is required: enrol one with POST /account/1/second-factor, or use an API key.",
  );
}

/** `why` is told where it is nobody's. */
function active(account: Account | null, why: string): Account {
  if (account === null) throw unauthorized(why);
  if (account.suspended) throw suspended();
  return account;
}

/** For messaging, reports and balance. A caller that is known on its connection is not waited for. */
function authenticate(parts: AuthParts, caller: RequestCaller): Account | Promise<Account> {
  return knownCaller(parts, caller) ?? identify(parts, caller, enrolled);
}

/** Whoever has shown an API key on this connection, if this is the same one; null for anybody else. */
export function knownCaller(parts: AuthParts, { connection, header, address }: RequestCaller): Account | null {
  const seen = connection.caller;
  const same = seen !== null && seen.header === header && seen.address === address;
  return same && parts.apiKeys.remembers(seen.account) ? seen.account : null;
}

/**
 * Only keys are known again by their connection: a password can be guessed, and to compare it is a guess that has to be counted; a
 * token is kept alive by being looked up.
 */
async function identify(
  parts: AuthParts,
  { header, address, connection }: RequestCaller,
  check: (parts: AuthParts, account: Account) => Account,
): Promise<Account> {
  const basic = readBasic(header);
  const key = readApiKey(header);
  const token = readToken(header);
  let account: Account;
  if (basic !== null) account = active(await checkPassword(parts, basic, address), WRONG_PASSWORD);
  else if (key !== null) account = await checkKey(parts, key, address);
  else if (token !== null) account = await checkToken(parts, token, address);
  else throw unreadable(header);
  const found = check(parts, account);
  if (key !== null) connection.caller = { header: header!, address, account: found };
  return found;
}

/** For a message in a plain URL: username and password in its query, or else a header as for messaging. */
async function authenticateQuery(parts: AuthParts, caller: RequestCaller, query: unknown): Promise<Account> {
  const { username, password } = query as Record<string, unknown>;
  if (typeof username !== "string" || typeof password !== "string") return authenticate(parts, caller);
  return authenticatePair(parts, { username, password }, caller.address);
}

/** By a password that stands wherever its operation says. */
export async function authenticatePair(parts: AuthParts, pair: NamedPassword, address: string): Promise<Account> {
  return enrolled(parts, active(await checkPassword(parts, pair, address), WRONG_PASSWORD));
}

/** The same with Kannel's names. Whoever says nothing before the body may say it there. */
function authenticateKannel(parts: AuthParts, caller: RequestCaller, query: unknown): Promise<Account> | null {
  const { mayComeLater, ...pair } = query as KannelLogin;
  if (pair.username === undefined && caller.header === undefined && mayComeLater) return null;
  return authenticateQuery(parts, caller, pair);
}

/** What a request to Kannel's door says before its body. */
export interface KannelLogin extends Partial<NamedPassword> {
  readonly mayComeLater: boolean;
}

/** Where only a session token counts. */
async function authenticateSession(parts: AuthParts, { header, address }: RequestCaller): Promise<Account> {
  const token = readToken(header);
  if (token !== null) return checkToken(parts, token, address);
  throw header === undefined ? unreadable(header) : unauthorized(TOKEN_ONLY);
}

/** For reseller operations: a session token, of an account that is a reseller. */
async function authenticateReseller(parts: AuthParts, caller: RequestCaller): Promise<Account> {
  const account = enrolled(parts, await authenticateSession(parts, caller));
  if (account.kind !== "reseller") throw new ApiError("noResellerRights", "The account has no reseller rights.");
  return account;
}

/** For what asks for more later, of each thing that it is asked for. */
function authenticateKnown(parts: AuthParts, caller: RequestCaller): Promise<Account> {
  return identify(parts, caller, (_, found) => found);
}

/** What is asked of a caller that is known, for each kind of operation that pages of the console watch: it throws for one that may not. */
const DEMANDS = {
  account: enrolled,
  /** For what is a user's own: a password or a session token, and no API key. */
  user: (_: AuthParts, account: Account): Account => {
    if (account.user !== null) return account;
    throw new ApiError("forbidden", "This is for a user with a password or a session, not for an API key.");
  },
  operator: (parts: AuthParts, account: Account, route?: string): Account => {
    if (enrolled(parts, account).kind === "operator") return account;
    throw wrongAccount("operators", account, route);
  },
  manager: (parts: AuthParts, account: Account, route?: string): Account => {
    if (enrolled(parts, account).kind !== "client") return account;
    throw wrongAccount("operators and resellers", account, route);
  },
} as const;

/** For callers of whom more is asked than who they are. */
function demanding(
  demand: keyof typeof DEMANDS,
  identified: (parts: AuthParts, caller: RequestCaller) => Account | Promise<Account>,
) {
  return async (parts: AuthParts, caller: RequestCaller): Promise<Account> =>
    DEMANDS[demand](parts, await identified(parts, caller), caller.route);
}

/** For what a program must not do: as for messaging, but no API key. */
async function authenticateLogin(parts: AuthParts, caller: RequestCaller): Promise<Account> {
  const account = await authenticate(parts, caller);
  if (account.apiKey !== null)
    throw new ApiError("forbidden", "An API key is not enough for this: it needs a password or a session.");
  return account;
}

/** Who calls, for each kind of operation; null where nobody asks. */
export const AUTHENTICATION = {
  none: () => null,
  account: authenticate,
  query: authenticateQuery,
  kannel: authenticateKannel,
  session: authenticateSession,
  user: demanding("user", authenticateKnown),
  login: authenticateLogin,
  reseller: authenticateReseller,
  operator: demanding("operator", authenticate),
  manager: demanding("manager", authenticate),
  known: authenticateKnown,
} as const satisfies Readonly<
  Record<string, (parts: AuthParts, caller: RequestCaller, query: unknown) => Account | null | Promise<Account>>
>;

/** An API key may be made for some things only; and what a client wrote is not for the reseller who knows its password. */
export function checkScope(
  account: Account,
  scope: Scope | null,
  resellers: Settings["resellers"],
  isLogout = false,
): void {
  const { scopes } = account;
  if (scope === "track" && isWithoutMessages(account, resellers)) throw passwordOfReseller();
  if (scopes === null) return;
  const isToken = account.apiKey === null;
  // A key may be made good for less than its maker, and ends when that does. Nothing ends with a token's hour.
  // Whoever holds a token may end it.
  if (scope === null && isToken && !isLogout)
    throw new ApiError("forbidden", "A token with scopes is not enough for this.");
  if (scope === null || scopes.includes(scope)) return;
  const good = scopes.length === 0 ? "nothing" : scopes.join(", ");
  throw new ApiError(
    "forbidden",
    `The ${isToken ? "token" : "API key"} is good for ${good}; this needs the scope ${scope}.`,
  );
}

/** Why a caller that is known may not watch what such a view or an event tells; null where it may. */
export function watchRefusal(
  parts: AuthParts,
  account: Account,
  { auth, scope }: { readonly auth: keyof typeof DEMANDS; readonly scope: Scope },
): ApiError | null {
  try {
    DEMANDS[auth](parts, account);
    checkScope(account, scope, parts.settings.resellers);
    return null;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** Whether its password is known to a reseller who may not read its messages. */
export function isWithoutMessages(account: Account, { clientMessages }: Settings["resellers"]): boolean {
  return account.passwordOfReseller && !clientMessages;
}

export function passwordOfReseller(): ApiError {
  return new ApiError(
    "forbidden",
    "The password was set by your reseller: change it first, with PUT /account/1/password.",
  );
}

/** Lists of networks that were looked at lately, by their text: to read one takes longer than to look an address up. */
const NETWORKS_KEPT = 1_000;
const networksIn = onceEach(
  boundedCache<string, Networks>(NETWORKS_KEPT),
  (list) =>
    new Networks(
      list
        .split(",")
        .map(storedNetwork)
        .filter((network) => network !== null),
    ),
);

/** An account, and an API key of it, may be for use from some networks only. */
export function checkAddress({ allowedAddresses, apiKey }: Account, address: string): void {
  checkAmong(allowedAddresses, address, "account");
  if (apiKey !== null) checkAmong(apiKey.allowedAddresses, address, "API key");
}

function checkAmong(allowedAddresses: readonly string[] | null, address: string, what: string): void {
  if (allowedAddresses === null || networksIn(allowedAddresses.join()).has(address)) return;
  throw new ApiError("forbidden", `The ${what} may not be used from ${plainAddress(address) ?? "this address"}.`);
}
