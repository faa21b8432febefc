/**
 * The messages in memory that wait for an owner, by lane, and up to where the table's have been claimed. So a lane's backlog is told from both, and
 * nothing has to be written for it:
 *
 *      memory  the keys of those that wait, in their order
 *      table   what stands behind the last that was claimed. Those before it are in memory as claimed, and will be written as such
 *
 * Whatever comes into the table as waiting before that place makes it be forgotten.
 */
import type { MessageKey } from "../../message/message.ts";
import type { LaneName } from "../port/delivery.ts";
import { compareKeys } from "../rows.ts";
import { type MessageRow, STATE_NUMBER } from "../schema/message.ts";
import { laneOf } from "../tables.ts";

interface Lane {
  /** In the order of their keys, unless `isMixed`. */
  keys: Set<MessageKey>;
  newest: MessageKey;
  isMixed: boolean;
  /** The last that was claimed. */
  claimedUpTo: MessageKey;
}

const FIRST_KEY: MessageKey = "0";

function isWaiting({ state, owner }: MessageRow): boolean {
  return state === STATE_NUMBER.queued && owner === null;
}

const nameOf = ({ carrierId, accountId }: LaneName): string => `${accountId} ${carrierId}`;

export class WaitingLanes {
  readonly #lanes = new Map<string, Lane>();

  #lane(name: LaneName): Lane {
    const id = nameOf(name);
    let lane = this.#lanes.get(id);
    if (lane === undefined) {
      lane = { keys: new Set(), newest: FIRST_KEY, isMixed: false, claimedUpTo: FIRST_KEY };
      this.#lanes.set(id, lane);
    }
    return lane;
  }

  /** A row in memory is new, or has become another. */
  changed(before: MessageRow | undefined, row: MessageRow): void {
    if (before !== undefined && isWaiting(before)) this.#lanes.get(nameOf(laneOf(before)))?.keys.delete(row.key);
    if (!isWaiting(row)) return;
    const lane = this.#lane(laneOf(row));
    if (lane.keys.size === 0) lane.isMixed = false;
    else if (compareKeys(row.key, lane.newest) < 0) lane.isMixed = true;
    if (lane.keys.size === 0 || compareKeys(row.key, lane.newest) > 0) lane.newest = row.key;
    lane.keys.add(row.key);
  }

  /** A row has gone from memory into the table. */
  written(row: MessageRow): void {
    if (!isWaiting(row)) return;
    const lane = this.#lanes.get(nameOf(laneOf(row)));
    if (lane === undefined) return;
    lane.keys.delete(row.key);
    if (compareKeys(row.key, lane.claimedUpTo) <= 0) lane.claimedUpTo = FIRST_KEY;
  }

  /** Those of the lane in memory, in the order of their keys. */
  keysOf(name: LaneName): Iterable<MessageKey> {
    const lane = this.#lane(name);
    if (lane.isMixed) {
      lane.keys = new Set([...lane.keys].sort(compareKeys));
      lane.isMixed = false;
    }
    return lane.keys;
  }

  lastClaimed(name: LaneName): MessageKey {
    return this.#lane(name).claimedUpTo;
  }

  /** All that wait up to this one are about to be claimed. */
  claim(name: LaneName, upTo: MessageKey): void {
    this.#lane(name).claimedUpTo = upTo;
  }

  /** The table may have been changed by others. */
  forgetClaimed(): void {
    for (const lane of this.#lanes.values()) lane.claimedUpTo = FIRST_KEY;
  }

  /** Memory was dropped. */
  clear(): void {
    this.#lanes.clear();
  }
}
