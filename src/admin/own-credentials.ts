/** What an account does about its own API keys and passwords. It is its own, whoever its reseller is. */
import type { Account } from "../store/port/accounts.ts";
import type { ApiKey } from "../store/port/credentials.ts";
import type { Store } from "../store/port/store.ts";
import { livingAccount, type Manager, retired, signed } from "./manager.ts";
import { type Password, type PasswordParts, passwordFrom, userIn } from "./passwords.ts";
import { forbidden, invalid, unknown } from "./refusal.ts";

/** An account that manages itself. */
export interface Owner extends Manager {
  readonly account: Account;
}

const ANY_ACCOUNT = { account: null };

/** The account's keys. A key knows of itself alone. */
export async function ownApiKeys(store: Pick<Store, "apiKeys">, { account }: Owner): Promise<ApiKey[]> {
  const { key: accountKey, apiKey } = account;
  const keys = await store.apiKeys({ accountKey });
  return apiKey === null ? keys : keys.filter(({ id }) => id === apiKey.id);
}

export async function revokeOwnApiKey(
  store: Pick<Store, "apiKeys" | "revokeApiKey">,
  owner: Owner,
  id: string,
): Promise<void> {
  const isOwn = (await ownApiKeys(store, owner)).some((key) => key.id === id);
  const revoked = isOwn ? await store.revokeApiKey({ id, ...signed(owner) }) : "unknown key";
  if (revoked === "unknown key") throw unknown("there is no such API key for you to revoke");
}

export interface OwnPasswordParts extends Omit<PasswordParts, "settings"> {
  /** Whose password this is, and null for a wrong one. */
  readonly accountWith: (username: string, password: string) => Promise<Account | null>;
}

export interface OwnPasswordOrder {
  /** Only for an account with several users. */
  readonly username?: string;
  readonly currentPassword: string;
  /** Made up unless given. */
  readonly password?: string;
}

/** Gives one of the account's users another password; the account's sessions end. */
export async function changeOwnPassword(
  { store, hashPassword, accountWith }: OwnPasswordParts,
  owner: Owner,
  order: OwnPasswordOrder,
): Promise<Password & { readonly username: string }> {
  const { id, key } = owner.account;
  const username = userIn(await livingAccount(store, ANY_ACCOUNT, key), order.username);
  const password = passwordFrom(order.password);
  // Whoever knows the old one, such as a reseller, must not know the new one.
  if (password.text === order.currentPassword) throw invalid("password", "must be another one than now");
  if ((await accountWith(username, order.currentPassword))?.id !== id)
    throw forbidden("the current password is wrong", "currentPassword");
  const passwordHash = await hashPassword(password.text);
  const done = await store.setPassword({ resellerId: null, username, passwordHash, ...signed(owner) });
  if (done === "unknown user") throw retired();
  return { ...password, username };
}
