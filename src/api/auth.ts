/**
 * Who is calling: Basic or an API key (App) for messaging, reports and balance; a session token (IBSSO) for reseller operations and
 * wherever Basic is taken.
 */
import type { ApiKeys } from "../accounts/api-keys.ts";
import { type LoginAttempts, TooManyAttempts } from "../accounts/attempts.ts";
import type { Credentials } from "../accounts/credentials.ts";
import { TooManyLogins } from "../accounts/passwords.ts";
import type { Sessions } from "../accounts/sessions.ts";
import { Networks, parseNetwork, plainAddress } from "../runtime/networks.ts";
import type { Settings } from "../runtime/settings.ts";
import type { Account, Scope } from "../store/port.ts";
import { ApiError } from "./errors.ts";
import type { Auth } from "./operation.ts";

export interface AuthParts {
  readonly credentials: Credentials;
  readonly sessions: Sessions;
  readonly apiKeys: ApiKeys;
  readonly attempts: LoginAttempts;
}

/** What a request says of who sends it. */
export interface Caller {
  /** The Authorization header. */
  readonly header: string | undefined;
  readonly address: string;
  /** Where it came on. */
  readonly connection: { caller: SeenCaller | null };
}

/** Who has shown an API key on a connection. The same header from the same address is taken there for as long as the account is remembered. */
export interface SeenCaller {
  readonly header: string;
  readonly address: string;
  readonly account: Account;
}

const BASIC_CHALLENGE = 'Basic realm="heliograph", charset="UTF-8"';

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

export function readToken(header: string | undefined): string | null {
  const { scheme, value } = readHeader(header);
  return scheme === "ibsso" ? value : null;
}

function readApiKey(header: string | undefined): string | null {
  const { scheme, value } = readHeader(header);
  return scheme === "app" ? value : null;
}

/** Checks a password; too many, wrong or at once, is the caller's to try again. */
export async function checkPassword(parts: AuthParts, pair: NamedPassword, address: string): Promise<Account | null> {
  return within(() =>
    parts.attempts.attempt({ ...pair, address }, () => parts.credentials.verify(pair.username, pair.password)),
  );
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

function tooMany(description: string, waitMs: number): ApiError {
  const seconds = Math.ceil(waitMs / 1_000);
  return new ApiError("tooManyRequests", { description, headers: { "retry-after": String(seconds) } });
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

function checkToken(parts: AuthParts, token: string, address: string): Promise<Account | null> {
  return checkSecret(parts, token, address, (secret) => parts.sessions.find(secret));
}

function active(account: Account | null, challenge: string): Account {
  if (account === null) throw new ApiError("unauthorized", { headers: { "www-authenticate": challenge } });
  if (account.suspended) throw new ApiError("forbidden", { description: "The account is suspended." });
  return account;
}

/** For messaging, reports and balance. A caller that is known on its connection is not waited for. */
function authenticate(parts: AuthParts, caller: Caller): Account | Promise<Account> {
  const seen = caller.connection.caller;
  const same = seen !== null && seen.header === caller.header && seen.address === caller.address;
  return same && parts.apiKeys.remembers(seen.account) ? seen.account : identify(parts, caller);
}

/**
 * Only keys are known again by their connection: a password can be guessed, and to compare it is a guess that has to be counted; a
 * token is kept alive by being looked up.
 */
async function identify(parts: AuthParts, { header, address, connection }: Caller): Promise<Account> {
  const basic = readBasic(header);
  const key = readApiKey(header);
  const token = readToken(header);
  let account: Account | null = null;
  if (basic !== null) account = await checkPassword(parts, basic, address);
  else if (key !== null) account = await checkSecret(parts, key, address, (secret) => parts.apiKeys.find(secret));
  else if (token !== null) account = await checkToken(parts, token, address);
  const found = active(account, BASIC_CHALLENGE);
  if (key !== null) connection.caller = { header: header!, address, account: found };
  return found;
}

/** For a message in a plain URL: username and password in its query, or else a header as for messaging. */
async function authenticateQuery(parts: AuthParts, caller: Caller, query: unknown): Promise<Account> {
  const { username, password } = query as Record<string, unknown>;
  if (typeof username !== "string" || typeof password !== "string") return authenticate(parts, caller);
  return active(await checkPassword(parts, { username, password }, caller.address), BASIC_CHALLENGE);
}

/** Where only a session token counts. */
async function authenticateSession(parts: AuthParts, { header, address }: Caller): Promise<Account> {
  const token = readToken(header);
  return active(token === null ? null : await checkToken(parts, token, address), 'IBSSO realm="heliograph"');
}

/** For reseller operations: a session token, of an account that is a reseller. */
async function authenticateReseller(parts: AuthParts, caller: Caller): Promise<Account> {
  const account = await authenticateSession(parts, caller);
  if (account.kind !== "reseller")
    throw new ApiError("noResellerRights", { description: "The account has no reseller rights." });
  return account;
}

/** For operators: as for messaging, and the account must be an operator's. */
async function authenticateOperator(parts: AuthParts, caller: Caller): Promise<Account> {
  const account = await authenticate(parts, caller);
  if (account.kind !== "operator")
    throw new ApiError("forbidden", { description: "The account is not an operator's." });
  return account;
}

/** For whoever manages accounts: as for messaging, and the account must be an operator's or a reseller's. */
async function authenticateManager(parts: AuthParts, caller: Caller): Promise<Account> {
  const account = await authenticate(parts, caller);
  if (account.kind === "client")
    throw new ApiError("forbidden", { description: "The account is neither an operator's nor a reseller's." });
  return account;
}

/** For what a program must not do: as for messaging, but no API key. */
async function authenticateLogin(parts: AuthParts, caller: Caller): Promise<Account> {
  const account = await authenticate(parts, caller);
  if (account.apiKey !== null)
    throw new ApiError("forbidden", {
      description: "An API key is not enough for this: it needs a password or a session.",
    });
  return account;
}

/** Who calls, for each kind of operation; null where nobody asks. */
export const AUTHENTICATION: Readonly<
  Record<Auth, (parts: AuthParts, caller: Caller, query: unknown) => Account | null | Promise<Account>>
> = {
  none: () => null,
  account: authenticate,
  query: authenticateQuery,
  session: authenticateSession,
  login: authenticateLogin,
  reseller: authenticateReseller,
  operator: authenticateOperator,
  manager: authenticateManager,
};

/** An API key may be made for some things only; and what a client wrote is not for the reseller who knows its password. */
export function checkScope(account: Account, scope: Scope | null, resellers: Settings["resellers"]): void {
  const { scopes } = account;
  if (scope === "track" && isWithoutMessages(account, resellers)) throw passwordOfReseller();
  if (scope === null || scopes === null || scopes.includes(scope)) return;
  const good = scopes.length === 0 ? "nothing" : scopes.join(", ");
  throw new ApiError("forbidden", { description: `The API key is good for ${good}; this needs the scope ${scope}.` });
}

/** Whether its password is known to a reseller who may not read its messages. */
export function isWithoutMessages(account: Account, { clientMessages }: Settings["resellers"]): boolean {
  return account.passwordOfReseller && !clientMessages;
}

export function passwordOfReseller(): ApiError {
  return new ApiError("forbidden", {
    description: "The password was set by your reseller: change it first, with PUT /account/1/password.",
  });
}

/** Lists of networks that were looked at lately, by their text: to read one takes longer than to look an address up. */
const NETWORKS_KEPT = 1_000;
const readNetworks = new Map<string, Networks>();

function networksOf(list: readonly string[]): Networks {
  const text = list.join();
  const known = readNetworks.get(text);
  if (known !== undefined) return known;
  const networks = new Networks(list.map(parseNetwork).filter((network) => network !== null));
  if (readNetworks.size >= NETWORKS_KEPT) readNetworks.delete(readNetworks.keys().next().value!);
  readNetworks.set(text, networks);
  return networks;
}

/** An account, and an API key of it, may be for use from some networks only. */
export function checkAddress({ allowedAddresses, apiKey }: Account, address: string): void {
  checkAmong(allowedAddresses, address, "account");
  if (apiKey !== null) checkAmong(apiKey.allowedAddresses, address, "API key");
}

function checkAmong(allowedAddresses: readonly string[] | null, address: string, what: string): void {
  if (allowedAddresses === null || networksOf(allowedAddresses).has(address)) return;
  throw new ApiError("forbidden", {
    description: `The ${what} may not be used from ${plainAddress(address) ?? "this address"}.`,
  });
}
