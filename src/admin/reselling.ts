/** What a reseller may do about its clients: within its own names, within the service's limits, and as far as the settings let it. */
import type { Settings } from "../settings/settings.ts";
import { isUsernameOf, keyPrefix, usernamePrefixes } from "../store/names.ts";
import type { AccountCreation, AccountLimits } from "../store/port/accounts.ts";
import type { Store } from "../store/port/store.ts";
import { isReseller, type Manager } from "./manager.ts";
import { conflict, forbidden, invalid, type Refused } from "./refusal.ts";

export type ResellerSettings = Pick<Settings, "resellers" | "limits">;

const RULES = {
  clientKeys: "a reseller does not make or revoke its clients' API keys here",
  clientPasswords: "a reseller does not set its clients' passwords here",
} as const;

/** Refuses what the operator's settings keep from resellers. */
export function checkMayResell(manager: Manager, { resellers }: ResellerSettings, rule: keyof typeof RULES): void {
  if (isReseller(manager) && !resellers[rule]) throw forbidden(RULES[rule]);
}

/** Why a key that the manager makes may not read messages, if it may not. */
export function messagesAreNotFor(manager: Manager, { resellers }: ResellerSettings): Refused | null {
  if (!isReseller(manager) || resellers.clientMessages) return null;
  return forbidden("a key that a reseller makes does not read its client's messages: it has no scope track", "scopes");
}

// --- Names -----------------------------------------------------------------------------------------------------------------

type Name = "key" | "username";

/** The same words whether or not there is such an account: otherwise they would tell. */
function notInNamespace(resellerKey: string, field: Name): Refused {
  const [dash, dot, underscore] = usernamePrefixes(resellerKey);
  const begin = field === "key" ? keyPrefix(resellerKey) : `${dash}, ${dot} or ${underscore}`;
  return invalid(field, `must be one of your own, which begin with ${begin} and go on`);
}

/** What a reseller calls its clients begins with its own key. */
export function checkNames(manager: Manager, key: string | undefined, username: string): void {
  if (!isReseller(manager)) return;
  const own = manager.account!.key;
  if (key !== undefined && !key.startsWith(keyPrefix(own))) throw notInNamespace(own, "key");
  if (!isUsernameOf(own, username)) throw notInNamespace(own, "username");
}

type Fault = Exclude<AccountCreation, { kind: "created" }>;

/** Why the store has made no account. Of accounts that are not its own a reseller does not hear. */
export async function creationRefused(
  store: Pick<Store, "account" | "findLogin">,
  manager: Manager,
  fault: Fault,
  { key, username }: Readonly<Record<Name, string>>,
): Promise<Refused> {
  switch (fault.kind) {
    case "key taken":
      return nameTaken(store, manager, "key", key);
    case "username taken":
      return nameTaken(store, manager, "username", username);
    case "name reserved":
      if (isReseller(manager)) return notInNamespace(manager.account!.key, fault.field);
      return conflict(`what begins so is for the clients of the reseller ${fault.resellerKey}`, fault.field);
    case "namespace taken":
      return conflict(
        `the account ${fault.accountKey} has a name that only clients of such a reseller can have`,
        "key",
      );
    case "unknown parent":
      return invalid("parent", "names no reseller");
  }
}

async function nameTaken(
  store: Pick<Store, "account" | "findLogin">,
  manager: Manager,
  field: Name,
  name: string,
): Promise<Refused> {
  const says = field === "key" ? `there is an account ${name} already` : `the username ${name} is taken`;
  const taken = conflict(says, field);
  if (!isReseller(manager)) return taken;
  const { id, key: own } = manager.account!;
  const owner =
    field === "key"
      ? await store.account({ resellerId: id, key: name })
      : ((await store.findLogin({ username: name }))?.account ?? null);
  const isOwn = owner !== null && (owner.id === id || owner.parentId === id);
  return isOwn ? taken : notInNamespace(own, field);
}

// --- Limits ----------------------------------------------------------------------------------------------------------------

/** The service's own, under the names that an account's have. */
export function serviceLimits({ limits }: Pick<Settings, "limits">): Required<AccountLimits> {
  const { requestsPerSecond, messagesPerSecond, connectionsPerAccount, destinationsPerRequest } = limits;
  return { requestsPerSecond, messagesPerSecond, connections: connectionsPerAccount, destinationsPerRequest };
}

/** A reseller gives its clients no more than the service does; what the operator has given them may stay. 0 is no limit. */
export function checkLimits(
  manager: Manager,
  settings: ResellerSettings,
  wanted: AccountLimits | undefined,
  before: AccountLimits = {},
): void {
  if (wanted === undefined || !isReseller(manager)) return;
  for (const [name, most] of Object.entries(serviceLimits(settings)) as [keyof AccountLimits, number][]) {
    const value = wanted[name];
    if (value === undefined || value === before[name] || most === 0) continue;
    if (value === 0 || value > most)
      throw invalid(`limits.${name}`, `must be 1 to ${most}, which is the service's own`);
  }
}
