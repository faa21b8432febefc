/** The command line as a manager of accounts: what the use cases of admin/ want to have from it. */
import type { AccountParts } from "../admin/accounts.ts";
import type { Manager } from "../admin/manager.ts";
import { hashPassword } from "../auth/passwords.ts";
import { Snapshot } from "../catalogue/snapshot.ts";
import type { Settings } from "../settings/settings.ts";
import type { Store } from "../store/port/store.ts";
import { byCommandLine } from "./support.ts";

/** Whoever has the data may do all that an operator may. */
export function commandLine(): Manager {
  return { account: null, ...byCommandLine() };
}

export function accountParts(store: Store, settings: Settings): AccountParts & { readonly store: Store } {
  return {
    store,
    settings,
    hashPassword,
    currencyOf: async (ratePlan) => new Snapshot(await store.catalogue()).currencyOf(ratePlan),
  };
}
