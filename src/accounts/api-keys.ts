/**
 * API keys: a secret in place of a username and password, for programs. A key is made of its id, which may be seen, a dash, and 32
 * bytes that nobody can guess; so a plain hash of it is as good to keep as the slow one of a password, and quick to look up.
 */
import { hash } from "node:crypto";
import type { Clock } from "../runtime/clock.ts";
import { publicId, secret } from "../runtime/random.ts";
import type { Account, Store } from "../store/port.ts";
import { RememberedAccounts } from "./remembered.ts";

const ID_BYTES = 6;
const KEY_BYTES = 32;

/** What the store keeps of a key, and its id: what stands before the first dash. */
export function storedForm(key: string): { id: string; keyHash: string } {
  return { id: key.split("-")[0]!, keyHash: hashOf(key) };
}

function hashOf(key: string): string {
  return hash("sha256", key, "base64url");
}

export function newApiKey(): string {
  return `${publicId(ID_BYTES)}-${secret(KEY_BYTES)}`;
}

export class ApiKeys {
  readonly #store: Pick<Store, "findApiKey">;
  readonly #clock: Clock;
  readonly #remembered: RememberedAccounts;

  constructor(store: Pick<Store, "findApiKey">, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#remembered = new RememberedAccounts(clock);
  }

  find(key: string): Promise<Account | null> {
    const keyHash = hashOf(key);
    return this.#remembered.find(keyHash, () => this.#store.findApiKey({ keyHash, nowMs: this.#clock.now() }));
  }

  /** Whether `find` would still give this very account, without a look at the store. */
  remembers(account: Account): boolean {
    return this.#remembered.has(account);
  }

  /** Called when any account or key has changed. */
  forgetAll(): void {
    this.#remembered.forgetAll();
  }
}
