/** What pushing reports is made with: its parts, what an operator can set about it, and what holds unless he does. */
import type { LiveTap } from "../../events/live.ts";
import type { Trace } from "../../events/trace.ts";
import type { Resolve } from "../../http/connector.ts";
import type { AddressPolicy } from "../../http/guard.ts";
import type { Transport } from "../../http/transport.ts";
import type { Lease } from "../../node/lease.ts";
import type { WriteMark } from "../../node/write-mark.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { Random } from "../../runtime/random.ts";
import type { Settings } from "../../settings/settings.ts";
import type { ReportStore } from "../../store/port/reports.ts";
import type { Store } from "../../store/port/store.ts";

export interface PushOptions {
  readonly store: ReportStore & Pick<Store, "accountKey">;
  readonly clock: Clock;
  /** By which receivers live; the same clock unless told. */
  readonly realClock?: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly policy: AddressPolicy;
  readonly settings: PushSettings;
  /** Without it no request begins: another node may have the reports by now. */
  readonly lease: Lease;
  /** How names become addresses; the system's way unless told. */
  readonly resolve?: Resolve;
  /** How requests are made; over HTTP unless told. */
  readonly transport?: Transport;
  /** Where tries are noted for people; nowhere unless told. */
  readonly trace?: Trace;
  /** Whether the store may have something new; without it the store is asked at each poll. */
  readonly mark?: WriteMark | null;
  /** Hears of tries, while somebody watches. */
  readonly live?: LiveTap;
}

export const PUSH_DEFAULTS = {
  connectionsPerHost: 4,
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 10_000,
  bodyTimeoutMs: 10_000,
  answerLimitBytes: 4096,
  excerptBytes: 200,
  retries: 20,
  jitter: 0.1,
  retryAfterLimitMs: 3_600_000,
  /** Items in one request, at most (the API family's limit is 100). */
  requestItems: 100,
  /** Report items in memory at a time, for all accounts and hosts together. */
  memoryItems: 50_000,
  /** Lanes known at a time: an account's reports to a host each. */
  maxLanes: 2000,
  /** A lane with nothing to do is forgotten after this. */
  idleLaneMs: 600_000,
  /** So many failures in a row open a lane's circuit. */
  failuresToOpen: 5,
  /** How often the store is asked for what has come due. */
  pollMs: 1000,
  /** How long to wait with the store after it failed. */
  storeRetryMs: 1000,
  /** How long an account's signing secrets are remembered. */
  secretsMs: 30_000,
  /** How long a stop waits for answers to requests under way, and then again for the store. */
  stopMs: 3000,
};
export type PushSettings = Readonly<typeof PUSH_DEFAULTS>;

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
