/**
 * Lists as they were left, so that Back finds them so: their rows, and how far down they were read. They are kept in memory, by their searches, and
 * a bounded number of rows of them. A link to a list shows it anew; only a step through the history of the browser takes what was left.
 */
export interface Scroll {
  readonly page: number;
  readonly table: number;
}

interface Left<List> {
  readonly list: List;
  readonly scroll: Scroll;
}

/** So many, and with so many rows together. */
const MAX_LISTS = 8;
const MAX_ROWS = 20_000;

export class LeftLists<List extends { readonly rows: readonly unknown[] }> {
  readonly #lists = new Map<string, Left<List>>();

  keep(key: string, list: List, scroll: Scroll): void {
    this.#lists.delete(key);
    this.#lists.set(key, { list, scroll });
    let rows = 0;
    for (const left of this.#lists.values()) rows += left.list.rows.length;
    for (const [oldest, left] of this.#lists) {
      if (this.#lists.size <= MAX_LISTS && rows <= MAX_ROWS) break;
      rows -= left.list.rows.length;
      this.#lists.delete(oldest);
    }
  }

  get(key: string): Left<List> | null {
    return this.#lists.get(key) ?? null;
  }
}

/** Whether this entry of the browser's history was here before. A link makes a new one. */
export const isStepHere = (): boolean => (history.state as { wasHere?: boolean } | null)?.wasHere === true;

/** The entry remembers it. A search replaces the address, and with it what the entry remembers. */
export function markHere(): void {
  if (!isStepHere()) history.replaceState({ ...history.state, wasHere: true }, "");
}
