/**
 * Who a username and password belong to. A right pair is remembered for a short while under a keyed hash, so that Basic
 * authentication costs microseconds and not a scrypt each time; any change of accounts drops what is remembered.
 */
import { createHmac, randomBytes } from "node:crypto";
import type { Clock } from "../runtime/clock.ts";
import type { Account, Store } from "../store/port.ts";
import { PasswordChecker } from "./passwords.ts";

const REMEMBERED_MS = 60_000;
const REMEMBERED_PAIRS = 10_000;

export class Credentials {
  readonly #store: Pick<Store, "findLogin">;
  readonly #clock: Clock;
  readonly #checker = new PasswordChecker();
  /** Of this process alone, so that what is remembered says nothing to whoever reads the memory of another. */
  readonly #key = randomBytes(32);
  readonly #remembered = new Map<string, { account: Account; untilMs: number }>();
  /** Checks under way, so that a burst with one pair costs one scrypt. */
  readonly #checking = new Map<string, Promise<Account | null>>();
  /** How often accounts have changed: what was read before a change is not remembered after it. */
  #changes = 0;

  constructor(store: Pick<Store, "findLogin">, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  async verify(username: string, password: string): Promise<Account | null> {
    const pair = createHmac("sha256", this.#key).update(`${username.length}:${username}${password}`).digest("base64");
    const known = this.#remembered.get(pair);
    if (known !== undefined && known.untilMs > this.#clock.monotonic()) return known.account;
    let check = this.#checking.get(pair);
    if (check === undefined) {
      check = this.#check(pair, username, password).finally(() => this.#checking.delete(pair));
      this.#checking.set(pair, check);
    }
    return check;
  }

  async #check(pair: string, username: string, password: string): Promise<Account | null> {
    const changes = this.#changes;
    const login = await this.#store.findLogin({ username });
    const right = await this.#checker.check(password, login?.passwordHash ?? null);
    if (!right || login === null) return null;
    if (changes !== this.#changes) return login.account;
    this.#remembered.delete(pair);
    if (this.#remembered.size >= REMEMBERED_PAIRS) {
      const oldest = this.#remembered.keys().next().value;
      if (oldest !== undefined) this.#remembered.delete(oldest);
    }
    this.#remembered.set(pair, { account: login.account, untilMs: this.#clock.monotonic() + REMEMBERED_MS });
    return login.account;
  }

  /** Called when any account or login has changed. */
  forgetAll(): void {
    this.#changes++;
    this.#remembered.clear();
    this.#checking.clear();
  }
}
