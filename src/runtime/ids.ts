/**
 * Ids for messages and bulks: 19-digit decimal strings, ordered by time, unique across nodes.
 *
 * An id is a 63-bit number: a counter in the upper bits, the node's number in the lowest ten. The counter is the time in
 * milliseconds times 2^11, and simply goes on when more than 2^11 ids are wanted in one millisecond, or when the clock steps back.
 * So the ids of one request are evenly spaced, and the first one and their number describe them all.
 */
import type { Clock } from "./clock.ts";

const NODE_BITS = 10n;
const COUNTER_BITS = 11n;
const IDS_A_MS = 2 ** Number(COUNTER_BITS);
const SPACING = 1n << NODE_BITS;

export class IdSource {
  readonly #clock: Clock;
  readonly #node: bigint;
  /** A plain number, which is three times as quick: it has 53 bits, and they last until the year 2109. */
  #counter: number;

  /** `after` is the highest id known to be taken: what comes next is above it, even if the clock stepped back meanwhile. */
  constructor(clock: Clock, node: number, after = 0n) {
    if (!Number.isInteger(node) || node < 0 || node >= Number(SPACING))
      throw new Error(`node number out of range: ${node}`);
    this.#clock = clock;
    this.#node = BigInt(node);
    this.#counter = Number(after >> NODE_BITS);
  }

  /** Takes `count` ids and returns the first; `nthId` gives the others. */
  take(count: number): string {
    const first = Math.max(this.#clock.now() * IDS_A_MS, this.#counter + 1);
    this.#counter = first + count - 1;
    return ((BigInt(first) << NODE_BITS) | this.#node).toString();
  }
}

/** The id at place `index`, from 0, of those taken together with `first`. */
export function nthId(first: string, index: number): string {
  return index === 0 ? first : (BigInt(first) + SPACING * BigInt(index)).toString();
}

/** The lowest id that a node could have made at this time. */
export function firstIdAt(atMs: number): bigint {
  return (BigInt(atMs) << COUNTER_BITS) << NODE_BITS;
}
