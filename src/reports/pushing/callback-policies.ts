/**
 * How accounts want their reports (signing keys, retry schedule), remembered for a short while: reports come in bursts for the same
 * account, and the store need not be asked each time. A changed secret takes effect within that while; until then the old one
 * still verifies, because an account that changes its secret has both.
 */
import type { KeyObject } from "node:crypto";
import type { ReportBatch } from "../../message/message.ts";
import { type BoundedCache, expiringCache } from "../../runtime/cache.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { ReportStore } from "../../store/port/reports.ts";
import { signingKey } from "./report-request.ts";

/** Bounds the memory: at some 300 bytes each, a few megabytes. */
const ACCOUNTS_REMEMBERED = 10_000;

export interface OpenedPolicy {
  readonly keys: readonly KeyObject[];
  readonly retryMinutes: readonly number[] | null;
}

export class CallbackPolicies {
  readonly #store: ReportStore;
  readonly #remembered: BoundedCache<number, Promise<OpenedPolicy>>;

  constructor(store: ReportStore, clock: Clock, rememberMs: number) {
    this.#store = store;
    this.#remembered = expiringCache(ACCOUNTS_REMEMBERED, rememberMs, clock);
  }

  /** Rejects when the store does. */
  of({ accountId, kind }: Pick<ReportBatch, "accountId" | "kind">): Promise<OpenedPolicy> {
    const forAlert = kind === "alert";
    // Ids are above zero.
    const name = forAlert ? -accountId : accountId;
    const known = this.#remembered.get(name);
    if (known !== undefined) return known;

    const policy = this.#store
      .callbackPolicy({ accountId, forAlert })
      .then(({ secrets, retryMinutes }) => ({ keys: secrets.map(signingKey), retryMinutes }));
    policy.catch(() => this.#remembered.delete(name));
    this.#remembered.set(name, policy);
    return policy;
  }
}
