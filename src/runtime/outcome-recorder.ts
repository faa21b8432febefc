/**
 * Records in the store what became of things. Items are gathered for one turn of the event loop, or a little longer while all of them may wait, and
 * those of one kind are written with one call. No item is dropped, and none stops the others:
 *
 *   - While the store is away, items wait. They are written when it is back.
 *   - An item that the store refuses is found by splitting the call (isolate.ts). It is written with less in it where its kind knows how, and is
 *     else set aside.
 *   - A store that refuses one item after the other is ill. Then the items wait as well.
 *
 * A process that ends abandons what is left.
 */
import type { Clock, Timer } from "./clock.ts";
import { type Isolation, SetAsideLimit, writeIsolated } from "./isolate.ts";
import { type Log, LogLimiter } from "./log.ts";

/** How items of one kind are written. */
export interface OutcomeKind<Item> {
  /** Names the kind in the log. */
  readonly name: string;
  readonly write: (items: readonly Item[], batch: Batch) => Promise<unknown>;
  /** The same with less, for an item that is refused. */
  readonly reduced?: (item: Item) => Item;
  /** Keeps an item that is refused. Gives whether it is safe now; if not, it is tried again. Must not throw. */
  readonly setAside: (item: Item, error: unknown) => Promise<boolean>;
}

/** What was true of a batch when it was first written. It stays so however often it is tried. */
export interface Batch {
  readonly atMs: number;
  /** Somebody waits for it. */
  readonly isAwaited: boolean;
}

export interface OutcomeRecorderParts {
  readonly clock: Clock;
  readonly log: Log;
  /** What is recorded, in the words of the log. */
  readonly what: string;
  /** Whether a failure of the store says nothing of what it was told: the same call may work later. */
  readonly isStoreAway: (error: unknown) => boolean;
  /** How long to wait before the next try of an item that was refused so often. */
  readonly pauseMs: (refusals: number) => number;
  /** Writes wait for each other, and what comes meanwhile is in the next one. Else every turn of the event loop has its own. */
  readonly oneAtATime?: true;
  /** How long items that may wait do so for others: where there are few, each write costs as much for one as for several. */
  readonly gatherMs?: number;
  /** Called when the store has answered. */
  readonly onAnswer?: () => void;
}

/** Items of one call: whoever waits for the store meanwhile waits for no more than one. */
const MAX_ITEMS = 100;
/** With so many together no item waits for more. */
const ENOUGH_ITEMS = 32;
/** A store that takes longer for one call is behind. */
const BEHIND_MS = 1_000;

export class OutcomeRecorder {
  readonly #parts: OutcomeRecorderParts;
  readonly #limiter: LogLimiter;
  readonly #asideLimit: SetAsideLimit;
  /** Of each kind, what writes all that was gathered of it. */
  readonly #flushes: ((batch: Batch) => Promise<void> | null)[] = [];
  /** A flush is to come, or one that others wait for is under way; and how much was gathered since it began. */
  #flushing = false;
  #gathered = 0;
  /** Runs while all that is gathered may wait for more. */
  #gathering: Timer | null = null;
  /** Somebody waits for the next write. */
  #isHurried = false;
  /** Calls with items that are not written or set aside yet. */
  #writing = 0;
  /** The store's last word was that it is away or ill; and how many writes wait because it was. */
  #isAway = false;
  #waiting = 0;
  /** When each call of the store began that is under way, oldest first. */
  readonly #calls = new Set<{ readonly sinceMs: number }>();
  readonly #pauses = new Set<Timer>();
  #abandoned = false;
  readonly #idle: (() => void)[] = [];

  constructor(parts: OutcomeRecorderParts) {
    this.#parts = parts;
    this.#limiter = new LogLimiter(parts.clock);
    this.#asideLimit = new SetAsideLimit(parts.clock);
  }

  /** Gives what adds an item of this kind, which may wait for others or not. Kinds are written in the order in which they were named here. */
  kind<Item>(kind: OutcomeKind<Item>): (item: Item, mayWait?: boolean) => void {
    const isolation = (batch: Batch): Isolation<Item> => ({
      write: async (items) => {
        await this.call(() => kind.write(items, batch));
        this.#asideLimit.giveBack(kind.name, items.length);
      },
      isPassing: this.#parts.isStoreAway,
      pause: (error, refusals) => this.#pause(kind.name, error, refusals),
      setAside: (item, error) => this.#refused(kind, batch, item, error),
    });
    let gathered: Item[] = [];
    this.#flushes.push((batch) => {
      if (gathered.length === 0) return null;
      const items = gathered;
      gathered = [];
      return this.#writeAll(items, isolation(batch));
    });
    return (item, mayWait = false) => {
      gathered.push(item);
      this.#gathered++;
      if (!mayWait || this.#isHurried || this.#gathered >= ENOUGH_ITEMS) this.#flushSoon();
      else this.#flushLater();
    };
  }

  /** What is gathered now, or is next, keeps others from going on. */
  hurry(): void {
    this.#isHurried = true;
    if (this.#gathered > 0) this.#flushSoon();
  }

  /** Whether the store takes what it is told, and in time. While it does not, nothing more should happen of which it has to be told. */
  get keepsUp(): boolean {
    if (this.#isAway || this.#waiting > 0) return false;
    const [oldest] = this.#calls;
    return oldest === undefined || this.#parts.clock.monotonic() - oldest.sinceMs < BEHIND_MS;
  }

  /** Every call of the store: whether it is there is known by how the last one ended. */
  async call(work: () => Promise<unknown>): Promise<void> {
    const { clock, isStoreAway, onAnswer } = this.#parts;
    const call = { sinceMs: clock.monotonic() };
    this.#calls.add(call);
    try {
      await work();
      this.#isAway = false;
    } catch (error) {
      this.#isAway = isStoreAway(error);
      throw error;
    } finally {
      this.#calls.delete(call);
      if (!this.#isAway) onAnswer?.();
    }
  }

  /** Resolves when everything gathered so far is in the store. Ask for a bound around it: a store that is gone never has it. */
  settled(): Promise<void> {
    if (this.#gathered > 0) this.#flushSoon();
    return this.#isSettled ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }

  /** The process ends: what the store does not take now is left to whoever takes over. It never settles. */
  abandon(): void {
    this.#abandoned = true;
    this.#stopGathering();
    for (const pause of this.#pauses) pause.cancel();
  }

  get #isSettled(): boolean {
    return !this.#flushing && this.#gathered === 0 && this.#writing === 0;
  }

  #settle(): void {
    if (this.#isSettled) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #flushLater(): void {
    const { clock, gatherMs = 0 } = this.#parts;
    if (gatherMs === 0) this.#flushSoon();
    else if (!this.#flushing) this.#gathering ??= clock.after(gatherMs, () => this.#flush());
  }

  #flushSoon(): void {
    if (this.#flushing) return;
    this.#stopGathering();
    this.#flushing = true;
    setImmediate(() => this.#flush());
  }

  #stopGathering(): void {
    this.#gathering?.cancel();
    this.#gathering = null;
  }

  #flush(): void {
    this.#stopGathering();
    this.#flushing = true;
    this.#gathered = 0;
    const batch = { atMs: this.#parts.clock.now(), isAwaited: this.#isHurried };
    this.#isHurried = false;
    const writes = this.#flushes.map((flush) => flush(batch));
    if (this.#parts.oneAtATime === true) void Promise.all(writes).then(() => this.#flushed());
    else this.#flushed();
  }

  #flushed(): void {
    this.#flushing = false;
    if (this.#gathered > 0) this.#flushSoon();
    else this.#settle();
  }

  async #writeAll<Item>(items: readonly Item[], isolation: Isolation<Item>): Promise<void> {
    const writes: Promise<void>[] = [];
    for (let from = 0; from < items.length; from += MAX_ITEMS)
      writes.push(this.#write(items.slice(from, from + MAX_ITEMS), isolation));
    await Promise.all(writes);
  }

  /** Resolves when all is written that the store takes. What it refuses is tried on beside the next writes. */
  #write<Item>(items: readonly Item[], isolation: Isolation<Item>): Promise<void> {
    this.#writing++;
    return new Promise((resolve) => {
      void writeIsolated(items, { ...isolation, onOthersWritten: resolve }).then((isDone) => {
        if (!isDone) return;
        this.#writing--;
        this.#settle();
      });
    });
  }

  async #pause(command: string, error: unknown, refusals: number): Promise<boolean> {
    if (this.#abandoned) return false;
    const { clock, log, what, isStoreAway, pauseMs } = this.#parts;
    this.#limiter.write(`retry ${command}`, (more) =>
      log.error({ err: error, command, ...more }, `the store did not take ${what}; trying again`),
    );
    // An item that is refused keeps nobody waiting.
    const others = isStoreAway(error) ? 1 : 0;
    this.#waiting += others;
    await new Promise<void>((resolve) => {
      const pause = clock.after(pauseMs(refusals), () => {
        this.#pauses.delete(pause);
        resolve();
      });
      this.#pauses.add(pause);
    });
    this.#waiting -= others;
    return !this.#abandoned;
  }

  /** An item that the store refuses alone: recorded without what may be wrong with it, and else kept aside. Gives whether it is. */
  async #refused<Item>(
    { name, write, reduced, setAside }: OutcomeKind<Item>,
    batch: Batch,
    item: Item,
    error: unknown,
  ): Promise<boolean> {
    const { log, what, isStoreAway } = this.#parts;
    let why = error;
    try {
      if (reduced !== undefined) {
        await this.call(() => write([reduced(item)], batch));
        return true;
      }
    } catch (refusal) {
      if (isStoreAway(refusal)) return false;
      why = refusal;
    }
    if (!this.#asideLimit.take(name)) {
      this.#limiter.write(`held ${name}`, (more) =>
        log.error(
          { err: why, command: name, ...more },
          `the store refuses ${what}, one item after the other; they wait, and are not acknowledged`,
        ),
      );
      return false;
    }
    if (await setAside(item, why)) return true;
    this.#asideLimit.giveBack(name);
    return false;
  }
}
