/**
 * How many messages of each lane (one account on one carrier) this node has in memory. A lane that is full overflows: what comes
 * after stays in the store, unowned, and nothing overtakes it until the lane has claimed it all back.
 */
import type { LaneName } from "./port/delivery.ts";

export interface LaneBounds {
  /** Messages of one lane in memory. */
  readonly lane: number;
  /** Messages of all lanes in memory. */
  readonly total: number;
}

interface Lane {
  readonly name: LaneName;
  owned: number;
  overflowed: boolean;
  /** How often it has. */
  overflows: number;
  /** Messages that are left in the store by transactions under way: whoever looks there does not see them yet. */
  unseen: number;
}

export class LaneAccounts {
  readonly #bounds: LaneBounds;
  readonly #lanes = new Map<string, Lane>();
  /** Carriers that this node talks to; null where there is no other node to do it. */
  #served: ReadonlySet<string> | null = null;
  #total = 0;

  constructor(bounds: LaneBounds) {
    this.#bounds = bounds;
  }

  #lane(name: LaneName): Lane {
    const id = `${name.accountId}/${name.carrierId}`;
    let lane = this.#lanes.get(id);
    if (lane === undefined) {
      lane = {
        name: { accountId: name.accountId, carrierId: name.carrierId },
        owned: 0,
        overflowed: false,
        overflows: 0,
        unseen: 0,
      };
      this.#lanes.set(id, lane);
    }
    return lane;
  }

  setServed(carrierIds: readonly string[]): void {
    this.#served = new Set(carrierIds);
  }

  serves(carrierId: string): boolean {
    return this.#served === null || this.#served.has(carrierId);
  }

  /** Takes a place for a new message, or marks the lane as overflowed and returns false. One with a slot does not wait behind those without, up to a second bound. */
  enter(name: LaneName, hasSlot = false): boolean {
    if (!this.serves(name.carrierId)) return false;
    const lane = this.#lane(name);
    const times = hasSlot ? 2 : 1;
    const isFull = lane.owned >= times * this.#bounds.lane || this.#total >= times * this.#bounds.total;
    if (isFull || (lane.overflowed && !hasSlot)) {
      this.setOverflowed(name, true);
      return false;
    }
    this.take(name, 1);
    return true;
  }

  /** How many overflowed messages the lane could claim back now. A lane with nothing in memory may claim one beyond the bound, up to twice of it. */
  room(name: LaneName): number {
    const lane = this.#lane(name);
    const least = lane.owned === 0 && this.#total < 2 * this.#bounds.total ? 1 : 0;
    return Math.max(least, Math.min(this.#bounds.lane - lane.owned, this.#bounds.total - this.#total));
  }

  take(name: LaneName, count: number): void {
    this.#lane(name).owned += count;
    this.#total += count;
  }

  leave(name: LaneName): void {
    const lane = this.#lane(name);
    if (lane.owned === 0) return; // owned by an earlier process: nothing of it is counted here
    lane.owned--;
    this.#total--;
    // Forgotten when empty, so that accounts that once sent something cost nothing.
    if (lane.owned === 0 && !lane.overflowed) this.#lanes.delete(`${name.accountId}/${name.carrierId}`);
  }

  setOverflowed(name: LaneName, overflowed: boolean): void {
    const lane = this.#lane(name);
    lane.overflowed = overflowed;
    if (overflowed) lane.overflows++;
  }

  /** A transaction leaves a message of the lane in the store; to be told when it has ended. */
  leftInStore(name: LaneName): () => void {
    const lane = this.#lane(name);
    lane.unseen++;
    return () => {
      lane.unseen--;
    };
  }

  /** What makes the lane as one that has not overflowed, unless it does so until then, or has in a transaction that has not ended by then. */
  emptied(name: LaneName): () => void {
    const { overflows } = this.#lane(name);
    return () => {
      const lane = this.#lane(name);
      if (lane.overflows === overflows && lane.unseen === 0) this.setOverflowed(name, false);
    };
  }
}
