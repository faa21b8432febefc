/**
 * Maintenance ends and deletes what has waited too long. It has one timer. At every tick it makes a round over its chores (chores.ts):
 *
 *   - it ends messages that are past their validity, and messages whose receipt never came;
 *   - it delivers long messages from phones of which a part never came;
 *   - it drops receipts and messages from phones that matched nothing and are too old or too many;
 *   - it fills in what rows of an older version do not have;
 *   - it deletes sessions, idempotency keys and logins that are too old;
 *   - it deletes messages that ended longer ago than the operator wants to keep them, and the short links of deleted ones.
 *
 * Several nodes may share a store. Only the node that leads makes the rounds, for all of them, whatever its roles are. A round is bounded: a
 * chore that has more to do goes on in the next round. A chore that fails is tried again in the next round, and keeps no other from being done.
 * With a mark of what is written (runtime/write-mark.ts), a chore that found nothing waits until something is; where none is due the store is not asked.
 */
import { SeenWrites, type WriteMark } from "../node/write-mark.ts";
import { type Clock, Interval } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import {
  type Chore,
  choresOf,
  type MaintenanceCounts,
  type MaintenanceSettings,
  type MaintenanceStore,
} from "./chores.ts";

export interface MaintenanceParts {
  readonly store: MaintenanceStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: MaintenanceSettings;
  /** Whether the store may have something new; without it that is asked. */
  readonly mark?: WriteMark | null;
}

export class Maintenance {
  readonly #parts: MaintenanceParts;
  readonly counts: MaintenanceCounts = { incomingUnmatched: 0, unmatchedDropped: 0, quarantined: 0 };
  /** Each chore, and when it is due on the monotonic clock. */
  readonly #dueAtMs: Map<Chore, number>;
  readonly #writes: SeenWrites;
  #interval: Interval | null = null;
  #stopping = false;

  constructor(parts: MaintenanceParts) {
    this.#parts = parts;
    this.#writes = new SeenWrites(parts.mark);
    const startMs = parts.clock.monotonic();
    this.#dueAtMs = new Map(
      choresOf(parts.store, parts.settings, this.counts).map((chore) => [
        chore,
        chore.waitsFirst === true ? startMs + chore.everyMs : 0,
      ]),
    );
  }

  start(): void {
    const { clock, settings, log } = this.#parts;
    this.#interval = Interval.together(clock, settings.everyMs, () =>
      this.#round().catch((error) => log.warn({ err: error }, "maintenance could not begin; trying again")),
    );
  }

  async #round(): Promise<void> {
    const due = [...this.#dueAtMs.keys()].filter((chore) => this.#isDue(chore));
    if (due.length > 0) await this.#writes.ask(() => this.#doAll(due));
  }

  #isDue(chore: Chore): boolean {
    if (this.#parts.clock.monotonic() < this.#dueAtMs.get(chore)!) return false;
    return this.#writes.isNew || chore.isOver?.() !== true;
  }

  async #doAll(chores: readonly Chore[]): Promise<void> {
    const { store, clock, log } = this.#parts;
    if (!(await store.cluster()).leads) return;
    const nowMs = clock.now();
    for (const chore of chores) {
      try {
        await this.#do(chore, nowMs);
      } catch (error) {
        log.warn({ err: error, chore: chore.name }, "a chore of maintenance failed; trying again");
      }
    }
  }

  async #do(chore: Chore, nowMs: number): Promise<void> {
    for (let page = 0; page < chore.pages && !this.#stopping; page++) {
      if (await chore.page(nowMs)) continue;
      this.#dueAtMs.set(chore, this.#parts.clock.monotonic() + chore.everyMs);
      return;
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#interval?.stop();
  }
}
