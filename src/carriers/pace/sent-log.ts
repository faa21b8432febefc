/**
 * When parts went, for as long as somebody may ask how many went in the last second: a ring of times. A part counts as going from the
 * moment it was gathered to be written until the socket has it, and from then on as gone. So whatever a stalled socket does in between, no
 * second holds more parts than were counted for it.
 */
const FIRST_CAPACITY = 64;

export class SentLog {
  #times = new Float64Array(FIRST_CAPACITY);
  /** Where the oldest stands, and how many there are. */
  #head = 0;
  #length = 0;
  #going = 0;

  /** A part will be written in a moment. */
  gathered(): void {
    this.#going++;
  }

  /** So many of those that were gathered are written, or lost with their connection. */
  written(count: number, nowMs: number): void {
    for (let part = 0; part < count; part++) this.#push(nowMs);
    this.#going = Math.max(0, this.#going - count);
  }

  /** How many are going, or went later than that; what went before is forgotten. */
  countAfter(sinceMs: number): number {
    const mask = this.#times.length - 1;
    while (this.#length > 0 && this.#times[this.#head]! <= sinceMs) {
      this.#head = (this.#head + 1) & mask;
      this.#length--;
    }
    return this.#going + this.#length;
  }

  /**
   * When, of those that are going or went, so many are left that went later: the time of the one that has to age. Null when that is one
   * which is still going.
   */
  timeOfNewest(rank: number): number | null {
    const back = rank - this.#going;
    if (back < 1) return null;
    const mask = this.#times.length - 1;
    return this.#times[(this.#head + this.#length - Math.min(back, this.#length)) & mask]!;
  }

  #push(nowMs: number): void {
    if (this.#length === this.#times.length) this.#grow();
    this.#times[(this.#head + this.#length) & (this.#times.length - 1)] = nowMs;
    this.#length++;
  }

  #grow(): void {
    const larger = new Float64Array(this.#times.length * 2);
    const first = this.#times.subarray(this.#head);
    larger.set(first);
    larger.set(this.#times.subarray(0, this.#head), first.length);
    this.#times = larger;
    this.#head = 0;
  }
}
