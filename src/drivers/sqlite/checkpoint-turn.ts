/**
 * What the store's thread and the thread for checkpoints have to know of each other, in memory that both see: whose turn it is to bring the log
 * into the database file. After an I/O error of either of them the thread has it no more, until the store has mended the log (write-ahead-log.ts).
 * The store looks at the log as it commits, and wakes the thread when there is something to do.
 */
import { isIoError } from "./database.ts";

/** What is in the memory. */
const FREE = 0;
const AT_WORK = 1;
const FAILED = 2;
const HELD = 3;

/** A checkpoint of some thousand pages takes a few milliseconds; a disk that is ill takes longer, and then the store asks again. */
const MAX_WAIT_MS = 500;

/** Pages of log that the thread brings over at once, at least. */
export const DUE_PAGES = 1_000;

export class CheckpointTurn {
  readonly memory: SharedArrayBuffer;
  readonly #turn: Int32Array<SharedArrayBuffer>;

  readonly #wake: () => void;

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  }

  /** `wake` has the thread look at the log. */
  constructor(memory = CheckpointTurn.memory(), wake: () => void = () => undefined) {
    this.memory = memory;
    this.#wake = wake;
    this.#turn = new Int32Array(memory);
  }

  /** For the thread: does the work if it may. An I/O error is its last one until the store has seen to that; a disk without room loses nothing. */
  work(checkpoint: () => void): void {
    if (Atomics.compareExchange(this.#turn, 0, FREE, AT_WORK) !== FREE) return;
    let next = FREE;
    try {
      checkpoint();
    } catch (error) {
      if (isIoError(error)) next = FAILED;
      throw error;
    } finally {
      Atomics.store(this.#turn, 0, next);
      Atomics.notify(this.#turn, 0);
    }
  }

  /** For the store: so many pages have to be brought over. A thread that is at work is left to it. */
  due(pages: number): void {
    if (pages >= DUE_PAGES && Atomics.load(this.#turn, 0) === FREE) this.#wake();
  }

  /** For the store: whether the thread has met an I/O error. */
  get hasFailed(): boolean {
    return Atomics.load(this.#turn, 0) === FAILED;
  }

  /** For the store: keeps the thread from working until `release`, and waits for what it is at. False if that takes too long. */
  hold(): boolean {
    Atomics.wait(this.#turn, 0, AT_WORK, MAX_WAIT_MS);
    if (Atomics.compareExchange(this.#turn, 0, FREE, HELD) === AT_WORK) return false;
    Atomics.compareExchange(this.#turn, 0, FAILED, HELD);
    return true;
  }

  release(): void {
    Atomics.compareExchange(this.#turn, 0, HELD, FREE);
  }
}
