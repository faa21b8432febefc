/** An account as its row has it, and how the row is read and written. */
import type { Subscription } from "../message/subscription.ts";
import type { Account, ManagedAccount } from "../store/port/accounts.ts";
import type { Value } from "../store/sql.ts";

type InJson = "allowedSenders" | "allowedAddresses" | "limits";
type OfCaller = "subscriptions" | "scopes" | "user" | "apiKey" | "passwordOfReseller";

export interface AccountRow extends Omit<Account, InJson | OfCaller | "suspended"> {
  readonly suspended: number;
  readonly allowedSenders: string | null;
  readonly allowedAddresses: string | null;
  readonly limits: string;
  readonly subscriptions: string | null;
  /** Of the API key by which it was found. */
  readonly scopes?: string | null;
  readonly keyId?: string;
  readonly keyExpiresAtMs?: number | null;
  readonly keyAllowedAddresses?: string | null;
  /** Of the login or session by which it was found. */
  readonly username?: string;
  readonly secondFactor?: number;
  readonly setByReseller?: number;
}

export const ACCOUNT_COLUMNS = `account.id, account.key, account.kind, account.parent_id AS "parentId", account.currency,
  account.rate_plan_id AS "ratePlanId", account.default_sender AS "defaultSender", account.suspended,
  account.allowed_senders AS "allowedSenders", account.allowed_addresses AS "allowedAddresses", account.limits, account.subscriptions`;

/** A tenant of null is everything. */
export const IN_TENANT = "coalesce(account.parent_id, 0) = coalesce(CAST(? AS BIGINT), account.parent_id, 0)";

/** Nothing of how a caller came. */
export function plainAccountOf(row: AccountRow): Omit<Account, OfCaller> {
  const { id, key, kind, parentId, currency, ratePlanId, defaultSender } = row;
  return {
    ...{ id, key, kind, parentId, currency, ratePlanId, defaultSender },
    allowedSenders: parsed(row.allowedSenders),
    allowedAddresses: parsed(row.allowedAddresses),
    limits: JSON.parse(row.limits),
    suspended: row.suspended === 1,
  };
}

export function accountOf(row: AccountRow): Account {
  const { username, keyId, keyExpiresAtMs = null, keyAllowedAddresses = null } = row;
  const key = { expiresAtMs: keyExpiresAtMs, allowedAddresses: parsed<string[]>(keyAllowedAddresses) };
  return {
    ...plainAccountOf(row),
    ...(row.subscriptions === null ? {} : { subscriptions: subscriptionsIn(row.subscriptions).items }),
    scopes: parsed(row.scopes ?? null),
    user: username === undefined ? null : { username, secondFactor: row.secondFactor === 1 },
    apiKey: keyId === undefined ? null : { id: keyId, ...key },
    passwordOfReseller: row.setByReseller === 1,
  };
}

/** How the subscriptions stand in their column: ids are not used again. */
export interface KeptSubscriptions {
  readonly next: number;
  readonly items: readonly Subscription[];
}

export function subscriptionsIn(column: string | null): KeptSubscriptions {
  return parsed(column) ?? { next: 1, items: [] };
}

/** What an operator sets of an account, when it is made and later. */
type AccountSettings = Pick<
  ManagedAccount,
  InJson | "ratePlanId" | "defaultSender" | "alert" | "retryMinutes" | "creditLimitMicros"
>;

export const SETTING_COLUMNS = [
  "rate_plan_id",
  "default_sender",
  "allowed_senders",
  "allowed_addresses",
  "limits",
  "alert_below_micros",
  "alert_url",
  "retry_minutes",
  "credit_limit_micros",
];

export function settingValues(account: AccountSettings): Value[] {
  const { ratePlanId, defaultSender, allowedSenders, allowedAddresses, limits, alert } = account;
  const lists = [unparsed(allowedSenders), unparsed(allowedAddresses), JSON.stringify(limits)];
  const watched = [alert?.belowMicros ?? null, alert?.url ?? null];
  return [ratePlanId, defaultSender, ...lists, ...watched, unparsed(account.retryMinutes), account.creditLimitMicros];
}

/** JSON, or nothing. */
export function parsed<Thing>(text: string | null): Thing | null {
  return text === null ? null : JSON.parse(text);
}

export function unparsed(thing: unknown): string | null {
  return thing === null || thing === undefined ? null : JSON.stringify(thing);
}
