/** The keys of accounts for the log: a line names an account as people know it, and not by the number of its row. */
import { boundedCache } from "../runtime/cache.ts";

const MAX_NAMES = 10_000;

export class AccountNames {
  readonly #find: (accountId: number) => Promise<string | null>;
  readonly #known = boundedCache<number, string>(MAX_NAMES);

  constructor(find: (accountId: number) => Promise<string | null>) {
    this.#find = find;
  }

  /** Calls `write` with the account's key: at once where it is known, and with null where it cannot be found out. */
  tell(accountId: number, write: (account: string | null) => void): void {
    const known = this.#known.get(accountId);
    if (known !== undefined) {
      write(known);
      return;
    }
    this.#find(accountId).then(
      (key) => {
        if (key !== null) this.#known.set(accountId, key);
        write(key);
      },
      // The store is away: the line is worth more than the name.
      () => write(null),
    );
  }
}
