/**
 * The rounds that end what has waited too long: messages past their validity that nobody has in memory, parts whose receipt never
 * came, long messages from phones of which a part is missing; that drop what matched nothing and is too old or too much; and, where the
 * operator says how long messages are kept, that delete those that ended longer ago. One node makes them for all, whatever else it does: the one
 * that leads.
 */
import { type Clock, Interval } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import { PURGE_START, type PurgeCursor, type Store, SWEEP_START, type SweepCursor } from "../store/port.ts";
import type { DispatchSettings } from "./dispatcher.ts";

export interface MaintenanceParts {
  readonly store: Pick<
    Store,
    "cluster" | "sweep" | "sweepIncoming" | "purgeMessages" | "dropUnmatched" | "quarantined"
  >;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: DispatchSettings;
  /** How long messages are kept; 0 for ever. */
  readonly retentionDays: number;
}

const DAY_MS = 86_400_000;
/** How often it is looked whether messages have grown too old; how many are looked at at once, and how often in a round. */
const PURGE_EVERY_MS = 3_600_000;
const PURGE_MESSAGES = 500;
const PURGE_PAGES = 100;
/** How often it is looked whether what matched nothing has grown too old or too much; how many go at once, and how often in a round. */
const DROP_EVERY_MS = 60_000;
const DROP_ROWS = 500;
const DROP_PAGES = 200;

/** Pages looked at in one round; the next round goes on where this one stopped. */
const SWEEP_PAGES = 20;
const SWEEP_COUNT = 500;
/** How long the missing parts of a message from a phone are waited for. */
const INCOMING_WAIT_MS = 600_000;

export class Maintenance {
  readonly #parts: MaintenanceParts;
  #interval: Interval | null = null;
  #cursor: SweepCursor = SWEEP_START;
  #stopping = false;
  #purgeAtMs = 0;
  #purgeCursor: PurgeCursor = PURGE_START;
  #dropAtMs = 0;
  readonly counts = {
    /** Messages from phones, made whole here, to a number that is nobody's. */
    incomingUnmatched: 0,
    unmatchedDropped: 0,
    /** What the store has kept aside by now. */
    quarantined: 0,
  };

  constructor(parts: MaintenanceParts) {
    this.#parts = parts;
  }

  start(): void {
    const { clock, settings, log } = this.#parts;
    this.#interval = new Interval(clock, settings.sweepEveryMs, async () => {
      try {
        await this.#round();
      } catch (error) {
        log.warn({ err: error }, "the rounds could not begin; trying again");
      }
    });
  }

  /** Each on its own: one that fails keeps none of the others from being made. */
  readonly #rounds: Readonly<Record<string, (nowMs: number) => Promise<void>>> = {
    "overdue messages": (nowMs) => this.#sweep(nowMs),
    "messages from phones that are not whole": (nowMs) => this.#sweepIncoming(nowMs),
    "what matched nothing": (nowMs) => this.#drop(nowMs),
    "old messages": (nowMs) => this.#purgeMessages(nowMs),
  };

  async #round(): Promise<void> {
    const { store, clock, log } = this.#parts;
    if (!(await store.cluster()).leads) return;
    const nowMs = clock.now();
    for (const [round, make] of Object.entries(this.#rounds)) {
      try {
        await make(nowMs);
      } catch (error) {
        log.warn({ err: error, round }, "a round failed; trying again");
      }
    }
  }

  async #sweep(nowMs: number): Promise<void> {
    const { store, settings } = this.#parts;
    const { receiptWaitMs } = settings;
    for (let page = 0; page < SWEEP_PAGES && !this.#stopping; page++) {
      const swept = await store.sweep({ nowMs, receiptWaitMs, limit: SWEEP_COUNT, cursor: this.#cursor });
      this.#cursor = swept.cursor;
      if (!swept.more) break;
    }
  }

  async #sweepIncoming(nowMs: number): Promise<void> {
    const { store } = this.#parts;
    for (let page = 0; page < SWEEP_PAGES && !this.#stopping; page++) {
      const { unmatched, more } = await store.sweepIncoming({ nowMs, waitMs: INCOMING_WAIT_MS, limit: SWEEP_COUNT });
      this.counts.incomingUnmatched += unmatched;
      if (!more) break;
    }
  }

  async #drop(nowMs: number): Promise<void> {
    const { store, clock, settings } = this.#parts;
    if (clock.monotonic() < this.#dropAtMs) return;
    const beforeMs = nowMs - settings.unmatchedDays * DAY_MS;
    let more = true;
    for (let page = 0; more && page < DROP_PAGES && !this.#stopping; page++) {
      const dropped = await store.dropUnmatched({ beforeMs, keepRows: settings.unmatchedRows, limit: DROP_ROWS });
      this.counts.unmatchedDropped += dropped.count;
      more = dropped.more;
    }
    this.counts.quarantined = (await store.quarantined({ limit: 0 })).count;
    if (!more) this.#dropAtMs = clock.monotonic() + DROP_EVERY_MS;
  }

  async #purgeMessages(nowMs: number): Promise<void> {
    const { store, clock, retentionDays } = this.#parts;
    if (retentionDays === 0 || clock.monotonic() < this.#purgeAtMs) return;
    const beforeMs = nowMs - retentionDays * DAY_MS;
    for (let page = 0; page < PURGE_PAGES; page++) {
      if (this.#stopping) return;
      const retired = await store.purgeMessages({ beforeMs, nowMs, limit: PURGE_MESSAGES, cursor: this.#purgeCursor });
      this.#purgeCursor = retired.cursor;
      if (retired.more) continue;
      this.#purgeAtMs = clock.monotonic() + PURGE_EVERY_MS;
      return;
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#interval?.stop();
  }
}
