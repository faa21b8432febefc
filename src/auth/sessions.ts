/** Session tokens: given at login, kept only as a hash, good on every node until they end. */
import { hash } from "node:crypto";
import type { Clock } from "../runtime/clock.ts";
import { secret } from "../runtime/random.ts";
import type { Scope, User } from "../store/port/accounts.ts";
import type { LoginEvent } from "../store/port/credentials.ts";
import type { Store } from "../store/port/store.ts";

const SESSION_IDLE_MS = 60 * 60_000;
export const MAX_SESSION_MS = 24 * 60 * 60_000;
/** How long a program's token lasts. */
export const BEARER_SECONDS = 3_600;
const TOKEN_BYTES = 32;

/** Who logs in, and how. */
export interface Opening {
  readonly account: { readonly id: number };
  readonly user: Pick<User, "username">;
  readonly withFactor: boolean;
  /** For the audit; null where it is left out. */
  readonly event: LoginEvent | null;
  /** For a program's token, which ends at a fixed time: what it is good for, null for all. */
  readonly scopes?: readonly Scope[] | null;
}

export function tokenHashOf(token: string): string {
  return hash("sha256", token, "base64url");
}

export class Sessions {
  readonly #store: Pick<Store, "createSession" | "findSession" | "endSession">;
  readonly #clock: Clock;
  /** Told of each session that is ended here. */
  onEnd: (token: string) => void = () => undefined;

  constructor(store: Pick<Store, "createSession" | "findSession" | "endSession">, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  async open({ account, user, withFactor, event, scopes }: Opening): Promise<string> {
    const token = secret(TOKEN_BYTES);
    const nowMs = this.#clock.now();
    await this.#store.createSession({
      tokenHash: tokenHashOf(token),
      accountId: account.id,
      username: user.username,
      withFactor,
      nowMs,
      event,
      ...(scopes === undefined ? {} : { token: { expiresAtMs: nowMs + BEARER_SECONDS * 1_000, scopes } }),
    });
    return token;
  }

  find(token: string, lookOnly = false): ReturnType<Store["findSession"]> {
    const limits = { idleMs: SESSION_IDLE_MS, maxMs: MAX_SESSION_MS };
    return this.#store.findSession({ tokenHash: tokenHashOf(token), nowMs: this.#clock.now(), ...limits, lookOnly });
  }

  /** The same, without keeping the session alive. */
  look(token: string): ReturnType<Store["findSession"]> {
    return this.find(token, true);
  }

  async end(token: string): Promise<void> {
    await this.#store.endSession({ tokenHash: tokenHashOf(token) });
    this.onEnd(token);
  }
}
