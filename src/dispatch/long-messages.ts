/**
 * Long messages on the wire. It may take a while until a carrier has all parts of one. So that what it has meanwhile is not known in memory
 * only, it is recorded again and again.
 */
import type { Clock } from "../runtime/clock.ts";
import type { CarrierQueue } from "./carrier-queue.ts";
import type { MessageOutcomes } from "./message-outcomes.ts";
import type { Submitting } from "./submitting.ts";

/** So long after a part was taken, that is recorded, should the answer to another part still be waited for. */
const RECORDED_AFTER_MS = 200;

export class LongMessages {
  readonly #clock: Clock;
  readonly #outcomes: Pick<MessageOutcomes, "again">;

  constructor(clock: Clock, outcomes: Pick<MessageOutcomes, "again">) {
    this.#clock = clock;
    this.#outcomes = outcomes;
  }

  add(queue: CarrierQueue, submitting: Submitting): void {
    queue.long.add(submitting);
    queue.recording ??= this.#clock.after(RECORDED_AFTER_MS, () => {
      queue.recording = null;
      for (const long of queue.long) {
        this.#record(long);
        this.add(queue, long);
      }
    });
  }

  #record(long: Submitting): void {
    const taken = long.takeNews();
    if (taken === null) return;
    this.#outcomes.again({ key: long.message.key, unknown: false, taken }, (fate) => {
      if (fate === "recorded") long.recorded(taken);
    });
  }
}
