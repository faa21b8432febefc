/** Parts that wait for a phone that is switched off: until it is on again, or until their validity ends. */
import type { Clock, Timer } from "../runtime/clock.ts";

interface WaitingPart {
  readonly to: string;
  readonly expiresAtMs: number;
}

export class WaitingParts<Part extends WaitingPart> {
  readonly #clock: Clock;
  readonly #onExpired: (part: Part) => void;
  readonly #byNumber = new Map<string, Map<Part, Timer>>();
  #size = 0;

  constructor(clock: Clock, onExpired: (part: Part) => void) {
    this.#clock = clock;
    this.#onExpired = onExpired;
  }

  get size(): number {
    return this.#size;
  }

  add(part: Part): void {
    const parts = this.#byNumber.get(part.to) ?? new Map<Part, Timer>();
    this.#byNumber.set(part.to, parts);
    const timer = this.#clock.after(part.expiresAtMs - this.#clock.now(), () => {
      parts.delete(part);
      this.#size--;
      if (parts.size === 0) this.#byNumber.delete(part.to);
      this.#onExpired(part);
    });
    parts.set(part, timer);
    this.#size++;
  }

  /** Takes out those of a phone, in the order in which they came. */
  take(number: string): Part[] {
    const parts = this.#byNumber.get(number);
    if (parts === undefined) return [];
    this.#byNumber.delete(number);
    this.#size -= parts.size;
    for (const timer of parts.values()) timer.cancel();
    return [...parts.keys()];
  }

  clear(): void {
    for (const number of [...this.#byNumber.keys()]) this.take(number);
  }
}
