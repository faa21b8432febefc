/**
 * Who a username and password belong to. A right pair is remembered for a short while under a keyed hash, so that Basic
 * authentication costs microseconds and not a scrypt each time; any change of accounts drops what is remembered. What stays is which stored
 * hash a pair was right for: as long as the user has that one, the pair is right, and somebody who changes accounts all day
 * does not have everybody's passwords checked again and again.
 */
import { createHmac, randomBytes } from "node:crypto";
import { boundedCache } from "../runtime/cache.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Account } from "../store/port/accounts.ts";
import type { Store } from "../store/port/store.ts";
import { type Asker, PasswordChecker } from "./passwords.ts";
import { RememberedAccounts } from "./remembered.ts";

const MAX_PAIRS = 10_000;

export class Credentials {
  readonly #store: Pick<Store, "findLogin">;
  readonly #checker: PasswordChecker;
  /** Of this process alone, so that what is remembered says nothing to whoever reads the memory of another. */
  readonly #key = randomBytes(32);
  readonly #remembered: RememberedAccounts;
  /** The stored hash that a pair was right for. */
  readonly #rightFor = boundedCache<string, string>(MAX_PAIRS);

  constructor(store: Pick<Store, "findLogin">, clock: Clock) {
    this.#store = store;
    this.#checker = new PasswordChecker(clock);
    this.#remembered = new RememberedAccounts(clock);
  }

  async verify(username: string, password: string, asker?: Asker): Promise<Account | null> {
    const pair = createHmac("sha256", this.#key).update(`${username.length}:${username}${password}`).digest("base64");
    return this.#remembered.find(pair, async () => {
      const login = await this.#store.findLogin({ username });
      const kept = login?.passwordHash ?? null;
      const known = kept !== null && this.#rightFor.get(pair) === kept;
      const right = known || (await this.#checker.check(password, kept, asker));
      this.#rightFor.delete(pair);
      if (!right || login === null) return null;
      this.#rightFor.set(pair, login.passwordHash);
      return login.account;
    });
  }

  /** Called when any account or login has changed. */
  forgetAll(): void {
    this.#remembered.forgetAll();
  }
}
