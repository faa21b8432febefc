/**
 * What the store's thread and the thread for checkpoints have to know of each other, in memory that both see: whose turn it is to bring the log
 * into the database file, and how often that failed over there. Only one of them may do it while the log is being mended (write-ahead-log.ts).
 * The store looks at the log as it commits, and wakes the thread when there is something to do.
 */
import { isIoError } from "./database.ts";

const FREE = 0;
const THREAD_AT_WORK = 1;
const STORE_HOLDS = 2;

/** Places in the shared memory. */
const TURN = 0;
const FAULTS = 1;

/** A checkpoint of some thousand pages takes a few milliseconds; a disk that is ill takes longer, and then the store asks again. */
const MAX_WAIT_MS = 500;

/** Pages of log that the thread brings over at once, at least. */
export const DUE_PAGES = 1_000;

export class CheckpointTurn {
  readonly memory: SharedArrayBuffer;
  readonly #cells: Int32Array<SharedArrayBuffer>;

  readonly #wake: () => void;

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  }

  /** `wake` has the thread look at the log. */
  constructor(memory = CheckpointTurn.memory(), wake: () => void = () => undefined) {
    this.memory = memory;
    this.#wake = wake;
    this.#cells = new Int32Array(memory);
  }

  /** For the thread: does the work unless the store holds the turn. An I/O error is counted before it is thrown on; a disk without room loses nothing. */
  work(checkpoint: () => void): void {
    if (Atomics.compareExchange(this.#cells, TURN, FREE, THREAD_AT_WORK) !== FREE) return;
    try {
      checkpoint();
    } catch (error) {
      if (isIoError(error)) Atomics.add(this.#cells, FAULTS, 1);
      throw error;
    } finally {
      Atomics.store(this.#cells, TURN, FREE);
      Atomics.notify(this.#cells, TURN);
    }
  }

  /** For the store: so many pages have to be brought over. A thread that is at work is left to it. */
  due(pages: number): void {
    if (pages >= DUE_PAGES && Atomics.load(this.#cells, TURN) === FREE) this.#wake();
  }

  /** For the store: how many I/O errors the thread has met. */
  get faults(): number {
    return Atomics.load(this.#cells, FAULTS);
  }

  /** For the store: keeps the thread from working, and waits for what it is at. False if that takes too long. */
  hold(): boolean {
    const before = Atomics.compareExchange(this.#cells, TURN, FREE, STORE_HOLDS);
    if (before !== THREAD_AT_WORK) return true;
    Atomics.wait(this.#cells, TURN, THREAD_AT_WORK, MAX_WAIT_MS);
    return Atomics.compareExchange(this.#cells, TURN, FREE, STORE_HOLDS) !== THREAD_AT_WORK;
  }

  release(): void {
    Atomics.compareExchange(this.#cells, TURN, STORE_HOLDS, FREE);
  }
}
