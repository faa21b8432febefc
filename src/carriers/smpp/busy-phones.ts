/**
 * Which phones a carrier puts messages off for ("queue full", "system error"). One phone that is full says nothing of the carrier. When
 * many different ones are put off within seconds it may be the carrier that is full, and those beyond the first count as throttled: whether
 * they are many among all answers is then for the RateFinder to judge.
 */
import type { Clock } from "../../runtime/clock.ts";

const SPAN_MS = 10_000;
const FIRST_PHONES = 10;
/** More are taken for different ones without being remembered. */
const MAX_PHONES = 1_000;

export class BusyPhones {
  readonly #clock: Clock;
  readonly #phones = new Set<string>();
  #sinceMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether it speaks against the carrier that a message to this phone is put off. */
  note(phone: string): boolean {
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#sinceMs >= SPAN_MS) {
      this.#phones.clear();
      this.#sinceMs = nowMs;
    }
    if (this.#phones.has(phone)) return false;
    if (this.#phones.size < MAX_PHONES) this.#phones.add(phone);
    return this.#phones.size > FIRST_PHONES;
  }
}
