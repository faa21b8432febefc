/** An account as its row has it, and what is told of it. */
import type { Account, PlainAccount } from "../store/port/accounts.ts";
import { ACCOUNT, type AccountRow, PLAIN_ACCOUNT } from "../store/schema/account.ts";

/** With how somebody has come in its name. */
export interface CallerRow extends PlainAccount, Pick<AccountRow, "subscriptions"> {
  /** Of the API key or token by which it was found. */
  readonly scopes?: Account["scopes"];
  readonly keyId?: string;
  readonly keyExpiresAtMs?: number | null;
  /** JSON. */
  readonly keyAllowedAddresses?: string | null;
  /** Of the login or session by which it was found. */
  readonly username?: string;
  readonly secondFactor?: number;
  readonly setByReseller?: boolean;
}

export const CALLER_COLUMNS = ACCOUNT.named(...PLAIN_ACCOUNT, "subscriptions");

/** A tenant of null is everything. */
export const IN_TENANT = "coalesce(account.parent_id, 0) = coalesce(CAST(? AS BIGINT), account.parent_id, 0)";

export function accountOf(row: CallerRow): Account {
  const { subscriptions, username, keyId, keyExpiresAtMs = null, keyAllowedAddresses = null } = row;
  const key = { expiresAtMs: keyExpiresAtMs, allowedAddresses: JSON.parse(keyAllowedAddresses ?? "null") };
  return {
    ...(Object.fromEntries(PLAIN_ACCOUNT.map((name) => [name, row[name]])) as PlainAccount),
    ...(subscriptions === null ? {} : { subscriptions: subscriptions.items }),
    scopes: row.scopes ?? null,
    user: username === undefined ? null : { username, secondFactor: row.secondFactor === 1 },
    apiKey: keyId === undefined ? null : { id: keyId, ...key },
    passwordOfReseller: row.setByReseller === true,
  };
}
