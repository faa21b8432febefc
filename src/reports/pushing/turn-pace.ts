/**
 * How fast requests of one host, or of one account, come to an end; and so when the next turn of a batch will be that finds no room
 * now. Batches that are sent away come back one after the other at that pace, and not all at once only to be sent away again.
 */
import type { Random } from "../../runtime/random.ts";

/** The weight of the newest in the running mean of how long a request takes. */
const NEWEST = 0.2;
/** What a request is taken to last before the first has ended. */
const FIRST_GUESS_MS = 100;
/** A guess at a turn is worth no more than this: things may go faster by then. */
const MAX_TURN_MS = 600_000;
/** A thousand batches a second come back at most, a tenth of what one poll can look at. */
const MIN_PACE_MS = 1;

export class TurnPace {
  #meanMs = FIRST_GUESS_MS;
  #lastTurnMs = 0;

  /** A request has ended. */
  took(durationMs: number): void {
    this.#meanMs += (durationMs - this.#meanMs) * NEWEST;
  }

  /** Whether turns have been given that are still to come. */
  isAhead(nowMs: number): boolean {
    return this.#lastTurnMs > nowMs;
  }

  /**
   * About when the turn of one more batch comes, behind `waiting` others and behind those sent away before it, where so many requests
   * are made at a time. What would come too late by that is spread over the last half of the longest wait.
   */
  turnAtMs(nowMs: number, waiting: number, requests: number, random: Random): number {
    const paceMs = Math.max(this.#meanMs / requests, MIN_PACE_MS);
    const turnMs = Math.max(this.#lastTurnMs, nowMs + waiting * paceMs) + paceMs;
    const lastMs = nowMs + MAX_TURN_MS;
    this.#lastTurnMs = Math.min(turnMs, lastMs);
    return Math.ceil(turnMs <= lastMs ? turnMs : lastMs - (random.next() * MAX_TURN_MS) / 2);
  }
}
