/**
 * Ids for messages, bulks and report batches: 19-digit decimal strings, ordered by time, unique across nodes.
 *
 * An id is a 63-bit number: a counter in the upper bits, the node's number in the lowest ten. The counter is the time in
 * milliseconds times 2^11, and simply goes on when more than 2^11 ids are wanted in one millisecond, or when the clock steps back.
 * So the ids of one request are evenly spaced, and the first one and their number describe them all.
 *
 * All threads of a node take from one counter, in shared memory. What keeps the next start above the ids of this one, whatever its clock
 * says, is the store's (store/id-mark.ts).
 */
import type { Clock } from "./clock.ts";

const NODE_BITS = 10n;
const COUNTER_BITS = 11n;
const IDS_A_MS = 2 ** Number(COUNTER_BITS);
const SPACING = 1n << NODE_BITS;
/** A clock that is beyond this is wrong. Ids then go on from here: the 53 bits of the counter last until 2109, so there is room for 6e14 of them. */
const MAX_CLOCK_MS = Date.UTC(2100, 0);

/** The number of whoever works beside the nodes and is none: the command line. Nodes have those below it. */
export const TOOL_NODE = Number(SPACING) - 1;

export class IdSource {
  readonly node: number;
  readonly #clock: Clock;
  /** One cell: the counter of the last id that was taken. */
  readonly #counter: BigInt64Array;

  /**
   * `after` is the highest id known to be taken: what comes next is above it, even if the clock stepped back meanwhile. With the `memory` of
   * another thread's source both take from the same ids.
   */
  constructor(clock: Clock, node: number, after = 0n, memory = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT)) {
    if (!Number.isInteger(node) || node < 0 || node > TOOL_NODE) throw new Error(`node number out of range: ${node}`);
    this.node = node;
    this.#clock = clock;
    this.#counter = new BigInt64Array(memory);
    this.#advance(() => after >> NODE_BITS, 0);
  }

  get memory(): SharedArrayBuffer {
    return this.#counter.buffer as SharedArrayBuffer;
  }

  /** The highest id that was taken, by any thread. */
  get highest(): bigint {
    return (Atomics.load(this.#counter, 0) << NODE_BITS) | BigInt(this.node);
  }

  /** Takes `count` ids and returns the first; `nthId` gives the others. */
  take(count: number): string {
    const nowMs = timeOfIds(this.#clock.now());
    const first = this.#advance((last) => larger(BigInt(nowMs * IDS_A_MS), last + 1n), count - 1);
    return ((first << NODE_BITS) | BigInt(this.node)).toString();
  }

  /** Moves the counter to `by` beyond what `next` makes of it, never back, and returns that. */
  #advance(next: (last: bigint) => bigint, by: number): bigint {
    for (;;) {
      const last = Atomics.load(this.#counter, 0);
      const first = next(last);
      if (Atomics.compareExchange(this.#counter, 0, last, larger(first + BigInt(by), last)) === last) return first;
    }
  }
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

/** The id at place `index`, from 0, of those taken together with `first`. */
export function nthId(first: string, index: number): string {
  return index === 0 ? first : (BigInt(first) + SPACING * BigInt(index)).toString();
}

/** The number of the node that made an id. */
export function nodeOf(id: bigint): number {
  return Number(id & (SPACING - 1n));
}

/** The time that stands in ids which are made at this time: the same, unless it is beyond reason. */
export function timeOfIds(atMs: number): number {
  return Math.min(Math.trunc(atMs), MAX_CLOCK_MS);
}

/** The lowest id that a node could have made at this time. */
export function firstIdAt(atMs: number): bigint {
  return (BigInt(timeOfIds(atMs)) << COUNTER_BITS) << NODE_BITS;
}

/** When an id was made, by the clock of the node that made it, or the time that it stands for as a bound. */
export function timeOfId(id: bigint | string): number {
  return Number((BigInt(id) >> NODE_BITS) >> COUNTER_BITS);
}
