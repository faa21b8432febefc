/** Counts what happens by the second, as it goes on. */
const SECOND_MS = 1_000;
const BUCKET_MS = 50;
const BUCKETS = SECOND_MS / BUCKET_MS;

/** How many there were in the last second. */
export class Meter {
  /** Soon after it was started it counts as if that were as long ago as it is, and so long at least. */
  readonly #leastMs: number;
  readonly #counts = new Int32Array(BUCKETS);
  #sum = 0;
  #bucket = 0;
  #startMs = 0;

  constructor(leastMs: number) {
    this.#leastMs = leastMs;
  }

  start(nowMs: number): void {
    this.#move(nowMs);
    this.#counts.fill(0);
    this.#sum = 0;
    this.#startMs = nowMs;
  }

  add(nowMs: number): void {
    this.#move(nowMs);
    this.#counts[this.#bucket % BUCKETS]!++;
    this.#sum++;
  }

  perSecond(nowMs: number): number {
    this.#move(nowMs);
    return (this.#sum * SECOND_MS) / Math.min(SECOND_MS, Math.max(this.#leastMs, nowMs - this.#startMs));
  }

  #move(nowMs: number): void {
    const bucket = Math.floor(nowMs / BUCKET_MS);
    const steps = Math.min(BUCKETS, bucket - this.#bucket);
    for (let step = 1; step <= steps; step++) {
      const at = (this.#bucket + step) % BUCKETS;
      this.#sum -= this.#counts[at]!;
      this.#counts[at] = 0;
    }
    this.#bucket = Math.max(bucket, this.#bucket);
  }
}
