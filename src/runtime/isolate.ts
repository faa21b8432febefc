/**
 * Writes many items with one call, and lets no item stop the others. A call that fails because of what is in it is split in halves until
 * each bad item stands alone: all others are written at once. A bad item is tried a few times more, for the fault may have been
 * everybody's and be over by then, and is then set aside. Pure but for what it is handed.
 *
 *      write(all) ──failed──▶ write(first half), write(second half) ──▶ … ──▶ write(one) ──failed MAX_TRIES times──▶ setAside(one)
 *          └──the store is away──▶ pause ──▶ the same once more: what was written before is not written again
 *
 * An item that cannot be set aside is tried again, and again: it is safe when it is written or set aside, and not before.
 */
import type { Clock } from "./clock.ts";

/** How often an item is tried alone before it is set aside. */
export const MAX_TRIES = 4;
/** Bad items of one call that are tried at the same time. */
const MAX_ALONE = 16;

export interface Isolation<Item> {
  /** Writes these together, or none of them. */
  readonly write: (items: readonly Item[]) => Promise<unknown>;
  /** Whether a failure says nothing of the items, as when the store cannot be reached: the same call may work later. */
  readonly isPassing: (error: unknown) => boolean;
  /** Waits before the next try, and says whether there is to be one; false ends it all. `refusals` counts those of an item alone. */
  readonly pause: (error: unknown, refusals: number) => Promise<boolean>;
  /** Called when all others are written: only what fails alone is left. */
  readonly onOthersWritten?: () => void;
  /** An item that fails alone. Gives whether it is safe now; if not, it is tried again. Must not throw. */
  readonly setAside: (item: Item, error: unknown) => Promise<boolean>;
}

/** Resolves when every item is written or set aside; with false when that was given up. */
export async function writeIsolated<Item>(items: readonly Item[], isolation: Isolation<Item>): Promise<boolean> {
  const bad: Item[] = [];
  if (!(await writeSplit(items, isolation, bad))) return false;
  isolation.onOthersWritten?.();
  const left: Alone<Item>[] = bad.map((item) => ({ item, refusals: 1 }));
  const writeNext = async (): Promise<boolean> => {
    for (let alone = left.shift(); alone !== undefined; alone = left.shift()) {
      const end = await writeAlone(alone, isolation);
      if (end === "given up") return false;
      // Behind the others: what cannot be kept anywhere must not keep those from being tried.
      if (end === "again") left.push(alone);
    }
    return true;
  };
  const ends = await Promise.all(Array.from({ length: Math.min(MAX_ALONE, bad.length) }, writeNext));
  return ends.every((isDone) => isDone);
}

/** Writes all that can be written, and gives those that cannot. */
async function writeSplit<Item>(items: readonly Item[], isolation: Isolation<Item>, bad: Item[]): Promise<boolean> {
  for (;;) {
    try {
      await isolation.write(items);
      return true;
    } catch (error) {
      if (!isolation.isPassing(error)) break;
      if (!(await isolation.pause(error, 0))) return false;
    }
  }
  if (items.length === 1) {
    bad.push(items[0]!);
    return true;
  }
  const middle = items.length >> 1;
  return (
    (await writeSplit(items.slice(0, middle), isolation, bad)) &&
    (await writeSplit(items.slice(middle), isolation, bad))
  );
}

/** An item that was refused, and how often. */
interface Alone<Item> {
  readonly item: Item;
  refusals: number;
}

async function writeAlone<Item>(
  alone: Alone<Item>,
  isolation: Isolation<Item>,
): Promise<"safe" | "again" | "given up"> {
  const { item } = alone;
  try {
    await isolation.write([item]);
    return "safe";
  } catch (error) {
    const isPassing = isolation.isPassing(error);
    if (!isPassing) alone.refusals++;
    if (!isPassing && alone.refusals >= MAX_TRIES && (await isolation.setAside(item, error))) return "safe";
    return (await isolation.pause(error, isPassing ? 0 : alone.refusals)) ? "again" : "given up";
  }
}

/** Items of one kind that may be set aside in a row, and how soon there may be one more. */
export const MAX_SET_ASIDE = 500;
export const SET_ASIDE_EVERY_MS = 60_000;

/**
 * How many items may be set aside: each that goes well makes up for one. A store that refuses one after the other, and takes none, is ill, whatever it
 * says: then the items are not at fault, and there is no room for all of them where they would be set aside.
 */
export class SetAsideLimit {
  readonly #clock: Clock;
  /** Of each kind, when all that was set aside is made up for. */
  readonly #fullAtMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether one more may be set aside now; it counts from then on. */
  take(kind: string): boolean {
    const nowMs = this.#clock.monotonic();
    const fullAtMs = Math.max(this.#fullAtMs.get(kind) ?? 0, nowMs) + SET_ASIDE_EVERY_MS;
    if (fullAtMs - nowMs > MAX_SET_ASIDE * SET_ASIDE_EVERY_MS) return false;
    this.#fullAtMs.set(kind, fullAtMs);
    return true;
  }

  /** So many were not set aside after all, or others of the kind went well. */
  giveBack(kind: string, count = 1): void {
    const fullAtMs = this.#fullAtMs.get(kind);
    if (fullAtMs !== undefined) this.#fullAtMs.set(kind, fullAtMs - count * SET_ASIDE_EVERY_MS);
  }
}
