/** Records of requests within bounds: so many of each account, so many octets of each, and so many octets of all. */
import { boundedCache } from "../../runtime/cache.ts";

const MAX_ACCOUNTS = 10_000;
/** One account has at most this share of what all have together. */
const SHARE_OF_ONE = 1 / 4;

interface Sized {
  /** What it takes of memory, roughly. */
  readonly octets: number;
}

/** The newest take the places of the oldest. */
export class Ring<Item extends Sized> {
  readonly #most: number;
  readonly #maxOctets: number;
  readonly #items: (Item | undefined)[] = [];
  #next = 0;
  #count = 0;
  #octets = 0;

  constructor(most: number, maxOctets: number) {
    this.#most = most;
    this.#maxOctets = maxOctets;
  }

  get items(): Item[] {
    return this.#items.filter((item) => item !== undefined);
  }

  get octets(): number {
    return this.#octets;
  }

  push(item: Item): void {
    if (this.#count === this.#most) this.#dropOldest();
    this.#items[this.#next] = item;
    this.#next = (this.#next + 1) % this.#most;
    this.#count++;
    this.#octets += item.octets;
    while (this.#octets > this.#maxOctets) this.#dropOldest();
  }

  #dropOldest(): void {
    const place = (this.#next - this.#count + this.#most) % this.#most;
    this.#octets -= this.#items[place]!.octets;
    this.#items[place] = undefined;
    this.#count--;
  }
}

export interface RingBounds {
  /** Of one account. */
  readonly most: number;
  /** Of all accounts together. */
  readonly maxOctets: number;
}

/** A ring for each account; past the bound that of the one that was quiet for longest goes. */
export class AccountRings<Item extends Sized> {
  readonly #bounds: RingBounds;
  readonly #rings = boundedCache<number, Ring<Item>>(MAX_ACCOUNTS);
  #octets = 0;

  constructor(bounds: RingBounds) {
    this.#bounds = bounds;
  }

  get octets(): number {
    return this.#octets;
  }

  push(accountId: number, item: Item): void {
    const { most, maxOctets } = this.#bounds;
    let ring = this.#rings.get(accountId);
    if (ring === undefined) {
      ring = new Ring(most, maxOctets * SHARE_OF_ONE);
      if (this.#rings.size >= MAX_ACCOUNTS) this.#drop();
      this.#rings.set(accountId, ring);
    }
    const before = ring.octets;
    ring.push(item);
    this.#octets += ring.octets - before;
    while (this.#octets > maxOctets) this.#drop();
  }

  /** To look is no use of it: who is looked at is not who is at work. */
  of(accountId: number): Item[] {
    return this.#rings.peek(accountId)?.items ?? [];
  }

  #drop(): void {
    this.#octets -= this.#rings.pop()?.octets ?? 0;
  }
}
