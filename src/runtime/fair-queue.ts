/** What waits, shared out by account: accounts take turns, and of one account whatever came first goes first. */
export class FairQueue<Item> {
  /** By account, in the order in which the accounts' turns come. */
  readonly #lines = new Map<number, Item[]>();

  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** What `shift` would give. */
  get first(): Item | undefined {
    const [line] = this.#lines.values();
    return line?.[0];
  }

  push(accountId: number, item: Item): void {
    this.#size++;
    const line = this.#lines.get(accountId);
    if (line === undefined) this.#lines.set(accountId, [item]);
    else line.push(item);
  }

  shift(): Item | undefined {
    const first = this.#lines.entries().next();
    if (first.done) return undefined;
    this.#size--;
    const [accountId, line] = first.value;
    const item = line.shift()!;
    // To the end, behind the accounts that wait.
    this.#lines.delete(accountId);
    if (line.length > 0) this.#lines.set(accountId, line);
    return item;
  }
}
