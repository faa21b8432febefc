/** What waits, shared out by account, or by another name: accounts take turns, and of one account whatever came first goes first. */
import { append } from "./lazy.ts";

export class FairQueue<Item, Name = number> {
  /** By account, in the order in which the accounts' turns come. */
  readonly #lines = new Map<Name, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** What `shift` would give. */
  get first(): Item | undefined {
    const [line] = this.#lines.values();
    return line?.[0];
  }

  /** How many of that name wait. */
  countOf(name: Name): number {
    return this.#lines.get(name)?.length ?? 0;
  }

  push(name: Name, item: Item): void {
    this.#size++;
    append(this.#lines, name, item);
  }

  shift(): Item | undefined {
    const first = this.#lines.entries().next();
    if (first.done) return undefined;
    this.#size--;
    const [name, line] = first.value;
    const item = line.shift()!;
    // To the end, behind the accounts that wait.
    this.#lines.delete(name);
    if (line.length > 0) this.#lines.set(name, line);
    return item;
  }
}
