/**
 * What may be handed to a carrier now, and what has to change where nothing may. The pump asks here before each message; what changes has it pump again.
 *
 *      nothing goes                                          until
 *      after a stop                                          –
 *      without the node's lease                              the store speaks up, which it does every second
 *      while the store does not keep up                      it has recorded what it was told
 *      to a carrier that is down, or takes no more now       it comes up, or answers
 *      to one that has said "later"                          its pause is over
 *      while its window is full of parts that are not        they are
 *      recorded, with the answers that they have had
 *      while a window of messages that it did not answer     they go again
 *      waits here
 *
 *      a message does not go                                 but
 *      after its validity                                    ends
 *      outside its window                                    is the store's until that opens
 *      behind its slot                                       asks the store for another, in its turn
 *      without room for all of its parts                     waits at the head of its carrier for a second, and then goes in pieces
 */
import type { QueuedMessage } from "../message/message.ts";
import type { Lease } from "../node/lease.ts";
import type { Clock } from "../runtime/clock.ts";
import { isOpen, nextOpening } from "../schedule/window.ts";
import type { CarrierQueue } from "./carrier-queue.ts";
import type { MessageOutcomes } from "./message-outcomes.ts";
import { MAX_TIMERS } from "./put-off.ts";

export interface FlowParts {
  readonly clock: Clock;
  readonly lease: Lease;
  readonly outcomes: Pick<MessageOutcomes, "recorder">;
}

/** Whether a message may go, as far as it is up to the message. */
export type MayGo = "now" | "validity over" | "slot missed" | { readonly opensAtMs: number };

/** How long a message waits at the head of its carrier for room for all of its parts. */
const HELD_MS = 1_000;

export class Flow {
  readonly #parts: FlowParts;
  /** Something stayed behind because the lease did not hold. */
  #lapsed = false;
  #isStopping = false;

  constructor(parts: FlowParts) {
    this.#parts = parts;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  stop(): void {
    this.#isStopping = true;
  }

  /** How many parts may go to a carrier. */
  room(queue: CarrierQueue): number {
    const { recorder } = this.#parts.outcomes;
    if (this.#isStopping || !recorder.keepsUp || queue.pause !== null || !queue.carrier.isUp()) return 0;
    if (queue.putOff >= queue.carrier.window + MAX_TIMERS) return 0;
    if (queue.free <= 0) recorder.hurry();
    return Math.min(queue.carrier.room(), queue.free);
  }

  /** To be asked before each message: it takes some 70 ns, and the process may have been stopped since the last one. */
  isOurs(): boolean {
    const holds = this.#parts.lease.holds();
    if (!holds) this.#lapsed = true;
    return holds;
  }

  /** Whether the lease holds again, and something has stayed behind while it did not. */
  takeUp(): boolean {
    if (!this.#lapsed || !this.#parts.lease.holds()) return false;
    this.#lapsed = false;
    return true;
  }

  /** A message that was begun in its window or slot is finished. */
  of(queue: CarrierQueue, message: QueuedMessage): MayGo {
    const { expiresAtMs, window, slotUntilMs } = message;
    const nowMs = this.#parts.clock.now();
    if (expiresAtMs <= nowMs) return "validity over";
    const isClosed = window !== null && !isOpen(window, nowMs);
    if (isClosed && !queue.isBegun(message)) return { opensAtMs: Math.min(nextOpening(window, nowMs), expiresAtMs) };
    if (slotUntilMs !== null && slotUntilMs < nowMs && !queue.isBegun(message)) return "slot missed";
    return "now";
  }

  /** For how long a message waits for room for so many parts, of which its carrier has less; 0 where none can be hoped for. Others wait behind it. */
  waitsForMs(queue: CarrierQueue, parts: number): number {
    if (parts <= queue.free || queue.handed.unrecorded === 0) return 0;
    this.#parts.outcomes.recorder.hurry();
    const nowMs = this.#parts.clock.monotonic();
    return Math.max(0, (queue.heldSinceMs ?? nowMs) + HELD_MS - nowMs);
  }
}
