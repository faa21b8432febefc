/**
 * One receiving host (an origin: scheme, name and port), and the lanes of the accounts whose reports go there, which take turns.
 *
 * One account has so many requests at a time to it. When these are all of one account, an account with none may make one all the same,
 * up to as many again: so whoever lets his own URLs hang does not hold up others whose URLs are at the same host.
 *
 * No connection is no connection for everybody: after some of them in a row one request at a time goes out for all lanes together,
 * and when it fails that way too, its failure is shared by all that waits.
 */
import type { Answer } from "../../http/transport.ts";
import type { ReportBatch } from "../../message/message.ts";
import type { Random } from "../../runtime/random.ts";
import type { ReportLane, ReportLaneSettings } from "./report-lane.ts";
import { TurnPace } from "./turn-pace.ts";

export interface Turn {
  readonly lane: ReportLane;
  /** To be sent in one request. */
  readonly batches: readonly ReportBatch[];
}

export interface Sharing {
  /** Batches that share a failure as their own and no longer wait. */
  readonly shared: readonly ReportBatch[];
  /** Lanes in which nothing waits any more. */
  readonly emptied: readonly ReportLane[];
}

const NONE: Sharing = { shared: [], emptied: [] };

export class Host {
  readonly origin: string;
  readonly #settings: ReportLaneSettings;
  /** Lanes in which something waits, in the order of their turns. */
  readonly #waiting = new Set<ReportLane>();
  #waitingItems = 0;
  #waitingBatches = 0;
  #requests = 0;
  #unreachableInARow = 0;
  readonly #pace = new TurnPace();
  /** Lanes to it that are known, and of these at work. */
  lanes = 0;
  busyLanes = 0;

  constructor(origin: string, settings: ReportLaneSettings) {
    this.origin = origin;
    this.#settings = settings;
  }

  /** A host may hold no more than what is still free for all the others, so a single one gets at most half. */
  hasRoomFor(items: number, freeItems: number): boolean {
    return this.#waitingItems + items <= freeItems;
  }

  get isUnreachable(): boolean {
    return this.#unreachableInARow >= this.#settings.failuresToOpen;
  }

  add(lane: ReportLane, batch: ReportBatch): void {
    lane.add(batch);
    this.#waiting.add(lane);
    this.#waitingItems += batch.items.length;
    this.#waitingBatches++;
  }

  /**
   * The next request to make now, or null when there is none or the host has its fill. Where lanes are passed over, each of them has a
   * request under way: so they are few, however many wait.
   */
  next(): Turn | null {
    const most = this.isUnreachable ? 1 : 2 * this.#settings.connectionsPerHost;
    if (this.#requests >= most) return null;
    for (const lane of this.#waiting) {
      if (!this.#hasPlaceFor(lane)) continue;
      const batches = lane.take();
      // To the end of the line.
      this.#waiting.delete(lane);
      if (lane.waiting > 0) this.#waiting.add(lane);
      this.#requests++;
      for (const batch of batches) this.#left(batch);
      return { lane, batches };
    }
    return null;
  }

  #hasPlaceFor(lane: ReportLane): boolean {
    return lane.isReady && (lane.requests === 0 || this.#requests < this.#settings.connectionsPerHost);
  }

  /** For a batch that finds no room here: about when its turn will come. */
  turnAtMs(nowMs: number, random: Random): number {
    return this.#pace.turnAtMs(nowMs, this.#waitingBatches, this.#settings.connectionsPerHost, random);
  }

  /** What `next` gave was not sent after all. */
  unsent(lane: ReportLane): void {
    this.#requests--;
    lane.ended();
  }

  /** The answer to what `next` gave. */
  answered(lane: ReportLane, batch: ReportBatch, answer: Answer, tookMs: number): Sharing {
    this.unsent(lane);
    this.#pace.took(tookMs);
    this.#unreachableInARow = answer.kind === "unreachable" ? this.#unreachableInARow + 1 : 0;
    if (!isFailureOfHost(answer)) {
      lane.succeeded();
      return NONE;
    }
    const removed = [lane.failed(batch, answer)];
    if (this.isUnreachable) for (const other of this.#waiting) removed.push(other.removeWaiting(() => true));
    const shared = removed.flat();
    for (const each of shared) this.#left(each);
    const emptied = [...this.#waiting].filter(({ waiting }) => waiting === 0);
    for (const each of emptied) this.#waiting.delete(each);
    return { shared, emptied };
  }

  #left(batch: ReportBatch): void {
    this.#waitingItems -= batch.items.length;
    this.#waitingBatches--;
  }
}

/** A host that says "not found" or "moved" is well, whatever is wrong with that URL. */
function isFailureOfHost(answer: Answer): boolean {
  return answer.kind !== "answered" || answer.status >= 500 || answer.status === 429;
}
