/**
 * How fast parts may go: never more than so many in any second, counted over a sliding second and not by the clock's. A carrier that
 * says it is busy halves the pace; it comes back a tenth a second. A pace of less than one a second, as a node's share of a slow
 * carrier may be, is one in so many seconds.
 */
import type { Clock } from "../../runtime/clock.ts";

const SECOND_MS = 1_000;
const SLOWEST = 1;
const RECOVERY = 0.1;

export class Pace {
  readonly #clock: Clock;
  /** Parts a second that the profile allows; infinite where it has no limit. */
  #limit: number;
  /** What the carrier has been found to take, while that is less. */
  #found = Number.POSITIVE_INFINITY;
  #foundAtMs = 0;
  /** When the parts of the last second went, oldest first. */
  #sent: number[] = [];
  #head = 0;

  constructor(limit: number, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** From now on. */
  set limit(limit: number) {
    this.#limit = limit;
  }

  /** Parts a second, at this moment. */
  get current(): number {
    if (this.#found === Number.POSITIVE_INFINITY) return this.#limit;
    const seconds = Math.max(0, this.#clock.monotonic() - this.#foundAtMs) / SECOND_MS;
    const recovered = this.#found * (1 + RECOVERY) ** seconds;
    return Math.min(this.#limit, recovered);
  }

  /** How many parts may go now. */
  room(): number {
    this.#forget();
    return Math.max(0, this.#inSpan - (this.#sent.length - this.#head));
  }

  /** When there will be room for one more, in milliseconds from now. */
  waitMs(): number {
    if (this.room() > 0) return 0;
    // The part that must be a second old before another may go.
    const oldest = this.#sent[this.#sent.length - this.#inSpan]!;
    return Math.max(1, Math.ceil(oldest + this.#spanMs - this.#clock.monotonic()));
  }

  /** How many parts may go in the time that is looked at, and how long that is. */
  get #inSpan(): number {
    return Math.max(1, Math.floor(this.current));
  }

  get #spanMs(): number {
    return SECOND_MS / Math.min(1, this.current);
  }

  sent(): void {
    this.#sent.push(this.#clock.monotonic());
  }

  /** The carrier is busy: half of what went in the last second is what it takes now. A whole window that says so counts once. */
  slowDown(): void {
    const nowMs = this.#clock.monotonic();
    if (this.#found !== Number.POSITIVE_INFINITY && nowMs - this.#foundAtMs < SECOND_MS) return;
    this.#forget();
    const inLastSecond = this.#sent.length - this.#head;
    const before = Math.min(this.current, Math.max(inLastSecond, SLOWEST * 2));
    this.#found = Math.max(SLOWEST, before / 2);
    this.#foundAtMs = nowMs;
  }

  #forget(): void {
    const sinceMs = this.#clock.monotonic() - this.#spanMs;
    while (this.#head < this.#sent.length && this.#sent[this.#head]! <= sinceMs) this.#head++;
    if (this.#head > 1_000 && this.#head * 2 > this.#sent.length) {
      this.#sent = this.#sent.slice(this.#head);
      this.#head = 0;
    }
  }
}
