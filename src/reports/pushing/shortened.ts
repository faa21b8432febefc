/**
 * Reports that are given up before the schedule by which they were kept has ended: their account's schedule was made shorter meanwhile, and they have been
 * tried more often than it has tries. The log has a line for each report that is given up; here many of one account become one line that says why.
 */
import type { AccountNames } from "../../events/account-names.ts";
import type { Clock, Timer } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";

const GATHER_MS = 1_000;
const SAYS =
  "reports are dead letters now, because their account has fewer retries than they have had (retryMinutes); they can be replayed";

export class ShortenedSchedules {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #names: AccountNames;
  #counts = new Map<number, number>();
  #timer: Timer | null = null;

  constructor(parts: { readonly clock: Clock; readonly log: Log; readonly names: AccountNames }) {
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#names = parts.names;
  }

  /** A report was given up after so many tries, by a schedule with so many retries; null for the service's own. */
  gaveUp(accountId: number, attempts: number, retryMinutes: readonly number[] | null): void {
    if (retryMinutes === null || attempts <= retryMinutes.length + 1) return;
    this.#counts.set(accountId, (this.#counts.get(accountId) ?? 0) + 1);
    this.#timer ??= this.#clock.after(GATHER_MS, () => this.tell());
  }

  /** Says what was gathered so far. */
  tell(): void {
    this.#timer?.cancel();
    this.#timer = null;
    const counts = this.#counts;
    this.#counts = new Map();
    for (const [accountId, reports] of counts)
      this.#names.tell(accountId, (account) => this.#log.warn({ account, reports }, SAYS));
  }
}
