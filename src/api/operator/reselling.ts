/** What a reseller may do about its clients: within its own names, within the service's limits, and as far as the settings let it. */
import type { FastifyRequest } from "fastify";
import type { Settings } from "../../runtime/settings.ts";
import { isUsernameOf, keyPrefix, usernamePrefixes } from "../../store/names.ts";
import type { AccountLimits, Store } from "../../store/port.ts";
import { ApiError, badField } from "../errors.ts";
import { accountOf } from "../operation.ts";

export type ResellerSettings = Pick<Settings, "resellers" | "limits">;

export function isReseller(request: FastifyRequest): boolean {
  return accountOf(request).kind === "reseller";
}

const RULES = {
  clientKeys: "A reseller does not make or revoke its clients' API keys here.",
  clientPasswords: "A reseller does not set its clients' passwords here.",
} as const;

/** Refuses what the operator's settings keep from resellers. */
export function checkMayResell(
  request: FastifyRequest,
  { resellers }: ResellerSettings,
  rule: keyof typeof RULES,
): void {
  if (isReseller(request) && !resellers[rule]) throw new ApiError("forbidden", { description: RULES[rule] });
}

/** Why a key that the caller makes may not read messages, if it may not. */
export function messagesAreNotFor(request: FastifyRequest, { resellers }: ResellerSettings): ApiError | null {
  if (!isReseller(request) || resellers.clientMessages) return null;
  return new ApiError("forbidden", {
    variables: ["scopes"],
    description: "A key that a reseller makes does not read its client's messages: it has no scope track.",
  });
}

// --- Names -----------------------------------------------------------------------------------------------------------------

type Name = "key" | "username";

/** The same words whether or not there is such an account: otherwise they would tell. */
function notInNamespace(resellerKey: string, field: Name): ApiError {
  const [dash, dot, underscore] = usernamePrefixes(resellerKey);
  const begin = field === "key" ? keyPrefix(resellerKey) : `${dash}, ${dot} or ${underscore}`;
  return badField(field, `must be one of your own, which begin with ${begin} and go on`);
}

/** What a reseller calls its clients begins with its own key. */
export function checkNames(request: FastifyRequest, key: string | undefined, username: string): void {
  const { key: own } = accountOf(request);
  if (!isReseller(request)) return;
  if (key !== undefined && !key.startsWith(keyPrefix(own))) throw notInNamespace(own, "key");
  if (!isUsernameOf(own, username)) throw notInNamespace(own, "username");
}

/** A name that somebody has. Of accounts that are not its own a reseller does not hear. */
export async function nameTaken(
  request: FastifyRequest,
  store: Pick<Store, "account" | "findLogin">,
  field: Name,
  name: string,
): Promise<ApiError> {
  const { id, key: own } = accountOf(request);
  const description = field === "key" ? `There is an account ${name} already.` : `The username ${name} is taken.`;
  const taken = new ApiError("conflict", { variables: [field], description });
  if (!isReseller(request)) return taken;
  const owner =
    field === "key"
      ? await store.account({ resellerId: id, key: name })
      : ((await store.findLogin({ username: name }))?.account ?? null);
  const isOwn = owner !== null && (owner.id === id || owner.parentId === id);
  return isOwn ? taken : notInNamespace(own, field);
}

/** A name in somebody else's namespace. */
export function nameReserved(request: FastifyRequest, field: Name, resellerKey: string): ApiError {
  if (isReseller(request)) return notInNamespace(accountOf(request).key, field);
  return new ApiError("conflict", {
    variables: [field],
    description: `What begins so is for the clients of the reseller ${resellerKey}.`,
  });
}

// --- Limits ----------------------------------------------------------------------------------------------------------------

/** The service's own, under the names that an account's have. */
function serviceLimits({ limits }: ResellerSettings): Required<AccountLimits> {
  const { requestsPerSecond, messagesPerSecond, connectionsPerAccount, destinationsPerRequest } = limits;
  return { requestsPerSecond, messagesPerSecond, connections: connectionsPerAccount, destinationsPerRequest };
}

/** A reseller gives its clients no more than the service does; what the operator has given them may stay. 0 is no limit. */
export function checkLimits(
  request: FastifyRequest,
  settings: ResellerSettings,
  wanted: AccountLimits | undefined,
  before: AccountLimits = {},
): void {
  if (wanted === undefined || !isReseller(request)) return;
  for (const [name, most] of Object.entries(serviceLimits(settings)) as [keyof AccountLimits, number][]) {
    const value = wanted[name];
    if (value === undefined || value === before[name] || most === 0) continue;
    if (value === 0 || value > most)
      throw badField(`limits.${name}`, `must be 1 to ${most}, which is the service's own`);
  }
}
