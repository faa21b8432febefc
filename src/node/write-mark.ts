/**
 * Whether the store may have something new, in memory that all threads see. Whoever asks the store again and again looks here first: a look costs
 * nothing, and a question wakes the store's thread and is answered by waking the asker's. Only the embedded store keeps a mark, because its
 * thread alone knows of every write: it counts its own commits, and looks for those of the command line.
 */
export class WriteMark {
  readonly #writes: Int32Array<SharedArrayBuffer>;

  /** With the `memory` of another thread's mark both see the same. */
  constructor(memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.#writes = new Int32Array(memory);
  }

  get memory(): SharedArrayBuffer {
    return this.#writes.buffer as SharedArrayBuffer;
  }

  /** For the store, before anybody is told of the write. */
  note(): void {
    Atomics.add(this.#writes, 0, 1);
    this.wake();
  }

  /** Resolves when somebody wakes those who wait, or at once if there are not `writes` writes any more. */
  async changed(writes: number): Promise<void> {
    await Atomics.waitAsync(this.#writes, 0, writes).value;
  }

  wake(): void {
    Atomics.notify(this.#writes, 0);
  }

  get writes(): number {
    return Atomics.load(this.#writes, 0);
  }
}

/** One asker's memory of the mark. Without a mark there may always be something new. */
export class SeenWrites {
  readonly #mark: WriteMark | null;
  #seen: number | null = null;
  #hasLeft = false;

  constructor(mark: WriteMark | null | undefined) {
    this.#mark = mark ?? null;
  }

  /** Whether something may have been written since the last question that was answered. */
  get isNew(): boolean {
    return this.#mark === null || this.#mark.writes !== this.#seen;
  }

  /** Waits until something is, without a timer; false if this asker has left meanwhile. */
  async untilNew(): Promise<boolean> {
    while (!this.isNew && !this.#hasLeft) await this.#mark!.changed(this.#seen!);
    return !this.#hasLeft;
  }

  /** It waits for nothing any more. */
  leave(): void {
    this.#hasLeft = true;
    this.#mark?.wake();
  }

  /** Asks. What is written meanwhile is new for the next one, and so is everything after a question that failed. */
  async ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    const writes = this.#mark?.writes ?? null;
    this.#seen = null;
    const answer = await question();
    this.#seen = writes;
    return answer;
  }
}
