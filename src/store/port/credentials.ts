/** What shows who somebody is: logins, second factors, API keys. */
import type { ApiKeyRow } from "../schema/account.ts";
import type { Account, Actor, Scope } from "./accounts.ts";

export interface Login {
  readonly account: Account;
  readonly passwordHash: string;
}

export interface SecondFactor {
  /** In base32. */
  readonly secret: string;
  /** Also tells this one from another that the user begins later. */
  readonly begunAtMs: number;
  /** Null while it is not in force yet. */
  readonly confirmedAtMs: number | null;
  /** The last time step of which a code was taken. */
  readonly lastStep: number;
  /** Recovery codes that were not used yet. */
  readonly recoveryCodes: number;
}

/** What shows that somebody has the second factor. Each is taken once. */
export type FactorProof =
  | { readonly kind: "code"; readonly begunAtMs: number; readonly step: number }
  | { readonly kind: "recovery code"; readonly codeHash: string };

/** What the audit says of logins: a session was opened, a second factor was wrong, wrong ones have to wait. */
export type LoginAction = "open" | "wrongCode" | "wait";

export interface LoginEvent {
  readonly action: LoginAction;
  /** Who logs in, or says so; null where wrong ones are counted whoever the user is. */
  readonly username: string | null;
  readonly address: string;
  /** More about it, without secrets. */
  readonly facts: Readonly<Record<string, string>>;
}

/** What may be seen of an API key. */
export type ApiKey = Omit<ApiKeyRow, "keyHash" | "accountId"> & { readonly accountKey: string };

export interface NewApiKey
  extends Pick<ApiKey, "id" | "accountKey" | "name">,
    Partial<Pick<ApiKey, "scopes" | "expiresAtMs" | "allowedAddresses">> {
  readonly keyHash: string;
  /** The id of the API key with which it was made, for the audit. */
  readonly madeWith?: string | null;
  readonly by?: Actor;
  readonly atMs: number;
}

/** A session that somebody opens. */
export interface NewSession {
  readonly tokenHash: string;
  readonly accountId: number;
  readonly username: string;
  /** Whether a second factor was shown: without it the session ends when one is put in force. */
  readonly withFactor: boolean;
  readonly nowMs: number;
  readonly event: LoginEvent | null;
  /** Of a program's token: when it ends, whatever happens, and what it is good for if not for all. */
  readonly token?: { expiresAtMs: number; scopes: readonly Scope[] | null };
}
