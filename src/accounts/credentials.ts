/**
 * Who a username and password belong to. A right pair is remembered for a short while under a keyed hash, so that Basic
 * authentication costs microseconds and not a scrypt each time; any change of accounts drops what is remembered.
 */
import { createHmac, randomBytes } from "node:crypto";
import type { Clock } from "../runtime/clock.ts";
import type { Account, Store } from "../store/port.ts";
import { PasswordChecker } from "./passwords.ts";
import { RememberedAccounts } from "./remembered.ts";

export class Credentials {
  readonly #store: Pick<Store, "findLogin">;
  readonly #checker = new PasswordChecker();
  /** Of this process alone, so that what is remembered says nothing to whoever reads the memory of another. */
  readonly #key = randomBytes(32);
  readonly #remembered: RememberedAccounts;

  constructor(store: Pick<Store, "findLogin">, clock: Clock) {
    this.#store = store;
    this.#remembered = new RememberedAccounts(clock);
  }

  async verify(username: string, password: string): Promise<Account | null> {
    const pair = createHmac("sha256", this.#key).update(`${username.length}:${username}${password}`).digest("base64");
    return this.#remembered.find(pair, async () => {
      const login = await this.#store.findLogin({ username });
      const right = await this.#checker.check(password, login?.passwordHash ?? null);
      return right && login !== null ? login.account : null;
    });
  }

  /** Called when any account or login has changed. */
  forgetAll(): void {
    this.#remembered.forgetAll();
  }
}
