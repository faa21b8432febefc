/**
 * A priority queue that runs itself: each entry when its time has come, and one timer for all of them, however many there are. Times are
 * readings of the monotonic clock: a wall clock that steps back delays nothing.
 */
import type { Clock, Timer } from "../runtime/clock.ts";
import { PriorityQueue } from "./priority-queue.ts";

/** Under load the timer fires a hundred times a second for many entries, instead of a thousand times for a few. */
const MIN_SLEEP_MS = 10;
/** Entries in one go; the event loop gets a turn before the next ones. */
const MAX_AT_ONCE = 1000;

export interface TimetableOptions<T> {
  readonly clock: Clock;
  run(item: T): void;
  /** After all that was due at once has run. */
  onRan?(): void;
}

export class Timetable<T> {
  readonly #options: TimetableOptions<T>;
  readonly #queue = new PriorityQueue<T>();
  #running = false;
  #timer: { readonly wakeAtMs: number; readonly alarm: Timer } | null = null;

  constructor(options: TimetableOptions<T>) {
    this.#options = options;
  }

  get size(): number {
    return this.#queue.size;
  }

  /** What was noted before waits for this. */
  start(): void {
    this.#running = true;
    this.#setTimer();
  }

  /** Forgets all that was noted. */
  stop(): void {
    this.#running = false;
    this.#timer?.alarm.cancel();
    this.#timer = null;
    this.#queue.clear();
  }

  note(dueMs: number, item: T): void {
    this.#queue.note(dueMs, item);
    if (this.#timer === null || dueMs < this.#timer.wakeAtMs) this.#setTimer();
  }

  #setTimer(): void {
    if (!this.#running || this.#queue.size === 0) return;
    const nowMs = this.#options.clock.monotonic();
    const wakeAtMs = Math.max(this.#queue.nextDueMs, nowMs + MIN_SLEEP_MS);
    if (this.#timer !== null && this.#timer.wakeAtMs <= wakeAtMs) return;
    this.#timer?.alarm.cancel();
    this.#timer = {
      wakeAtMs,
      alarm: this.#options.clock.after(Math.ceil(wakeAtMs - nowMs), () => this.#runDue()),
    };
  }

  #runDue(): void {
    this.#timer = null;
    const nowMs = this.#options.clock.monotonic();
    for (let ran = 0; ran < MAX_AT_ONCE && this.#queue.nextDueMs <= nowMs; ran++) {
      this.#options.run(this.#queue.take()!);
    }
    this.#setTimer();
    this.#options.onRan?.();
  }
}
