/**
 * Messages of bulks with a speed limit that came to the door too late for their slot: their carrier was down, or is slower than the limit. Each asks the
 * store for another slot. A few ask at a time, as the carrier has room for them, and one that comes back goes at once: so a message asks once, and not
 * again and again while a slow carrier takes others.
 */
import type { MessageKey, QueuedMessage } from "../message/message.ts";
import type { Clock, Timer } from "../runtime/clock.ts";

/** Of the carrier's window: others go on meanwhile. */
const SHARE_OF_WINDOW = 0.25;
/** So long an answer is waited for before others ask: the slot may be one of later. */
const ASK_MS = 200;
/** Messages that asked and are known again when they come. Beyond that those that asked first are forgotten, and wait like any other. */
const MAX_ASKED = 10_000;

export class MissedSlots {
  #waiting: QueuedMessage[] = [];
  #asking = 0;
  #timer: Timer | null = null;
  readonly #asked = new Set<MessageKey>();

  get length(): number {
    return this.#waiting.length;
  }

  /** Infinite when none waits. */
  get oldestDueAtMs(): number {
    return this.#waiting.reduce((oldestMs, { dueAtMs }) => Math.min(oldestMs, dueAtMs), Number.POSITIVE_INFINITY);
  }

  add(message: QueuedMessage): void {
    this.#waiting.push(message);
  }

  /** Those whose turn it is to ask, with room for so many parts at the carrier. `again` is called when others may. */
  ask(clock: Clock, room: number, window: number, again: () => void): QueuedMessage[] {
    const most = Math.min(room, Math.max(1, Math.floor(window * SHARE_OF_WINDOW))) - this.#asking;
    if (most <= 0 || this.#waiting.length === 0) return [];
    const askers = this.#waiting.splice(0, most);
    this.#asking += askers.length;
    for (const { key } of askers) this.#asked.add(key);
    for (const key of this.#asked) {
      if (this.#asked.size <= MAX_ASKED) break;
      this.#asked.delete(key);
    }
    this.#timer ??= clock.after(ASK_MS, () => {
      this.#timer = null;
      this.#asking = 0;
      again();
    });
    return askers;
  }

  /** Whether a message that comes from the store has asked here. */
  isBack(key: MessageKey): boolean {
    if (!this.#asked.delete(key)) return false;
    this.#asking = Math.max(0, this.#asking - 1);
    return true;
  }

  remove(unwanted: (message: QueuedMessage) => boolean): QueuedMessage[] {
    const removed = this.#waiting.filter(unwanted);
    if (removed.length > 0) this.#waiting = this.#waiting.filter((message) => !unwanted(message));
    return removed;
  }

  cancelTimer(): void {
    this.#timer?.cancel();
  }
}
