/**
 * Memory for what is on its way in or out, shared by all. One account gets no more of it than is left for all the others, so one alone gets half,
 * and there is always some for the next. What is small is counted for all together and for nobody by name.
 */

/** Up to here nobody asks whose it is: the number of requests in progress is the bound. */
export const SMALL_OCTETS = 65_536;

/** What somebody has of it. */
export class Share {
  readonly #budget: MemoryBudget;
  readonly #accountId: number | null;
  #octets = 0;

  constructor(budget: MemoryBudget, accountId: number | null) {
    this.#budget = budget;
    this.#accountId = accountId;
  }

  /** Asks for so many octets in all, in place of those that it has. False when there is no room for them. */
  grow(octets: number): boolean {
    if (!this.#budget.exchange(this.#accountId, this.#octets, octets)) return false;
    this.#octets = octets;
    return true;
  }

  release(): void {
    this.#budget.exchange(this.#accountId, this.#octets, 0);
    this.#octets = 0;
  }
}

export class MemoryBudget {
  readonly #totalOctets: number;
  #held = 0;
  /** Of what is not small, by account. */
  readonly #heldBy = new Map<number, number>();

  constructor(totalOctets: number) {
    this.#totalOctets = totalOctets;
  }

  /** In use now. */
  get held(): number {
    return this.#held;
  }

  exchange(accountId: number | null, before: number, after: number): boolean {
    const more = after - before;
    const named = large(after) - large(before);
    const own = accountId === null ? 0 : (this.#heldBy.get(accountId) ?? 0);
    if (more > 0 && this.#held + more > this.#totalOctets) return false;
    if (named > 0 && own + named > this.#totalOctets - this.#held) return false;
    this.#held += more;
    if (accountId === null || named === 0) return true;
    if (own + named === 0) this.#heldBy.delete(accountId);
    else this.#heldBy.set(accountId, own + named);
    return true;
  }
}

function large(octets: number): number {
  return octets > SMALL_OCTETS ? octets : 0;
}
