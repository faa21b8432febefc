/** What dispatch has of one carrier: who waits for it, what it was handed, and how it stands with it just now. */
import type { Carrier } from "../carriers/port.ts";
import type { MessageKey, QueuedMessage } from "../message/message.ts";
import type { Clock, Timer } from "../runtime/clock.ts";
import { perKey } from "../runtime/lazy.ts";
import type { References } from "../store/references.ts";
import { CarrierCounts } from "./carrier-counts.ts";
import { CarrierHealth } from "./carrier-health.ts";
import { LaneRing } from "./lane.ts";
import { MissedSlots } from "./missed-slots.ts";
import type { PutOffs } from "./put-off.ts";
import { Submitting } from "./submitting.ts";

/** What counts in a carrier's window. It outlives a queue: a carrier that is taken away and set up again has what it had. */
export interface Handed {
  /** Parts that were handed over, and of which the store does not know yet what became of them. */
  unrecorded: number;
}

export class CarrierQueue {
  /** Another one after the operator changed its profile. */
  carrier: Carrier;
  readonly handed: Handed;
  readonly counts: CarrierCounts;
  readonly health: CarrierHealth;
  readonly ring: LaneRing;
  /** Messages that came too late for their slot. */
  readonly missed = new MissedSlots();
  /** Messages that were handed over, and wait to be handed over again. */
  readonly begun = new Map<MessageKey, Submitting>();
  /** Messages of several parts on the wire. */
  readonly long = new Set<Submitting>();
  /** Messages on the wire. */
  inFlight = 0;
  /** Messages that the carrier put off by themselves, and that wait here. */
  putOff = 0;
  /** The carrier said "later": nothing goes to it until then. */
  pause: Timer | null = null;
  /** Records what the carrier has of long messages. */
  recording: Timer | null = null;
  /** Looks how well the carrier is. */
  watching: Timer | null = null;
  /** Since when the next message waits for all of its parts to have room; null when none does. */
  heldSinceMs: number | null = null;
  /** It will be pumped in this turn of the loop. */
  pumping = false;
  /** It goes over to other nodes: nothing is begun any more. */
  leaving = false;
  /** It is being set up anew, and down only for that. */
  replacing = false;
  /** Whether it was up when that was last looked at, and since when that is so. */
  wasUp = false;
  sinceMs: number;

  constructor(carrier: Carrier, handed: Handed, counts: CarrierCounts, atMs: number) {
    this.carrier = carrier;
    this.handed = handed;
    this.counts = counts;
    this.health = new CarrierHealth(atMs);
    this.sinceMs = atMs;
    this.ring = new LaneRing(carrier.id);
  }

  /** Messages in memory, waiting or on the wire. */
  get size(): number {
    let size = this.inFlight + this.putOff + this.missed.length;
    for (const lane of this.ring.lanes()) size += lane.length;
    return size;
  }

  /** How many more parts its window has room for. */
  get free(): number {
    return this.carrier.window - this.handed.unrecorded;
  }

  /** Whether a message that comes now would go at once. */
  get hasRoom(): boolean {
    for (const { length } of this.ring.lanes()) if (length > 0) return false;
    return this.free > 0 && this.pause === null && this.carrier.room() > 0;
  }

  /** Since when the message has been due that waits longest: one that is first in its lane, missed its slot, or was put off. Null when none waits. */
  get oldestDueAtMs(): number | null {
    let oldestMs = this.missed.oldestDueAtMs;
    for (const lane of this.ring.lanes()) oldestMs = Math.min(oldestMs, lane.peek()?.message.dueAtMs ?? oldestMs);
    for (const { message } of this.begun.values()) oldestMs = Math.min(oldestMs, message.dueAtMs);
    return oldestMs === Number.POSITIVE_INFINITY ? null : oldestMs;
  }

  /** Whether the carrier has any of a message. */
  isBegun({ key, taken }: QueuedMessage): boolean {
    return taken !== null || this.begun.get(key)?.isBegun === true;
  }

  /** Whether the carrier may have a message although it was never answered: only this carrier may be handed it again while it can be reached. */
  isInDoubt({ key, unknownCount }: QueuedMessage): boolean {
    return unknownCount > 0 || (this.begun.get(key)?.asItIs.unknownCount ?? 0) > 0;
  }

  /** Whether something is on the wire, or has to go on because the carrier has a part of it. */
  get isBusy(): boolean {
    return this.inFlight > 0 || [...this.begun.values()].some((submitting) => submitting.isBegun);
  }

  /** Messages that wait, and whose last word was that they were not answered. */
  get unanswered(): MessageKey[] {
    return [...this.begun].flatMap(([key, submitting]) => (submitting.isUnknown ? [key] : []));
  }

  /** The message on its way: as it was left, unless nothing of it went and its carrier has another profile by now. */
  submitting(message: QueuedMessage, references: References, putOffs: PutOffs): Submitting {
    // Mostly there is none, and to look for one takes longer than to see that.
    const begun = this.begun.size === 0 ? undefined : this.begun.get(message.key);
    if (begun?.suits(this.carrier) !== true)
      return new Submitting(begun?.asItIs ?? message, this.carrier, references, putOffs);
    begun.moveTo(this.carrier);
    return begun;
  }

  /** Takes out all waiting messages that `unwanted` names. */
  remove(unwanted: (message: QueuedMessage) => boolean): QueuedMessage[] {
    return [...this.ring.remove(unwanted), ...this.missed.remove(unwanted)];
  }

  /** Nothing more happens here by itself. */
  cancelTimers(): void {
    this.missed.cancelTimer();
    this.pause?.cancel();
    this.recording?.cancel();
    this.watching?.cancel();
  }
}

/** The queues of the carriers that this node serves. */
export class CarrierQueues implements Iterable<CarrierQueue> {
  readonly #queues = new Map<string, CarrierQueue>();
  /** By carrier, as many as the operator ever names. */
  readonly #keptOf: (carrierId: string) => { readonly handed: Handed; readonly counts: CarrierCounts };
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#keptOf = perKey(() => ({ handed: { unrecorded: 0 }, counts: new CarrierCounts(clock) }));
  }

  add(carrier: Carrier): CarrierQueue {
    const { handed, counts } = this.#keptOf(carrier.id);
    const queue = new CarrierQueue(carrier, handed, counts, this.#clock.now());
    this.#queues.set(carrier.id, queue);
    return queue;
  }

  remove(queue: CarrierQueue): void {
    this.#queues.delete(queue.carrier.id);
  }

  get(carrierId: string): CarrierQueue | undefined {
    return this.#queues.get(carrierId);
  }

  /** The queue of a carrier that is served here and goes on being so, or null. */
  serving(carrierId: string | null): CarrierQueue | null {
    const queue = carrierId === null ? undefined : this.#queues.get(carrierId);
    return queue === undefined || queue.leaving ? null : queue;
  }

  has(queue: CarrierQueue): boolean {
    return this.#queues.get(queue.carrier.id) === queue;
  }

  [Symbol.iterator](): IterableIterator<CarrierQueue> {
    return this.#queues.values();
  }

  /** Messages in memory, waiting or on the wire. */
  get messages(): number {
    let sum = 0;
    for (const { size } of this) sum += size;
    return sum;
  }
}
