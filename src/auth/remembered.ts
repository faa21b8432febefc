/**
 * Accounts whose caller has shown who they are, remembered for a short while under a name that gives the secret away to nobody.
 * Any change of accounts drops them all, and a burst of requests with one secret costs one look.
 */
import { type BoundedCache, expiringCache } from "../runtime/cache.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Account } from "../store/port/accounts.ts";

const REMEMBERED_MS = 60_000;
const REMEMBERED_ACCOUNTS = 10_000;

export class RememberedAccounts {
  readonly #clock: Clock;
  readonly #accounts: BoundedCache<string, Account>;
  /** The same by account, for whoever was given one and asks whether it still stands. */
  #untilMs = new WeakMap<Account, number>();
  readonly #looking = new Map<string, Promise<Account | null>>();
  /** How often accounts have changed: what was read before a change is not remembered after it. */
  #changes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#accounts = expiringCache(REMEMBERED_ACCOUNTS, REMEMBERED_MS, clock);
  }

  /** The account of that name, or what `look` finds; finding nobody is not remembered. */
  async find(name: string, look: () => Promise<Account | null>): Promise<Account | null> {
    const known = this.#accounts.get(name);
    if (known !== undefined) return known;
    let looking = this.#looking.get(name);
    if (looking === undefined) {
      looking = this.#look(name, look).finally(() => this.#looking.delete(name));
      this.#looking.set(name, looking);
    }
    return looking;
  }

  async #look(name: string, look: () => Promise<Account | null>): Promise<Account | null> {
    const changes = this.#changes;
    const account = await look();
    if (account === null || changes !== this.#changes) return account;
    this.#accounts.set(name, account);
    this.#untilMs.set(account, this.#clock.monotonic() + REMEMBERED_MS);
    return account;
  }

  /** Whether this is an account that was found, and is still remembered. */
  has(account: Account): boolean {
    const untilMs = this.#untilMs.get(account);
    return untilMs !== undefined && untilMs > this.#clock.monotonic();
  }

  forgetAll(): void {
    this.#changes++;
    this.#accounts.clear();
    this.#untilMs = new WeakMap();
    this.#looking.clear();
  }
}
