/**
 * How fast parts may go: never more than so many in any second, counted over a sliding second and not by the clock's, and evenly within
 * it but for a few at once: a message of another account is not to wait for the rest of a second that was used up at its beginning. A
 * carrier that says it is busy halves the pace; it comes back a tenth a second. A pace of less than one a second, as a node's share of a
 * slow carrier may be, is one in so many seconds.
 */
import type { Clock } from "../../runtime/clock.ts";

const SECOND_MS = 1_000;
const SLOWEST = 1;
const RECOVERY = 0.1;
/** Parts that may go at once after a pause: so many, or what goes in so much of a second. */
const BURST_PARTS = 20;
const BURST_SECONDS = 0.02;
/** Of times that are sums of fractions. */
const ROUNDING = 1e-6;

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
  /** When the last part would have gone, had all gone evenly. */
  #evenMs = Number.NEGATIVE_INFINITY;

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
    const inSpan = this.#inSpan - (this.#sent.length - this.#head);
    const eachMs = SECOND_MS / this.current;
    const evenly =
      eachMs === 0 ? inSpan : Math.floor((this.#clock.monotonic() - this.#evenSince(eachMs)) / eachMs + ROUNDING);
    return Math.max(0, Math.min(inSpan, evenly));
  }

  /** When there will be room for one more, in milliseconds from now. */
  waitMs(): number {
    if (this.room() > 0) return 0;
    const nowMs = this.#clock.monotonic();
    const isFull = this.#sent.length - this.#head >= this.#inSpan;
    // The part that must be a second old before another may go.
    const oldestMs = isFull ? this.#sent[this.#sent.length - this.#inSpan]! + this.#spanMs : nowMs;
    return Math.max(1, Math.ceil(Math.max(oldestMs, this.#evenMs + SECOND_MS / this.current) - nowMs));
  }

  /** When the last part would have gone, but no longer ago than what may go at once takes. */
  #evenSince(eachMs: number): number {
    const burst = Math.max(BURST_PARTS, this.current * BURST_SECONDS);
    return Math.max(this.#evenMs, this.#clock.monotonic() - burst * eachMs);
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
    const eachMs = SECOND_MS / this.current;
    this.#evenMs = eachMs === 0 ? this.#clock.monotonic() : this.#evenSince(eachMs) + eachMs;
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
