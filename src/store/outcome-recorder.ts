/**
 * Records in the store what became of things. Items are gathered for one turn of the event loop, or a little longer while all of them may wait, and
 * those of one kind are written with one call. No item is dropped, and none stops the others:
 *
 *      write(all) ──refused──▶ write(first half), write(second half) ──▶ … ──▶ write(one) ──refused MAX_TRIES times──▶ set aside
 *          └──the store is away──▶ pause ──▶ the same once more: what was written before is not written again
 *
 *   - While the store is away, items wait. They are written when it is back.
 *   - An item that is refused alone is tried a few times more, for the fault may have been everybody's and be over by then. It is then written with
 *     less in it where its kind knows how, and is else set aside.
 *   - A store that refuses one item after the other is ill. Then the items wait as well, and so does what cannot be set aside: an item is safe
 *     when it is written or set aside, and not before.
 *
 * A process that ends abandons what is left.
 */
import type { Clock, Timer } from "../runtime/clock.ts";
import { type Log, LogLimiter } from "../runtime/log.ts";
import { isStoreAway } from "./port/errors.ts";

/** How items of one kind are written. */
export interface OutcomeKind<Item> {
  /** Names the kind in the log. */
  readonly name: string;
  /** Writes these together, or none of them. */
  readonly write: (items: readonly Item[], batch: BatchFacts) => Promise<unknown>;
  /** The same with less, for an item that is refused. */
  readonly reduced?: (item: Item) => Item;
  /** Keeps an item that is refused. Gives whether it is safe now; if not, it is tried again. Must not throw. */
  readonly setAside: (item: Item, error: unknown) => Promise<boolean>;
}

/** What was true of a batch when it was first written. It stays so however often it is tried. */
export interface BatchFacts {
  readonly atMs: number;
  /** Somebody waits for it. */
  readonly isAwaited: boolean;
}

export interface OutcomeRecorderParts {
  readonly clock: Clock;
  readonly log: Log;
  /** What is recorded, in the words of the log. */
  readonly what: string;
  /** How long to wait before the next try. */
  readonly retryMs: number;
  /** The same for what is refused and cannot be set aside: what is wrong will take a while. */
  readonly retryLaterMs?: number;
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
/** How often an item is tried alone before it is set aside. */
export const MAX_TRIES = 4;
/** Bad items of one call that are tried at the same time. */
const MAX_ALONE = 16;
/** Items of one kind that may be set aside in a row, and how soon there may be one more. */
export const MAX_SET_ASIDE = 500;
export const SET_ASIDE_EVERY_MS = 60_000;

/** What is written of one kind, and when. */
interface Writing<Item> {
  readonly kind: OutcomeKind<Item>;
  readonly batch: BatchFacts;
}

/** An item that was refused, and how often. */
interface Alone<Item> {
  readonly item: Item;
  refusals: number;
}

export class OutcomeRecorder {
  readonly #parts: OutcomeRecorderParts;
  readonly #limiter: LogLimiter;
  /** Of each kind, what writes all that was gathered of it. */
  readonly #flushes: ((batch: BatchFacts) => Promise<unknown> | null)[] = [];
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
  /** Of each kind, when all that was set aside is made up for. */
  readonly #madeUpAtMs = new Map<string, number>();
  #abandoned = false;
  readonly #idle: (() => void)[] = [];

  constructor(parts: OutcomeRecorderParts) {
    this.#parts = parts;
    this.#limiter = new LogLimiter(parts.clock);
  }

  /** Gives what adds an item of this kind, which may wait for others or not. Kinds are written in the order in which they were named here. */
  kind<Item>(kind: OutcomeKind<Item>): (item: Item, mayWait?: boolean) => void {
    let gathered: Item[] = [];
    this.#flushes.push((batch) => {
      if (gathered.length === 0) return null;
      const items = gathered;
      gathered = [];
      const writes: Promise<void>[] = [];
      for (let from = 0; from < items.length; from += MAX_ITEMS)
        writes.push(this.#write({ kind, batch }, items.slice(from, from + MAX_ITEMS)));
      return Promise.all(writes);
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
    const { clock, onAnswer } = this.#parts;
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

  /** Resolves when all is written that the store takes. What it refuses is tried on beside the next writes. */
  async #write<Item>(writing: Writing<Item>, items: readonly Item[]): Promise<void> {
    this.#writing++;
    const bad: Alone<Item>[] = [];
    await this.#writeSplit(writing, items, bad);
    const tries = Array.from({ length: Math.min(MAX_ALONE, bad.length) }, () => this.#writeAlone(writing, bad));
    void Promise.all(tries).then(() => {
      this.#writing--;
      this.#settle();
    });
  }

  async #tell<Item>({ kind, batch }: Writing<Item>, items: readonly Item[]): Promise<void> {
    await this.call(() => kind.write(items, batch));
    this.#makeUp(kind.name, items.length);
  }

  /** Writes all that can be written, and gives those that cannot. */
  async #writeSplit<Item>(writing: Writing<Item>, items: readonly Item[], bad: Alone<Item>[]): Promise<void> {
    for (;;) {
      try {
        await this.#tell(writing, items);
        return;
      } catch (error) {
        if (!isStoreAway(error)) break;
        await this.#pause(writing.kind.name, error, 0);
      }
    }
    const middle = items.length >> 1;
    if (middle === 0) bad.push({ item: items[0]!, refusals: 1 });
    else {
      await this.#writeSplit(writing, items.slice(0, middle), bad);
      await this.#writeSplit(writing, items.slice(middle), bad);
    }
  }

  /** Takes one after the other until none is left. */
  async #writeAlone<Item>(writing: Writing<Item>, left: Alone<Item>[]): Promise<void> {
    for (let alone = left.shift(); alone !== undefined; alone = left.shift()) {
      const { item } = alone;
      try {
        await this.#tell(writing, [item]);
      } catch (error) {
        const isAway = isStoreAway(error);
        if (!isAway && ++alone.refusals >= MAX_TRIES && (await this.#setAside(writing, item, error))) continue;
        await this.#pause(writing.kind.name, error, isAway ? 0 : alone.refusals);
        // Behind the others: what cannot be kept anywhere must not keep those from being tried.
        left.push(alone);
      }
    }
  }

  /** Until the next try; for ever when there is to be none. */
  async #pause(command: string, error: unknown, refusals: number): Promise<void> {
    if (this.#abandoned) return new Promise(() => undefined);
    const { clock, log, what, retryMs, retryLaterMs = retryMs } = this.#parts;
    this.#limiter.write(`retry ${command}`, (more) =>
      log.error({ err: error, command, ...more }, `the store did not take ${what}; trying again`),
    );
    // An item that is refused keeps nobody waiting.
    const others = isStoreAway(error) ? 1 : 0;
    this.#waiting += others;
    await new Promise<void>((resolve) => {
      const pause = clock.after(refusals < MAX_TRIES ? retryMs : retryLaterMs, () => {
        this.#pauses.delete(pause);
        resolve();
      });
      this.#pauses.add(pause);
    });
    this.#waiting -= others;
  }

  /** An item that the store refuses alone: recorded without what may be wrong with it, and else kept aside. Gives whether it is. */
  async #setAside<Item>(writing: Writing<Item>, item: Item, error: unknown): Promise<boolean> {
    const { log, what } = this.#parts;
    const { name, reduced, setAside } = writing.kind;
    let why = error;
    try {
      if (reduced !== undefined) {
        await this.#tell(writing, [reduced(item)]);
        return true;
      }
    } catch (refusal) {
      if (isStoreAway(refusal)) return false;
      why = refusal;
    }
    if (!this.#mayBeAside(name)) {
      this.#limiter.write(`held ${name}`, (more) =>
        log.error(
          { err: why, command: name, ...more },
          `the store refuses ${what}, one item after the other; they wait, and are not acknowledged`,
        ),
      );
      return false;
    }
    if (await setAside(item, why)) return true;
    this.#makeUp(name, 1);
    return false;
  }

  /**
   * Whether one more item may be set aside now; it counts from then on. Each that goes well makes up for one. A store that refuses one after the other,
   * and takes none, is ill, whatever it says: then the items are not at fault, and there is no room for all of them where they would be set aside.
   */
  #mayBeAside(name: string): boolean {
    const nowMs = this.#parts.clock.monotonic();
    const madeUpAtMs = Math.max(this.#madeUpAtMs.get(name) ?? 0, nowMs) + SET_ASIDE_EVERY_MS;
    if (madeUpAtMs - nowMs > MAX_SET_ASIDE * SET_ASIDE_EVERY_MS) return false;
    this.#madeUpAtMs.set(name, madeUpAtMs);
    return true;
  }

  /** So many were not set aside after all, or others of the kind went well. */
  #makeUp(name: string, count: number): void {
    const madeUpAtMs = this.#madeUpAtMs.get(name);
    if (madeUpAtMs !== undefined) this.#madeUpAtMs.set(name, madeUpAtMs - count * SET_ASIDE_EVERY_MS);
  }
}
