/** When to try to connect to a database that may be away: one attempt at a time, less and less often, so that its return is no stampede. */
import { type Backoff, backoffMs } from "../../runtime/backoff.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import { DatabaseUnavailable } from "../errors.ts";
import { faultReason } from "./faults.ts";

export interface PostgresConnectionOptions {
  /** postgres://user:password@host:port/database, or with several hosts (servers.ts). */
  readonly url: string;
  /** All that this process may have: one writes, the others read. */
  readonly connections: number;
  /** How long one statement may take, and how long a read waits for a connection. 0 for no limit. */
  readonly statementTimeoutMs: number;
  readonly leaseMs: number;
  readonly log: Log;
  /** See LinkOptions. */
  readonly onlyReads?: boolean;
}

/**
 * An attempt that failed is followed by another after 100 to 200 ms, then after twice that, up to 5 s; but no later than a third of the lease:
 * whoever finds the database again first waits for a lease before it takes the others for dead, and they must all have tried by then.
 */
const RECONNECT: Backoff = { firstMs: 200, maxMs: 5_000, jitter: 0.5 };
const MAX_SHARE_OF_LEASE = 1 / 3;

/** When to try to connect: the state between attempts. */
export class Attempts {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #name: string;
  readonly #backoff: Backoff;
  #failures = 0;
  #nextAt = 0;
  #reason = "";

  constructor({ log, leaseMs }: PostgresConnectionOptions, name: string, clock: Clock) {
    this.#log = log;
    this.#backoff = { ...RECONNECT, maxMs: Math.min(RECONNECT.maxMs, leaseMs * MAX_SHARE_OF_LEASE) };
    this.#name = name;
    this.#clock = clock;
  }

  /** The last one failed. */
  get failing(): boolean {
    return this.#failures > 0;
  }

  get due(): boolean {
    return !this.failing || this.#clock.monotonic() >= this.#nextAt;
  }

  refusal(): DatabaseUnavailable {
    return new DatabaseUnavailable(`the database is away (${this.#reason})`, this.#reason);
  }

  failed(error: unknown): void {
    this.#reason = faultReason(error);
    if (!this.failing) this.#log.warn({ connection: this.#name, reason: this.#reason }, "the database is away");
    this.#failures += 1;
    this.#nextAt = this.#clock.monotonic() + backoffMs(this.#backoff, this.#failures);
  }

  succeeded(): void {
    if (this.failing)
      this.#log.info({ connection: this.#name, failedAttempts: this.#failures }, "the database is back");
    this.#failures = 0;
  }

  lost(reason: string | null): void {
    this.#log.warn({ connection: this.#name, reason }, "a connection to the database was lost");
  }
}
