/**
 * How long this node may act on what it owns without asking. Other nodes take over only when the lease has run out by the database's
 * clock; here it runs out no later, because it counts from before the renewal was sent. The time is in shared memory, so that every
 * thread sees it, and counts on while the process is stopped: one that wakes up too late knows it at its first look.
 */
import { machineNs } from "../runtime/clock.ts";

const UNTIL = 0;
const COMMITTED = 1;

export class Lease {
  readonly #ns: BigInt64Array;

  /** Of another thread's lease, given its memory; else a new one, which does not hold yet. */
  constructor(memory = new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.#ns = new BigInt64Array(memory);
  }

  /** The one of a node that shares its store with nobody. */
  static endless(): Lease {
    const lease = new Lease();
    lease.hold();
    return lease;
  }

  /** From now on, whatever happens. */
  hold(): void {
    Atomics.store(this.#ns, UNTIL, 2n ** 63n - 1n);
  }

  get memory(): SharedArrayBuffer {
    return this.#ns.buffer as SharedArrayBuffer;
  }

  holds(): boolean {
    return machineNs() < Atomics.load(this.#ns, UNTIL);
  }

  /** The database has taken a commit of this node. */
  committed(): void {
    Atomics.store(this.#ns, COMMITTED, machineNs());
  }

  /** Within so long the lease was renewed, or a commit went through: the node can take work, and knows it without asking. */
  isServing(leaseMs: number): boolean {
    return this.holds() || machineNs() - Atomics.load(this.#ns, COMMITTED) < BigInt(leaseMs) * 1_000_000n;
  }

  /** A moment to renew from: taken before the renewal is asked for. */
  static moment(): bigint {
    return machineNs();
  }

  /** The later of two counts: an answer that was long on its way says less than one that overtook it. */
  renew(from: bigint, leaseMs: number): void {
    const untilNs = from + BigInt(leaseMs) * 1_000_000n;
    if (untilNs > Atomics.load(this.#ns, UNTIL)) Atomics.store(this.#ns, UNTIL, untilNs);
  }

  /** It is known to be over. */
  end(): void {
    Atomics.store(this.#ns, UNTIL, 0n);
    Atomics.store(this.#ns, COMMITTED, 0n);
  }
}
