/** API keys of an account: made, listed and revoked. A key never has more rights than whoever makes it. */
import { newApiKey, storedForm } from "../auth/api-keys.ts";
import { areWithin, parseNetwork, storedNetwork } from "../runtime/networks.ts";
import { formatDateTime, parseDateTime } from "../schedule/date-time.ts";
import { SCOPES, type Scope } from "../store/port/accounts.ts";
import type { ApiKey } from "../store/port/credentials.ts";
import type { Store } from "../store/port/store.ts";
import { checkedNetworks } from "./account-settings.ts";
import { livingAccount, type Manager, managedAccount, signed, tenantOf } from "./manager.ts";
import { conflict, forbidden, invalid, type Refused, unknown, unknownAccount } from "./refusal.ts";
import { checkMayResell, messagesAreNotFor, type ResellerSettings } from "./reselling.ts";

export interface ApiKeyParts {
  readonly store: Pick<Store, "account" | "apiKeys" | "createApiKey" | "revokeApiKey">;
  readonly settings: ResellerSettings;
}

/** So that the list stays one page. */
export const MAX_KEYS = 1_000;
export const MAX_KEY_NETWORKS = 100;
/** As they are named: one that is named twice counts once afterwards. */
export const MAX_KEY_SCOPES = 100;
export const MAX_KEY_NAME = 100;

export interface ApiKeyOrder {
  readonly name?: string;
  /** All that its maker may give unless given. */
  readonly scopes?: readonly Scope[];
  /** When its maker's key ends unless given, or never. */
  readonly expiresAt?: string;
  readonly allowedAddresses?: readonly string[];
}

export interface CreatedApiKey extends Omit<ApiKey, "accountKey"> {
  /** Shown once. */
  readonly key: string;
}

export async function createApiKey(
  { store, settings }: ApiKeyParts,
  manager: Manager,
  accountKey: string,
  order: ApiKeyOrder,
): Promise<CreatedApiKey> {
  checkMayResell(manager, settings, "clientKeys");
  await livingAccount(store, manager, accountKey);
  return makeApiKey(store, manager, accountKey, order, messagesAreNotFor(manager, settings));
}

/** Makes a key for an account that the manager may make one for. `withoutMessages`: why it may not read messages, if it may not. */
export async function makeApiKey(
  store: Pick<Store, "apiKeys" | "createApiKey">,
  manager: Manager,
  accountKey: string,
  order: ApiKeyOrder,
  withoutMessages: Error | null,
): Promise<CreatedApiKey> {
  const { name = null } = order;
  if (name !== null) checkName(name);
  // A token ends within an hour, and no key would end with it.
  if (manager.account !== null && manager.account.apiKey === null && manager.account.scopes !== null)
    throw forbidden("a token with scopes makes no API keys");
  const bounds = {
    scopes: scopesFor(manager, order.scopes, withoutMessages),
    expiresAtMs: expiryFor(manager, order.expiresAt),
    allowedAddresses: networksFor(manager, order.allowedAddresses),
  };
  if ((await store.apiKeys({ accountKey })).length >= MAX_KEYS)
    throw conflict(`the account has ${MAX_KEYS} keys already`);
  const key = newApiKey();
  const stored = storedForm(key);
  const madeWith = manager.account?.apiKey?.id ?? null;
  const made = await store.createApiKey({ ...stored, accountKey, name, ...bounds, madeWith, ...signed(manager) });
  if (made === "unknown account") throw unknownAccount(accountKey);
  if (made !== "created") throw new Error(`an API key could not be made: ${made}`);
  return { id: stored.id, name, ...bounds, createdAtMs: manager.atMs, usedAtMs: null, key };
}

/** It is shown in lists, a line for each key. */
function checkName(name: string): void {
  const length = [...name].length;
  if (length < 1 || length > MAX_KEY_NAME || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(name))
    throw invalid("name", `must be 1 to ${MAX_KEY_NAME} characters that can be printed`);
}

/** What a key has that names no scopes. */
const WITHOUT_NAMING: readonly Scope[] = SCOPES.filter((scope) => scope !== "credentials");

/** What a key is good for. Unless given it is all that the maker has, spelled out where that is not everything. */
function scopesFor({ account }: Manager, wanted: readonly Scope[] | undefined, withoutMessages: Error | null) {
  const own = account?.scopes ?? null;
  // Of a password or a session: all there are, of a key without scopes all but one.
  const all = account !== null && account.apiKey !== null ? WITHOUT_NAMING : SCOPES;
  const most = (own ?? all).filter((scope) => scope !== "track" || withoutMessages === null);
  if (wanted === undefined) {
    if (own !== null) return most;
    return withoutMessages === null ? null : most.filter((scope) => WITHOUT_NAMING.includes(scope));
  }
  if (wanted.length > MAX_KEY_SCOPES) throw invalid("scopes", `must have at most ${MAX_KEY_SCOPES} items`);
  const strange = wanted.find((scope) => !SCOPES.includes(scope));
  if (wanted.length === 0 || strange !== undefined)
    throw invalid("scopes", `must be some of ${SCOPES.join(",")}`, wanted.join(","));
  const scopes = [...new Set(wanted)];
  const beyond = scopes.find((scope) => !most.includes(scope));
  if (beyond === undefined) return scopes;
  if (beyond === "track" && withoutMessages !== null) throw withoutMessages;
  throw forbidden(`the API key that you use is not good for ${beyond}, and makes none that is`, "scopes");
}

function expiryFor({ account, atMs }: Manager, wanted: string | undefined): number | null {
  const most = account?.apiKey?.expiresAtMs ?? null;
  if (wanted === undefined) return most;
  const expiresAtMs = parseDateTime(wanted);
  if (expiresAtMs === null) throw invalid("expiresAt", "is not a date and time like 2027-02-01T00:00:00.000+0000");
  if (expiresAtMs <= atMs) throw invalid("expiresAt", "must be in the future");
  if (most !== null && expiresAtMs > most)
    throw forbidden(
      `the API key that you use ends at ${formatDateTime(most)}, and makes none that lasts longer`,
      "expiresAt",
    );
  return expiresAtMs;
}

function networksFor({ account }: Manager, wanted: readonly string[] | undefined): readonly string[] | null {
  const most = account?.apiKey?.allowedAddresses ?? null;
  if (wanted === undefined) return most;
  const texts = checkedNetworks(wanted, MAX_KEY_NETWORKS)!;
  const networks = texts.map((text) => parseNetwork(text)!);
  const own = most?.map(storedNetwork).filter((network) => network !== null) ?? null;
  if (own !== null && !areWithin(networks, own))
    throw forbidden("the API key that you use makes none for networks that it is not for itself", "allowedAddresses");
  return texts;
}

export async function apiKeysOf(
  store: Pick<Store, "account" | "apiKeys">,
  manager: Manager,
  accountKey: string,
): Promise<ApiKey[]> {
  await managedAccount(store, manager, accountKey);
  return store.apiKeys({ accountKey });
}

/** Revokes a key of an account; of whichever it is where none is named. */
export async function revokeApiKey(
  { store, settings }: ApiKeyParts,
  manager: Manager,
  { id, accountKey }: { readonly id: string; readonly accountKey: string | null },
): Promise<void> {
  checkMayResell(manager, settings, "clientKeys");
  const unknownKey = (): Refused =>
    unknown(accountKey === null ? `there is no key ${id}` : "the account has no such API key");
  if (accountKey !== null && !(await apiKeysOf(store, manager, accountKey)).some((key) => key.id === id))
    throw unknownKey();
  const revoked = await store.revokeApiKey({ id, ...tenantOf(manager), ...signed(manager) });
  if (revoked === "unknown key") throw unknownKey();
}
