/**
 * Which phones a carrier puts messages off for ("queue full", "system error"). A phone that is full says nothing of the carrier, and neither
 * do many of them while others are taken. Only when nearly all phones are put off that were tried for the first time within some seconds,
 * it is the carrier that is full, and such an answer counts as throttled.
 */
import { type BoundedCache, expiringCache } from "../../runtime/cache.ts";
import type { Clock } from "../../runtime/clock.ts";

const SPAN_MS = 10_000;
const MIN_PHONES = 10;
const MIN_SHARE = 0.9;
/** So long, and so many of them, phones are known that were put off: to try one again says nothing new. */
const KNOWN_MS = 300_000;
const MAX_KNOWN = 10_000;

export class BusyPhones {
  readonly #clock: Clock;
  /** Those that were put off; made with the first, because most carriers have none. */
  #known: BoundedCache<string, true> | null = null;
  #sinceMs = Number.NEGATIVE_INFINITY;
  /** In this span: phones that were put off for the first time, and parts that were taken. */
  #phones = 0;
  #taken = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A part was taken. */
  taken(): void {
    // While no phone is put off, nobody asks.
    if (this.#phones > 0) this.#taken++;
  }

  /** Whether it speaks against the carrier that a message to this phone is put off. */
  isCarriers(phone: string): boolean {
    const nowMs = this.#clock.monotonic();
    this.#known ??= expiringCache(MAX_KNOWN, KNOWN_MS, this.#clock);
    const isKnown = this.#known.has(phone);
    this.#known.set(phone, true);
    if (isKnown) return false;
    if (nowMs - this.#sinceMs >= SPAN_MS) {
      this.#sinceMs = nowMs;
      this.#phones = 0;
      this.#taken = 0;
    }
    this.#phones++;
    return this.#phones > MIN_PHONES && this.#phones >= MIN_SHARE * (this.#phones + this.#taken);
  }
}
