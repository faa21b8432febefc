/**
 * Accounts whose caller has shown who they are, remembered for a short while under a name that gives the secret away to nobody.
 * Any change of accounts drops them all, and a burst of requests with one secret costs one look.
 */
import type { Clock } from "../runtime/clock.ts";
import type { Account } from "../store/port.ts";

const REMEMBERED_MS = 60_000;
const REMEMBERED_ACCOUNTS = 10_000;

export class RememberedAccounts {
  readonly #clock: Clock;
  readonly #accounts = new Map<string, { account: Account; untilMs: number }>();
  /** The same by account, for whoever was given one and asks whether it still stands. */
  #untilMs = new WeakMap<Account, number>();
  readonly #looking = new Map<string, Promise<Account | null>>();
  /** How often accounts have changed: what was read before a change is not remembered after it. */
  #changes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The account of that name, or what `look` finds; finding nobody is not remembered. */
  async find(name: string, look: () => Promise<Account | null>): Promise<Account | null> {
    const known = this.#accounts.get(name);
    if (known !== undefined && known.untilMs > this.#clock.monotonic()) return known.account;
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
    this.#accounts.delete(name);
    if (this.#accounts.size >= REMEMBERED_ACCOUNTS) {
      const oldest = this.#accounts.keys().next().value;
      if (oldest !== undefined) this.#accounts.delete(oldest);
    }
    const untilMs = this.#clock.monotonic() + REMEMBERED_MS;
    this.#accounts.set(name, { account, untilMs });
    this.#untilMs.set(account, untilMs);
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
