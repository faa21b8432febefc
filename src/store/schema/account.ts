/** Accounts, and what opens them. */
import type { Profile } from "../../message/profile.ts";
import type { Subscription } from "../../message/subscription.ts";
import { amount, flag, int, json, long, oneOf, type Row, Table, text } from "./table.ts";

/**
 * What an API key may be used for. "credentials": giving somebody a way in that does not end with the key. A key has it only if it was named.
 */
export const SCOPES = ["send", "track", "balance", "manage", "pins", "credentials"] as const;
export type Scope = (typeof SCOPES)[number];

export type AccountKind = "client" | "reseller" | "operator";

/** What an account may do at most, where it differs from the service's settings. */
export interface AccountLimits {
  readonly requestsPerSecond?: number;
  readonly messagesPerSecond?: number;
  readonly connections?: number;
  readonly destinationsPerRequest?: number;
}

/** How the subscriptions stand in their column: ids are not used again. */
export interface KeptSubscriptions {
  readonly next: number;
  readonly items: readonly Subscription[];
}

export const ACCOUNT = new Table("account", ["id"], {
  id: long({ numbered: true }),
  /** The public name, as in `accountKey`. */
  key: text(),
  kind: oneOf<AccountKind>()(),
  parentId: long({ null: true }),
  currency: text(),
  ratePlanId: text(),
  defaultSender: text({ null: true }),
  creditLimitMicros: amount(),
  callbackSecret: text(),
  /** While one is being changed. */
  oldCallbackSecret: text({ null: true, later: true }),
  /** How long each retry of a report waits. */
  retryMinutes: json<readonly number[]>()({ null: true }),
  suspended: flag({ default: false, later: true }),
  createdAtMs: long(),
  /** Grows with every change. */
  version: int({ default: 1, later: true }),
  /** Senders that it may use; null for any. */
  allowedSenders: json<readonly string[]>()({ null: true }),
  /** Networks that it may be used from; null for any. */
  allowedAddresses: json<readonly string[]>()({ null: true }),
  limits: json<AccountLimits>()(),
  alertBelowMicros: amount({ null: true }),
  alertUrl: text({ null: true }),
  retiredAtMs: long({ null: true, later: true }),
  subscriptions: json<KeptSubscriptions>()({ null: true, later: true }),
  profile: json<Profile>()({ null: true, later: true }),
});
export type AccountRow = Row<typeof ACCOUNT>;

/** What every caller's account is known by. */
export const PLAIN_ACCOUNT = [
  ...(["id", "key", "kind", "parentId", "currency", "ratePlanId", "defaultSender", "suspended"] as const),
  ...(["allowedSenders", "allowedAddresses", "limits"] as const),
] as const;

export const LOGIN = new Table("login", ["username"], {
  username: text(),
  accountId: long(),
  passwordHash: text(),
  /** By a reseller for its client, who has not changed it since. */
  setByReseller: flag(),
});

export const API_KEY = new Table("api_key", ["keyHash"], {
  keyHash: text(),
  /** The part of the key that may be seen. */
  id: text(),
  accountId: long(),
  name: text({ null: true }),
  /** What the caller may do in its name; null for all. */
  scopes: json<readonly Scope[]>()({ null: true }),
  /** Null for one that does not end by itself. */
  expiresAtMs: long({ null: true }),
  /** Networks; null for any. */
  allowedAddresses: json<readonly string[]>()({ null: true }),
  createdAtMs: long(),
  /** Noted at most once a minute; null for one that was never used. */
  usedAtMs: long({ null: true, later: true }),
});
export type ApiKeyRow = Row<typeof API_KEY>;
