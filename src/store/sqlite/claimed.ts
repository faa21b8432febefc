/**
 * Up to where each lane's backlog has been claimed. Messages that were claimed are written as such later, and until then the table has them as
 * waiting: whoever claims more looks behind the last of them. Whatever waits again before that one makes it be forgotten.
 */

import type { MessageKey } from "../../message/message.ts";
import type { LaneName } from "../port/delivery.ts";
import { type MessageRow, STATE_NUMBER } from "../schema/message.ts";
import { laneOf } from "../tables.ts";

export function isWaiting({ state, owner }: MessageRow): boolean {
  return state === STATE_NUMBER.queued && owner === null;
}

const nameOf = ({ carrierId, accountId }: LaneName): string => `${accountId} ${carrierId}`;

export class ClaimedLanes {
  readonly #lastKeys = new Map<string, MessageKey>();

  /** The last message of the lane that was claimed; undefined where that is not known. */
  lastOf(lane: LaneName): MessageKey | undefined {
    return this.#lastKeys.get(nameOf(lane));
  }

  claimedUpTo(lane: LaneName, key: MessageKey): void {
    this.#lastKeys.set(nameOf(lane), key);
  }

  /** A row has changed, or has come into the table. */
  see(row: MessageRow): void {
    if (this.#lastKeys.size === 0 || !isWaiting(row)) return;
    const lane = laneOf(row);
    const last = this.lastOf(lane);
    if (last !== undefined && BigInt(row.key) <= BigInt(last)) this.#lastKeys.delete(nameOf(lane));
  }

  clear(): void {
    this.#lastKeys.clear();
  }
}
