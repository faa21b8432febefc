/** Who manages accounts (an operator or a reseller over the API, or the command line, which is the operator's), and which accounts those are. */
import { MAX_AMOUNT, parseMicros } from "../money/amounts.ts";
import { textProblem } from "../runtime/text.ts";
import type { Account, Actor, ManagedAccount, Tenant } from "../store/port/accounts.ts";
import type { Store } from "../store/port/store.ts";
import { conflict, invalid, type Refused, unknownAccount } from "./refusal.ts";

/** Who makes a change, and when, for the audit. */
export interface SignedBy {
  readonly by: Actor;
  readonly atMs: number;
}

export interface Manager extends SignedBy {
  /** The account that calls; null for the command line. */
  readonly account: Account | null;
}

export type AccountReader = Pick<Store, "account">;

export function isReseller({ account }: Pick<Manager, "account">): boolean {
  return account?.kind === "reseller";
}

/** A reseller sees its clients, everybody else here every account. */
export function tenantOf({ account }: Pick<Manager, "account">): Tenant {
  return { resellerId: account === null || account.kind === "operator" ? null : account.id };
}

/** What the store wants to know of whoever makes a change. */
export function signed({ by, atMs }: Manager): SignedBy {
  return { by, atMs };
}

/** An account that the manager may know of. */
export async function managedAccount(
  store: AccountReader,
  manager: Pick<Manager, "account">,
  key: string,
): Promise<ManagedAccount> {
  const account = await store.account({ ...tenantOf(manager), key });
  if (account === null) throw unknownAccount(key);
  return account;
}

export function retired(): Refused {
  return conflict("the account is retired");
}

/** The same, of one that can still be changed. */
export async function livingAccount(
  store: AccountReader,
  manager: Pick<Manager, "account">,
  key: string,
): Promise<ManagedAccount> {
  const account = await managedAccount(store, manager, key);
  if (account.retiredAtMs !== null) throw retired();
  return account;
}

/** An amount of zero or more. */
export function amountIn(value: number | string, field: string): bigint {
  const text = String(value);
  const micros = parseMicros(text);
  if (micros === null || micros < 0n)
    throw invalid(field, "must be a decimal number of 0 or more with at most 6 places", text);
  if (micros > MAX_AMOUNT) throw invalid(field, "is too large");
  return micros;
}

/** A text that every store can hold. */
export function checkText(field: string, text: string): void {
  const says = textProblem(text);
  if (says !== null) throw invalid(field, says);
}
