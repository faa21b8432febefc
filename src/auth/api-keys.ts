/**
 * API keys: a secret in place of a username and password, for programs. A key is `hgk_`, its id, which may be seen, `_`, and 32 bytes that
 * nobody can guess; so a plain hash of it is as good to keep as the slow one of a password, and quick to look up. By what it begins with a
 * scanner finds a key that lies where it should not. Keys of earlier versions are an id, a dash and as many bytes.
 */
import { hash } from "node:crypto";
import type { Clock } from "../runtime/clock.ts";
import { publicId, secret } from "../runtime/random.ts";
import type { Account } from "../store/port/accounts.ts";
import type { Store } from "../store/port/store.ts";
import { RememberedAccounts } from "./remembered.ts";

const PREFIX = "hgk";
const ID_BYTES = 6;
const KEY_BYTES = 32;

/** What the store keeps of a key, and its id. */
export function storedForm(key: string): { id: string; keyHash: string } {
  const id = new RegExp(`^${PREFIX}_([0-9a-f]+)_`).exec(key)?.[1] ?? key.split("-")[0]!;
  return { id, keyHash: hashOf(key) };
}

function hashOf(key: string): string {
  return hash("sha256", key, "base64url");
}

export function newApiKey(): string {
  return [PREFIX, publicId(ID_BYTES), secret(KEY_BYTES)].join("_");
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

  /** The account of a key, which may be a key of yesterday; null for a key that there is not. */
  async find(key: string): Promise<Account | "expired" | null> {
    const keyHash = hashOf(key);
    const look = () => this.#store.findApiKey({ keyHash, nowMs: this.#clock.now() });
    const account = await this.#remembered.find(keyHash, look);
    return account !== null && this.#hasExpired(account) ? "expired" : account;
  }

  /** Whether `find` would still give this very account, without a look at the store. */
  remembers(account: Account): boolean {
    return this.#remembered.has(account) && !this.#hasExpired(account);
  }

  /** A key may expire while it is remembered. */
  #hasExpired({ apiKey }: Account): boolean {
    const expiresAtMs = apiKey?.expiresAtMs ?? null;
    return expiresAtMs !== null && expiresAtMs <= this.#clock.now();
  }

  /** Called when any account or key has changed. */
  forgetAll(): void {
    this.#remembered.forgetAll();
  }
}
