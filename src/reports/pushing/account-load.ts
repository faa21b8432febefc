/**
 * What one account has of push at present: items in memory and lanes at work. Both are bounded for all accounts together, and one may
 * have no more than a share of what is still free for all the others: so however many hosts of one account are dead or slow, and
 * however much waits for them, there is always room for the next account's reports.
 */
import { onceEach } from "../../runtime/lazy.ts";
import type { Random } from "../../runtime/random.ts";
import { TurnPace } from "./turn-pace.ts";

export class AccountLoad {
  readonly accountId: number;
  /** In memory: waiting, on their way, or on their way back to the store. */
  items = 0;
  /** Known, and of these at work. */
  lanes = 0;
  busyLanes = 0;
  requests = 0;
  readonly pace = new TurnPace();

  constructor(accountId: number) {
    this.accountId = accountId;
  }

  /** Twice what is free: one host may have as much as is free (Host), and the account's other hosts need some too. */
  hasRoomFor(items: number, freeItems: number): boolean {
    return this.items + items <= 2 * freeItems;
  }

  /** For a batch that finds no room: about when its turn will come. */
  turnAtMs(nowMs: number, random: Random): number {
    return this.pace.turnAtMs(nowMs, 0, Math.max(this.requests, 1), random);
  }
}

export class AccountLoads {
  readonly #loads = new Map<number, AccountLoad>();

  readonly of = onceEach(this.#loads, (accountId: number) => new AccountLoad(accountId));

  /** Those of which nothing is here, and nothing was sent away that is still to come back. */
  forgetIdle(nowMs: number): void {
    for (const load of this.#loads.values())
      if (load.items === 0 && load.lanes === 0 && !load.pace.isAhead(nowMs)) this.#loads.delete(load.accountId);
  }
}
