/**
 * How accounts want their reports (signing keys, retry schedule), remembered for a short while: reports come in bursts for the same
 * account, and the store need not be asked each time. A changed secret takes effect within that while; until then the old one
 * still verifies, because an account that changes its secret has both.
 */
import type { KeyObject } from "node:crypto";
import type { Clock } from "../../runtime/clock.ts";
import { signingKey } from "./report-request.ts";
import type { ReportStore } from "./report-store.ts";

/** Bounds the memory: at some 300 bytes each, a few megabytes. */
const ACCOUNTS_REMEMBERED = 10_000;

export interface OpenedPolicy {
  readonly keys: readonly KeyObject[];
  readonly retryMinutes: readonly number[] | null;
}

export class CallbackPolicies {
  readonly #store: ReportStore;
  readonly #clock: Clock;
  readonly #rememberMs: number;
  readonly #remembered = new Map<number, { readonly policy: Promise<OpenedPolicy>; readonly untilMs: number }>();

  constructor(store: ReportStore, clock: Clock, rememberMs: number) {
    this.#store = store;
    this.#clock = clock;
    this.#rememberMs = rememberMs;
  }

  /** Rejects when the store does. */
  of(accountId: number): Promise<OpenedPolicy> {
    const nowMs = this.#clock.monotonic();
    const known = this.#remembered.get(accountId);
    if (known !== undefined && known.untilMs > nowMs) return known.policy;

    const policy = this.#store
      .callbackPolicy({ accountId })
      .then(({ secrets, retryMinutes }) => ({ keys: secrets.map(signingKey), retryMinutes }));
    policy.catch(() => this.#remembered.delete(accountId));
    if (this.#remembered.size >= ACCOUNTS_REMEMBERED) this.#remembered.clear();
    this.#remembered.set(accountId, { policy, untilMs: nowMs + this.#rememberMs });
    return policy;
  }
}
