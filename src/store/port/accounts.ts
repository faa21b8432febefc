/** Who: accounts, how they are managed, and the audit of it. */
import type { Subscription } from "../../message/subscription.ts";
import type { Settlement } from "../../money/postings.ts";
import type { AccountRow, ApiKeyRow, PLAIN_ACCOUNT, Scope } from "../schema/account.ts";

export { type AccountKind, type AccountLimits, SCOPES, type Scope } from "../schema/account.ts";

/** Who came with a password or a session. */
export interface User {
  readonly username: string;
  /** Whether a second factor is in force for it. */
  readonly secondFactor: boolean;
}

/** Nothing of how a caller came. */
export type PlainAccount = Pick<AccountRow, (typeof PLAIN_ACCOUNT)[number]>;

export interface Account extends PlainAccount {
  /** Its standing wishes; absent where it has none. */
  readonly subscriptions?: readonly Subscription[];
  /** What the caller may do in its name; null for all. */
  readonly scopes: readonly Scope[] | null;
  /** Which of its users was found by a login or a session; null for whatever was found otherwise. */
  readonly user: User | null;
  /** The API key with which the caller came; null for a password or a session. */
  readonly apiKey: ApiKeyBounds | null;
  /** Whether the caller came with a password that a reseller has set, and that the client has not changed since. */
  readonly passwordOfReseller: boolean;
}

/** Until when and from where an API key is good. */
export type ApiKeyBounds = Pick<ApiKeyRow, "id" | "expiresAtMs" | "allowedAddresses">;

/** An account as whoever manages it sees it. */
export interface ManagedAccount
  extends PlainAccount,
    Pick<AccountRow, "version" | "creditLimitMicros" | "retryMinutes" | "createdAtMs" | "retiredAtMs"> {
  readonly parentKey: string | null;
  readonly usernames: readonly string[];
  readonly balanceMicros: bigint;
  /** Whom to tell when the balance goes below an amount. */
  readonly alert: { readonly belowMicros: bigint; readonly url: string } | null;
}

/** What is not named stays as it is. */
export interface AccountChange
  extends Partial<
    Pick<ManagedAccount, AccountSetting | "ratePlanId" | "defaultSender" | "creditLimitMicros" | "suspended">
  > {
  /** For good: its keys and sessions end, and nobody can use it any more. What it has goes where `settlement` says. */
  readonly retired?: true;
  readonly settlement?: Settlement;
}

/** What has a default where an account is made. */
type AccountSetting = "allowedSenders" | "allowedAddresses" | "limits" | "alert" | "retryMinutes";

export type AccountChangeOutcome =
  | { kind: "changed"; account: ManagedAccount }
  | { kind: "unknown" }
  /** Somebody has changed it since that version. */
  | { kind: "outdated"; account: ManagedAccount }
  /** It owes more than the new credit limit allows. */
  | { kind: "owes more" }
  /** It has or owes so much, and nothing that can be done with it was said. */
  | { kind: "holds money"; balanceMicros: bigint }
  /** The account that is to have its balance cannot take it. */
  | { kind: "no heir"; why: "unknown" | "retired" | "itself" | "other currency" | "too large" };

/** Who makes a change, for the audit. */
export interface Actor {
  /** An account's key, or "command line". */
  readonly name: string;
  /** Where the request came from. */
  readonly address: string | null;
  /** The id of the API key that it came with. */
  readonly apiKey?: string;
}

/** A change, for the audit. */
export interface Made {
  readonly by: Actor;
  readonly atMs: number;
}

/** Whose accounts somebody may manage: those of one reseller, or null for all. */
export interface Tenant {
  readonly resellerId: number | null;
}

export interface AuditEntry {
  readonly id: number;
  readonly atMs: number;
  readonly actor: string;
  readonly address: string | null;
  readonly action: string;
  readonly kind: string;
  readonly subject: string;
  /** JSON, without secrets. */
  readonly before: string | null;
  readonly after: string | null;
}

export interface NewAccount
  extends Pick<
      ManagedAccount,
      "key" | "kind" | "parentKey" | "currency" | "ratePlanId" | "defaultSender" | "creditLimitMicros"
    >,
    Partial<Pick<ManagedAccount, AccountSetting>> {
  readonly openingBalanceMicros: bigint;
  readonly callbackSecret: string;
  readonly username: string;
  readonly passwordHash: string;
  /** Whether a reseller makes it, and so knows its password. */
  readonly byReseller?: boolean;
  readonly by?: Actor;
  readonly atMs: number;
}

export type AccountCreation =
  | { kind: "created"; account: Account }
  | { kind: "key taken" | "username taken" | "unknown parent" }
  /** The name is in the namespace of a reseller whose client it is not. */
  | { kind: "name reserved"; field: "key" | "username"; resellerKey: string }
  /** A new reseller's namespace has an account in it that is not its client. */
  | { kind: "namespace taken"; accountKey: string };
