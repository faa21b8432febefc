/** Passwords of an account's users, their second factors, and the sessions that were opened with them. */
import { isTooLong } from "../auth/passwords.ts";
import { secret } from "../runtime/random.ts";
import type { ManagedAccount } from "../store/port/accounts.ts";
import type { Store } from "../store/port/store.ts";
import { boundedCaller, checkGivesCredentials } from "./bounds.ts";
import { checkText, livingAccount, type Manager, managedAccount, signed, tenantOf } from "./manager.ts";
import { conflict, forbidden, invalid, unknown, unknownAccount } from "./refusal.ts";
import { checkMayResell, type ResellerSettings } from "./reselling.ts";

export interface PasswordParts {
  readonly store: Pick<Store, "account" | "setPassword">;
  readonly hashPassword: (password: string) => Promise<string>;
  readonly settings: ResellerSettings;
}

const MADE_UP_BYTES = 18;
const MIN_PASSWORD = 8;
export const MAX_PASSWORD = 256;

export interface Password {
  readonly text: string;
  readonly madeUp: boolean;
}

/** The password that was given, or one that nobody can guess. */
export function passwordFrom(given: string | undefined): Password {
  if (given === undefined) return { text: secret(MADE_UP_BYTES), madeUp: true };
  // Before its characters are counted: it may be as long as a body.
  const length = isTooLong(given) ? Number.POSITIVE_INFINITY : [...given].length;
  if (length < MIN_PASSWORD || length > MAX_PASSWORD)
    throw invalid("password", `must be ${MIN_PASSWORD} to ${MAX_PASSWORD} characters long`);
  checkText("password", given);
  return { text: given, madeUp: false };
}

export interface PasswordOrder {
  readonly accountKey: string;
  readonly username: string;
  /** Made up unless given. */
  readonly password?: string;
}

/** Gives a user another password; the account's sessions end. */
export async function setPassword(
  { store, hashPassword, settings }: PasswordParts,
  manager: Manager,
  { accountKey, username, password: given }: PasswordOrder,
): Promise<Password> {
  const password = passwordFrom(given);
  checkMayResell(manager, settings, "clientPasswords");
  const account = await livingAccount(store, manager, accountKey);
  checkNotByKey(manager, account);
  checkGivesCredentials(manager);
  if (!account.usernames.includes(username)) throw unknownUser();
  const passwordHash = await hashPassword(password.text);
  const done = await store.setPassword({ ...tenantOf(manager), username, passwordHash, ...signed(manager) });
  if (done === "unknown user") throw unknownUser();
  return password;
}

/** Which of an account's users is meant: whoever is the only one need not be named. */
export function userIn({ usernames }: Pick<ManagedAccount, "usernames">, wanted: string | undefined): string {
  const username = wanted ?? (usernames.length === 1 ? usernames[0] : undefined);
  if (username === undefined || !usernames.includes(username))
    throw invalid("username", `must be one of the account's users: ${usernames.join(", ")}`);
  return username;
}

const unknownUser = () => unknown("the account has no such user");

/** Whoever has a password may do all that the account may: more than an API key of the same account, and than any of an operator's. */
function checkNotByKey(manager: Manager, { id, kind }: ManagedAccount): void {
  const caller = boundedCaller(manager);
  if (caller === null || (manager.account!.id !== id && kind !== "operator")) return;
  throw forbidden(`${caller} sets no password of its own account, and none of an operator`);
}

/** Takes a user's second factor away, for one who has lost the phone and the recovery codes; the user's sessions end. */
export async function removeSecondFactor(
  store: Pick<Store, "removeSecondFactor">,
  manager: Manager,
  username: string,
): Promise<void> {
  const removed = await store.removeSecondFactor({ username, proof: null, ...signed(manager) });
  if (removed !== "removed") throw conflict(`the user ${username} has no second factor`);
}

/** Ends all sessions of an account, and says how many there were. */
export async function endSessions(
  store: Pick<Store, "account" | "endSessions">,
  manager: Manager,
  accountKey: string,
): Promise<{ readonly ended: number }> {
  await managedAccount(store, manager, accountKey);
  const ended = await store.endSessions({ ...tenantOf(manager), accountKey, ...signed(manager) });
  if (ended === "unknown account") throw unknownAccount(accountKey);
  return ended;
}
