/** Session tokens: given at login, kept only as a hash, good on every node until they end. */
import { hash } from "node:crypto";
import type { Clock } from "../runtime/clock.ts";
import { secret } from "../runtime/random.ts";
import type { Account, Store } from "../store/port.ts";

export const SESSION_IDLE_MS = 60 * 60_000;
export const SESSION_LONGEST_MS = 24 * 60 * 60_000;
const TOKEN_BYTES = 32;

function hashOf(token: string): string {
  return hash("sha256", token, "base64url");
}

export class Sessions {
  readonly #store: Pick<Store, "createSession" | "findSession" | "endSession">;
  readonly #clock: Clock;

  constructor(store: Pick<Store, "createSession" | "findSession" | "endSession">, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  async open(account: Account): Promise<string> {
    const token = secret(TOKEN_BYTES);
    await this.#store.createSession({ tokenHash: hashOf(token), accountId: account.id, nowMs: this.#clock.now() });
    return token;
  }

  find(token: string): Promise<Account | null> {
    const limits = { idleMs: SESSION_IDLE_MS, longestMs: SESSION_LONGEST_MS };
    return this.#store.findSession({ tokenHash: hashOf(token), nowMs: this.#clock.now(), ...limits });
  }

  end(token: string): Promise<void> {
    return this.#store.endSession({ tokenHash: hashOf(token) });
  }
}
