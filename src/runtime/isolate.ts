/**
 * Writes many items with one call, and lets no item stop the others. A call that fails because of what is in it is split in halves until
 * each bad item stands alone: all others are written at once. A bad item is tried a few times more, for the fault may have been
 * everybody's and be over by then, and is then set aside. Pure but for what it is handed.
 *
 *      write(all) ──failed──▶ write(first half), write(second half) ──▶ … ──▶ write(one) ──failed MAX_TRIES times──▶ setAside(one)
 *          └──the store is away──▶ pause ──▶ the same once more: what was written before is not written again
 */

/** How often an item is tried alone before it is set aside. */
export const MAX_TRIES = 4;

export interface Isolation<Item> {
  /** Writes these together, or none of them. */
  readonly write: (items: readonly Item[]) => Promise<unknown>;
  /** Whether a failure says nothing of the items, as when the store cannot be reached: the same call may work later. */
  readonly isPassing: (error: unknown) => boolean;
  /** Waits before the next try, and says whether there is to be one; false ends it all. `tries` counts those of this call so far. */
  readonly pause: (error: unknown, tries: number) => Promise<boolean>;
  /** An item that fails alone. Must not throw. */
  readonly setAside: (item: Item, error: unknown) => Promise<void>;
}

/** Resolves when every item is written or set aside; with false when that was given up. */
export async function writeIsolated<Item>(items: readonly Item[], isolation: Isolation<Item>): Promise<boolean> {
  const bad: Item[] = [];
  if (!(await writeSplit(items, isolation, bad))) return false;
  for (const item of bad) if (!(await writeAlone(item, isolation))) return false;
  return true;
}

/** Writes all that can be written, and gives those that cannot. */
async function writeSplit<Item>(items: readonly Item[], isolation: Isolation<Item>, bad: Item[]): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      await isolation.write(items);
      return true;
    } catch (error) {
      if (!isolation.isPassing(error)) break;
      if (!(await isolation.pause(error, tries))) return false;
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

/** It has failed once already. */
async function writeAlone<Item>(item: Item, isolation: Isolation<Item>): Promise<boolean> {
  let failures = 1;
  for (let tries = 1; ; tries++) {
    try {
      await isolation.write([item]);
      return true;
    } catch (error) {
      if (!isolation.isPassing(error) && ++failures >= MAX_TRIES) {
        await isolation.setAside(item, error);
        return true;
      }
      if (!(await isolation.pause(error, tries))) return false;
    }
  }
}
