/** What an operator can set about pushing reports, and what holds unless he does. */

import type { AddressPolicy } from "../../http/guard.ts";
import type { TransportSettings } from "../../http/transport.ts";
import type { Settings } from "../../settings/settings.ts";
import type { RetryRules } from "./retry.ts";

export interface PushSettings extends TransportSettings, RetryRules {
  /** Items in one request, at most (the API family's limit is 100). */
  readonly requestItems: number;
  /** Report items in memory at a time, for all accounts and hosts together. */
  readonly memoryItems: number;
  /** Lanes known at a time: an account's reports to a host each. */
  readonly maxLanes: number;
  /** A lane with nothing to do is forgotten after this. */
  readonly idleLaneMs: number;
  /** So many failures in a row open a lane's circuit. */
  readonly failuresToOpen: number;
  /** How often the store is asked for what has come due. */
  readonly pollMs: number;
  /** How long to wait with the store after it failed. */
  readonly storeRetryMs: number;
  /** How long an account's signing secrets are remembered. */
  readonly secretsMs: number;
  /** How long a stop waits for answers to requests under way, and then again for the store. */
  readonly stopMs: number;
}

export const PUSH_DEFAULTS: PushSettings = {
  connectionsPerHost: 4,
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 10_000,
  bodyTimeoutMs: 10_000,
  answerLimitBytes: 4096,
  excerptBytes: 200,
  retries: 20,
  jitter: 0.1,
  retryAfterLimitMs: 3_600_000,
  requestItems: 100,
  memoryItems: 50_000,
  maxLanes: 2000,
  idleLaneMs: 600_000,
  failuresToOpen: 5,
  pollMs: 1000,
  storeRetryMs: 1000,
  secretsMs: 30_000,
  stopMs: 3000,
};

/** How callbacks are made under these settings, and to which addresses. The sandbox's client runs on the same machine. */
export function pushRules(
  { connectionsPerHost, timeoutMs, memoryReports, dangerousAllowPrivateCallbacks: allowPrivate }: Settings["reports"],
  sandbox: boolean,
): { readonly settings: PushSettings; readonly policy: AddressPolicy } {
  return {
    policy: { allowLoopback: sandbox || allowPrivate, allowPrivate },
    settings: {
      ...PUSH_DEFAULTS,
      connectionsPerHost,
      connectTimeoutMs: timeoutMs,
      headersTimeoutMs: timeoutMs,
      bodyTimeoutMs: timeoutMs,
      memoryItems: memoryReports,
    },
  };
}
