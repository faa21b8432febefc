/**
 * The router decides which carrier a message waits for. It is the one that intake chose, while that is up or nobody else serves the message.
 * A message whose carrier is down or sick goes to another carrier of its route; one whose carrier is served by other nodes is released to
 * them; one whose carrier is gone, and that nobody serves, ends.
 *
 * A message of which a carrier has a part stays with that carrier. One that a sick carrier may have, because it was never answered, does too.
 * Where every other carrier is sick as well, a message stays where it is: it is as if none were.
 */
import type { PartsTaken, QueuedMessage } from "../message/message.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import { errorByName } from "../sms/errors.ts";
import type { LaneName } from "../store/port/delivery.ts";
import type { CarrierQueue, CarrierQueues } from "./carrier-queue.ts";
import type { Claims } from "./claims.ts";
import { type Lane, LaneRing, type Waiting } from "./lane.ts";
import type { MessageOutcomes } from "./message-outcomes.ts";
import { endInDoubt } from "./submitting.ts";

/** What the operator has set about carriers and routes. */
export interface RoutingRules {
  /** Another carrier that serves this number and can write the sender, out of those that are usable, or null. */
  readonly route: (
    message: Pick<QueuedMessage, "from" | "to">,
    usable: (carrierId: string) => boolean,
  ) => string | null;
  /** Whether the operator has such a carrier, which other nodes may serve. */
  readonly knows: (carrierId: string) => boolean;
  /** Sees to it that `knows` and `route` speak of what the operator has set by now. */
  readonly lookAgain: () => Promise<void>;
}

/** What the router knows of the pump, whose router it is. */
export interface HandingOver {
  /** Nothing is handed over any more. */
  readonly isStopping: boolean;
  /** Something waits for the carrier: it gets what it has room for. */
  pump(queue: CarrierQueue): void;
  /** A message of which the carrier has a part ends with that part. */
  giveUp(queue: CarrierQueue, message: QueuedMessage, errorId: number): void;
}

export interface CarrierRouterParts extends RoutingRules {
  readonly clock: Clock;
  readonly log: Log;
  readonly queues: CarrierQueues;
  readonly outcomes: MessageOutcomes;
  readonly claims: Claims;
  readonly pump: HandingOver;
  readonly counts: { rerouted: number };
}

const CARRIER_GONE = errorByName("EC_NOTSUBMITTEDTOSMPPCHANNEL").id;
/** How often one message may be sent elsewhere because its carrier is down or sick: carriers that come and go must not play ball with it. */
const MAX_HOPS = 5;

export class CarrierRouter {
  readonly #parts: CarrierRouterParts;
  readonly #hops = new WeakMap<QueuedMessage, number>();

  constructor(parts: CarrierRouterParts) {
    this.#parts = parts;
  }

  /** A message whose carrier is not here any more. If it is nowhere, one that the carrier has part of ends with that part. */
  leave(queue: CarrierQueue, message: QueuedMessage): void {
    const asItIs = this.#asItIs(queue, message);
    if (asItIs.taken !== null && !this.#parts.knows(message.carrierId)) {
      this.#parts.pump.giveUp(queue, message, CARRIER_GONE);
      return;
    }
    queue.begun.delete(message.key);
    this.enqueue([asItIs]);
  }

  /** A message that waits, with what happened to it here. */
  #asItIs(queue: CarrierQueue, message: QueuedMessage): QueuedMessage {
    const begun = queue.begun.get(message.key);
    if (begun === undefined) return message;
    const { asItIs } = begun;
    this.#hops.set(asItIs, this.#hops.get(message) ?? 0);
    return asItIs;
  }

  /** Back to its place, unless its carrier has gone, or is down or sick meanwhile. */
  putBack(queue: CarrierQueue, waiting: Waiting): void {
    if (!this.#parts.queues.has(queue) || (queue.leaving && !queue.isBegun(waiting.message))) {
      this.leave(queue, waiting.message);
      return;
    }
    if (this.moveOn(queue, waiting.message)) return;
    queue.ring.putBack(waiting);
    if (!queue.carrier.isUp()) this.rerouteAll(queue);
  }

  /** A message that a sick carrier did not take goes to another at once, if one serves it. */
  moveOn(queue: CarrierQueue, message: QueuedMessage): boolean {
    const { pump, queues } = this.#parts;
    if (!queue.health.isSick || pump.isStopping || queue.replacing || !this.#mayLeave(queue, message)) return false;
    const other = queues.serving(this.#alternative(message));
    if (other === null) return false;
    const moved = this.#asItIs(queue, message);
    queue.begun.delete(message.key);
    pump.pump(this.#push(other, moved));
    return true;
  }

  /** Puts messages into their lanes: those whose carrier is down or sick into that of another that serves them. The rest is for other nodes. */
  enqueue(messages: readonly QueuedMessage[]): void {
    const touched = new Set<CarrierQueue>();
    const unknownCarrier: QueuedMessage[] = [];
    for (const message of messages) {
      const queue = this.#queueFor(message);
      if (queue !== null) touched.add(this.#push(queue, message));
      else if (this.#parts.knows(message.carrierId)) this.#parts.outcomes.released(message.key);
      else unknownCarrier.push(message);
    }
    for (const queue of touched) this.#parts.pump.pump(queue);
    if (unknownCarrier.length > 0) void this.#enqueueUnknownCarrier(unknownCarrier);
  }

  #push(queue: CarrierQueue, message: QueuedMessage): CarrierQueue {
    const own = queue.carrier.id === message.carrierId ? message : this.#rerouted(message, queue.carrier.id);
    if (message.slotUntilMs !== null && queue.missed.isBack(message.key)) queue.ring.pushFirst(own);
    else queue.ring.push(own);
    return queue;
  }

  /**
   * Messages for a carrier that nobody knows here. Another node may have heard of it first, so the catalogue is looked at again before
   * anything ends for that. Of a carrier that is really gone, they go to another of the route, here or elsewhere.
   */
  async #enqueueUnknownCarrier(messages: readonly QueuedMessage[]): Promise<void> {
    const { knows, lookAgain, route, log, clock } = this.#parts;
    try {
      await lookAgain();
    } catch (error) {
      log.warn({ err: error }, "the catalogue could not be read for messages whose carrier is not known; trying again");
      this.#parts.claims.soon(() => this.enqueue(messages));
      return;
    }
    const touched = new Set<CarrierQueue>();
    for (const message of messages) {
      const alternative = message.taken === null ? this.#alternative(message) : null;
      const queue = this.#queueFor(message) ?? this.#parts.queues.serving(alternative);
      if (queue !== null) {
        touched.add(this.#push(queue, message));
        continue;
      }
      if (message.taken !== null && !knows(message.carrierId)) {
        this.#endTaken(message, message.taken);
        continue;
      }
      const elsewhere = knows(message.carrierId) ? message.carrierId : route(message, knows);
      if (elsewhere === null) {
        const ending =
          message.unknownCount > 0
            ? endInDoubt(message.carrierId, message.key)
            : ({ key: message.key, event: "no route", errorId: 0 } as const);
        this.#parts.outcomes.ended({ ...ending, atMs: clock.now() });
        continue;
      }
      if (elsewhere !== message.carrierId) this.#rerouted(message, elsewhere);
      this.#parts.outcomes.released(message.key);
    }
    for (const queue of touched) this.#parts.pump.pump(queue);
  }

  /** A carrier that is gone has a part of it: of that the receipts are waited for, should they come some other way. */
  #endTaken({ key, carrierId, to }: QueuedMessage, { ids }: PartsTaken): void {
    const parts = ids.flatMap((id) => (id === null ? [] : [{ carrierMessageId: id, counts: true }]));
    const atMs = this.#parts.clock.now();
    this.#parts.outcomes.submitted({ key, carrierId, parts, refusedErrorId: CARRIER_GONE, atMs }, to);
  }

  /** A carrier that is up and not sick if there is one; else the message waits for its own; null where that one is not here. */
  #queueFor(message: QueuedMessage): CarrierQueue | null {
    const own = this.#parts.queues.serving(message.carrierId);
    if (own === null || this.#isFor(own, message) || own.replacing || message.taken !== null) return own;
    return this.#parts.queues.serving(this.#alternative(message)) ?? own;
  }

  /** A carrier that is well gets all; one that comes back a share; and one that is sick now and then a message that can go at once, as a probe. */
  #isFor(own: CarrierQueue, message: QueuedMessage): boolean {
    if (!own.carrier.isUp()) return false;
    const { health } = own;
    if (health.takesAll || own.isInDoubt(message)) return true;
    return (!health.isSick || own.hasRoom) && health.admits(this.#parts.clock.monotonic());
  }

  /** Only whose own carrier is down, or gone, has to make do with one that is sick. */
  #alternative(message: QueuedMessage): string | null {
    if ((this.#hops.get(message) ?? 0) >= MAX_HOPS) return null;
    const { route, queues } = this.#parts;
    const upQueue = (id: string): CarrierQueue | null => {
      const queue = queues.serving(id);
      return queue?.carrier.isUp() === true ? queue : null;
    };
    const isOther = (id: string): boolean => id !== message.carrierId && upQueue(id) !== null;
    const other = route(message, (id) => isOther(id) && upQueue(id)?.health.isSick === false);
    return other ?? (upQueue(message.carrierId) === null ? route(message, isOther) : null);
  }

  #rerouted(message: QueuedMessage, carrierId: string): QueuedMessage {
    const moved = { ...message, carrierId };
    this.#hops.set(moved, (this.#hops.get(message) ?? 0) + 1);
    this.#parts.counts.rerouted++;
    this.#parts.outcomes.rerouted(message.key, carrierId);
    return moved;
  }

  /**
   * The carrier went down, or became sick: what it has none of, and another one serves, goes there. The rest sleeps until it is back. One that is
   * down because this service stops, or has another profile now, is not down for its messages.
   */
  rerouteAll(queue: CarrierQueue): void {
    if (this.#parts.pump.isStopping || queue.replacing) return;
    const leaving = queue.remove((message) => this.#mayLeave(queue, message) && this.#alternative(message) !== null);
    const moved = leaving.map((message) => this.#asItIs(queue, message));
    for (const { key } of leaving) queue.begun.delete(key);
    this.enqueue(moved);
  }

  /** What was never answered may leave only a carrier that cannot be asked again. */
  #mayLeave(queue: CarrierQueue, message: QueuedMessage): boolean {
    return !queue.isBegun(message) && !(queue.carrier.isUp() && queue.isInDoubt(message));
  }

  /** A lane of a carrier that is not there gets its messages all the same, to be told that they have no route. */
  laneOf(name: LaneName): Lane {
    const queue = this.#parts.queues.get(name.carrierId);
    return (queue?.ring ?? new LaneRing(name.carrierId)).lane(name.accountId);
  }
}
