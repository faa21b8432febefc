/** Every account of the service, for rules and reports that are about all of them. */
import type { ManagedAccount } from "../store/port/accounts.ts";
import type { Store } from "../store/port/store.ts";

/** Accounts looked at in one command: other commands wait for it. */
const PAGE_ACCOUNTS = 200;

/** Page by page. */
export async function* allAccounts(
  store: Pick<Store, "accounts">,
  filter: Partial<Parameters<Store["accounts"]>[0]> = {},
): AsyncGenerator<ManagedAccount> {
  for (let afterKey: string | null = null; ; ) {
    const range = { resellerId: null, kind: null, suspended: null, ...filter, afterKey, limit: PAGE_ACCOUNTS };
    const page: ManagedAccount[] = await store.accounts(range);
    yield* page;
    if (page.length < PAGE_ACCOUNTS) return;
    afterKey = page.at(-1)!.key;
  }
}
