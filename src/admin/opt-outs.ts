/** Opt-out lists: numbers to which nothing is sent, by the whole service or by one account. */
import { isDestination, NUMBER_FORM, plainPhone } from "../sms/addresses.ts";
import type { Store } from "../store/port/store.ts";
import { livingAccount, type Manager, managedAccount, signed } from "./manager.ts";
import { invalid, unknownAccount } from "./refusal.ts";

type OptOutStore = Pick<Store, "account" | "optOuts" | "optOut" | "optIn">;

export interface OptOutPage {
  readonly after: string;
  /** How the numbers begin. */
  readonly prefix?: string;
  readonly limit: number;
}

/** `accountKey` says whose list it is; null for the service's own. */
export async function optOuts(
  store: OptOutStore,
  manager: Manager,
  accountKey: string | null,
  page: OptOutPage,
): Promise<{ readonly number: string; readonly atMs: number }[]> {
  if (accountKey !== null) await managedAccount(store, manager, accountKey);
  const numbers = await store.optOuts({ accountKey, ...page });
  if (numbers === "unknown account") throw unknownAccount(accountKey ?? "");
  return numbers;
}

/** Puts a number on a list, or takes it off, and gives it in the form in which it stands there. */
export async function setOptOut(
  store: OptOutStore,
  manager: Manager,
  accountKey: string | null,
  { number: written, listed }: { readonly number: string; readonly listed: boolean },
): Promise<string> {
  const number = plainPhone(written);
  if (!isDestination(number)) throw invalid("number", `must be ${NUMBER_FORM}`, written);
  if (accountKey !== null) await livingAccount(store, manager, accountKey);
  const change = { accountKey, number, ...signed(manager) };
  const done = await (listed ? store.optOut(change) : store.optIn(change));
  if (done === "unknown account") throw unknownAccount(accountKey ?? "");
  return number;
}
