/** Every account of the service, for rules and reports that are about all of them. */
import type { ManagedAccount } from "../store/port/accounts.ts";
import type { Store } from "../store/port/store.ts";

/** Accounts looked at in one command: other commands wait for it. */
const PAGE_ACCOUNTS = 200;

interface Filter {
  readonly kind: ManagedAccount["kind"] | null;
  readonly suspended: boolean | null;
  /** A reseller's clients; null for all accounts. */
  readonly resellerId?: number | null;
}

/** Page by page. */
export async function* allAccounts(
  store: Pick<Store, "accounts">,
  filter: Filter = { kind: null, suspended: null },
): AsyncGenerator<ManagedAccount> {
  for (let afterKey: string | null = null; ; ) {
    const range = { resellerId: null, ...filter, afterKey, limit: PAGE_ACCOUNTS };
    const page: ManagedAccount[] = await store.accounts(range);
    yield* page;
    if (page.length < PAGE_ACCOUNTS) return;
    afterKey = page.at(-1)!.key;
  }
}
