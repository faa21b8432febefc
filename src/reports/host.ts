/**
 * One receiving host (an origin: scheme, name and port) and the batches that wait for it, first in first out.
 *
 * Its circuit is closed while things go well: as many requests at a time as it may have connections. After some failures in a row
 * it is open: one request at a time, the probe, until one succeeds. The failure of a probe speaks for others that wait: when there
 * was not even a connection, for all of this host; else for those of the same URL. They share it as their own try, so a dead
 * host's reports do not pile up behind time-outs, and reach their next retry, and in the end the dead letters, on schedule.
 */
import type { ReportBatch } from "../message/message.ts";
import type { Answer } from "./transport.ts";

/** The weight of the newest in the running mean of how long a request takes. */
const NEWEST = 0.2;
/** What a request is taken to last before the first has ended. */
const FIRST_GUESS_MS = 100;
/** A guess at a turn is worth no more than this: the host may be faster by then. */
const LONGEST_TURN_MS = 600_000;

export interface HostSettings {
  readonly connectionsPerHost: number;
  readonly failuresToOpen: number;
  readonly requestItems: number;
}

function neverSent({ attempts, tried }: ReportBatch): boolean {
  return attempts === 0 && tried !== true;
}

function goTogether(first: ReportBatch, next: ReportBatch): boolean {
  return (
    neverSent(first) &&
    neverSent(next) &&
    first.url === next.url &&
    first.accountId === next.accountId &&
    first.kind === next.kind &&
    first.contentType === next.contentType
  );
}

export class Host {
  readonly origin: string;
  readonly #connections: number;
  readonly #failuresToOpen: number;
  readonly #requestItems: number;
  #waiting: ReportBatch[] = [];
  #head = 0;
  #waitingItems = 0;
  #inFlight = 0;
  #failuresInARow = 0;
  #meanMs = FIRST_GUESS_MS;
  #lastTurnMs = 0;

  constructor(origin: string, settings: HostSettings) {
    this.origin = origin;
    this.#connections = settings.connectionsPerHost;
    this.#failuresToOpen = settings.failuresToOpen;
    this.#requestItems = settings.requestItems;
  }

  get waitingItems(): number {
    return this.#waitingItems;
  }

  get idle(): boolean {
    return this.#inFlight === 0 && this.#head === this.#waiting.length;
  }

  get open(): boolean {
    return this.#failuresInARow >= this.#failuresToOpen;
  }

  add(batch: ReportBatch): void {
    this.#waiting.push(batch);
    this.#waitingItems += batch.items.length;
  }

  /**
   * The next batches to send now, in one request, or none when there are none or the host has its fill. Several only where they
   * piled up and were never tried: what was tried once stays as it was, under its id.
   */
  next(): readonly ReportBatch[] {
    if (this.#inFlight >= (this.open ? 1 : this.#connections)) return [];
    const first = this.#waiting[this.#head];
    if (first === undefined) return [];
    let count = 1;
    let items = first.items.length;
    for (let next = this.#waiting[this.#head + 1]; next !== undefined; next = this.#waiting[this.#head + count]) {
      if (!goTogether(first, next) || items + next.items.length > this.#requestItems) break;
      items += next.items.length;
      count++;
    }
    const batches = this.#waiting.slice(this.#head, this.#head + count);
    this.#head += count;
    if (this.#head === this.#waiting.length) this.#replaceWaiting([]);
    else if (this.#head >= 1000 && this.#head * 2 >= this.#waiting.length)
      this.#replaceWaiting(this.#waiting.slice(this.#head));
    this.#waitingItems -= items;
    this.#inFlight++;
    return batches;
  }

  /**
   * For a batch that finds no room here: about when its turn will come, behind those that wait and those sent away before it. So
   * they come back one after the other, at the host's own pace, and not all at once only to be sent away again.
   */
  turnAtMs(nowMs: number): number {
    const paceMs = this.#meanMs / this.#connections;
    const waitingMs = (this.#waiting.length - this.#head) * paceMs;
    this.#lastTurnMs = Math.min(Math.max(this.#lastTurnMs, nowMs + waitingMs) + paceMs, nowMs + LONGEST_TURN_MS);
    return Math.ceil(this.#lastTurnMs);
  }

  /** What `next` gave was not sent after all. */
  unsent(): void {
    this.#inFlight--;
  }

  /** The answer to what `next` gave. Returns the batches that share it as their own failure and no longer wait. */
  answered(batch: ReportBatch, answer: Answer, tookMs: number): ReportBatch[] {
    this.#inFlight--;
    this.#meanMs += (tookMs - this.#meanMs) * NEWEST;
    if (!isFailureOfHost(answer)) {
      this.#failuresInARow = 0;
      return [];
    }
    this.#failuresInARow++;
    return this.open ? this.#removeWaiting(({ url }) => answer.kind === "unreachable" || url === batch.url) : [];
  }

  #removeWaiting(shares: (batch: ReportBatch) => boolean): ReportBatch[] {
    const { yes = [], no = [] } = Object.groupBy(this.#waiting.slice(this.#head), (batch) =>
      shares(batch) ? "yes" : "no",
    );
    this.#replaceWaiting(no);
    for (const batch of yes) this.#waitingItems -= batch.items.length;
    return yes;
  }

  #replaceWaiting(waiting: ReportBatch[]): void {
    this.#waiting = waiting;
    this.#head = 0;
  }
}

/** A host that says "not found" or "moved" is well, whatever is wrong with that URL. */
function isFailureOfHost(answer: Answer): boolean {
  return answer.kind !== "answered" || answer.status >= 500 || answer.status === 429;
}
