/**
 * Lanes: one account's messages for one carrier, first in first out. A carrier takes from its lanes in turn, a few parts from each
 * (deficit round-robin), and a lane that had nothing to send comes first when it has something (as in FQ-CoDel, RFC 8290), so that a
 * large bulk of one account does not delay another account's one-time password.
 */
import type { QueuedMessage } from "../message/message.ts";
import { SlotMap } from "../runtime/slots.ts";
import type { LaneName } from "../store/port/delivery.ts";

/** Parts that a lane may send in its turn. */
const QUANTUM_PARTS = 10;

/** A message and its place in its lane, which it keeps when it has to go back. */
export interface Waiting {
  readonly message: QueuedMessage;
  readonly place: number;
}

export class Lane {
  readonly name: LaneName;
  /** An account has another lane for messages with a slot, which do not wait behind those without. */
  readonly place: number;
  /** Some of its messages are still in the store. */
  overflowed = false;
  /** Messages are being brought from the store. */
  claiming = false;
  /** It will be tried again in a moment. */
  claimingSoon = false;
  /** Parts that it may still send in this turn. */
  deficit = 0;
  /** It has a place among the turns. */
  listed = false;
  #messages: Waiting[] = [];
  /** Where the first message stands: shifting a long array each time would cost more than the message. */
  #head = 0;

  constructor(name: LaneName, place = name.accountId) {
    this.name = name;
    this.place = place;
  }

  get length(): number {
    return this.#messages.length - this.#head;
  }

  push(waiting: Waiting): void {
    this.#messages.push(waiting);
  }

  /** A message that was taken and could not be sent goes back to where it was; of several, the first taken is the first again. */
  putBack(waiting: Waiting): void {
    let at = this.#head;
    while (at < this.#messages.length && this.#messages[at]!.place < waiting.place) at++;
    this.#messages.splice(at, 0, waiting);
  }

  peek(): Waiting | undefined {
    return this.#messages[this.#head];
  }

  shift(): void {
    this.#head++;
    if (this.#head > 1_000 && this.#head * 2 > this.#messages.length) {
      this.#messages = this.#messages.slice(this.#head);
      this.#head = 0;
    }
  }

  /** Takes out all messages that `unwanted` names. */
  remove(unwanted: (message: QueuedMessage) => boolean): QueuedMessage[] {
    const all = this.#messages.slice(this.#head);
    const removed = all.filter(({ message }) => unwanted(message));
    if (removed.length > 0) {
      this.#messages = all.filter(({ message }) => !unwanted(message));
      this.#head = 0;
    }
    return removed.map(({ message }) => message);
  }
}

/** The lanes of one carrier and whose turn it is. */
export class LaneRing {
  readonly #carrierId: string;
  readonly #lanes = new SlotMap<number, Lane>();
  /** Lanes with messages, in the order of their turns; and lanes that were just served early, which rest there until all others had theirs. */
  readonly #turns: Lane[] = [];
  /** Lanes that had nothing to send until now: they go before the others, once. */
  readonly #fresh: Lane[] = [];
  /** Of all lanes: one that is empty is forgotten, and what was taken from it may go back to it. */
  #lastPlace = 0;

  constructor(carrierId: string) {
    this.#carrierId = carrierId;
  }

  lane(accountId: number, place = accountId): Lane {
    let lane = this.#lanes.get(place);
    if (lane === undefined) {
      lane = new Lane({ accountId, carrierId: this.#carrierId }, place);
      this.#lanes.set(place, lane);
    }
    return lane;
  }

  #laneOf({ accountId, slotUntilMs }: QueuedMessage): Lane {
    return this.lane(accountId, slotUntilMs === null ? accountId : -1 - accountId);
  }

  lanes(): Iterable<Lane> {
    return this.#lanes.values();
  }

  push(message: QueuedMessage): void {
    const lane = this.#laneOf(message);
    lane.push(this.atTheEnd(message));
    if (!lane.listed) this.#list(lane);
  }

  /** A message that has waited already: it is next. */
  pushFirst(message: QueuedMessage): void {
    this.takeBack({ message, place: 0 });
  }

  /** The message with a place behind all that wait now. */
  atTheEnd(message: QueuedMessage): Waiting {
    return { message, place: ++this.#lastPlace };
  }

  putBack(waiting: Waiting): void {
    const lane = this.#laneOf(waiting.message);
    lane.putBack(waiting);
    if (!lane.listed) this.#list(lane);
  }

  /** What `next` has just given cannot go yet, and nothing is to overtake it: it is next again. */
  takeBack(waiting: Waiting): void {
    const lane = this.#laneOf(waiting.message);
    lane.putBack(waiting);
    for (const queue of [this.#fresh, this.#turns]) {
      const at = queue.indexOf(lane);
      if (at >= 0) queue.splice(at, 1);
    }
    lane.listed = true;
    lane.deficit += waiting.message.partCount;
    this.#fresh.unshift(lane);
  }

  #list(lane: Lane): void {
    lane.listed = true;
    lane.deficit = QUANTUM_PARTS;
    this.#fresh.push(lane);
  }

  /** The next message by turns, or undefined when all lanes are empty. */
  next(): Waiting | undefined {
    for (;;) {
      const queue = this.#fresh.length > 0 ? this.#fresh : this.#turns;
      const lane = queue[0];
      if (lane === undefined) return undefined;
      const waiting = lane.peek();
      if (waiting !== undefined && lane.deficit < waiting.message.partCount) {
        lane.deficit += QUANTUM_PARTS;
        queue.shift();
        this.#turns.push(lane);
        continue;
      }
      if (waiting !== undefined) {
        lane.deficit -= waiting.message.partCount;
        lane.shift();
      }
      if (lane.length === 0) {
        queue.shift();
        // Whoever always has just one message must not go before the others again and again.
        if (queue === this.#fresh && this.#turns.length > 0) this.#turns.push(lane);
        else this.#retire(lane);
      }
      if (waiting !== undefined) return waiting;
    }
  }

  remove(unwanted: (message: QueuedMessage) => boolean): QueuedMessage[] {
    return [...this.#lanes.values()].flatMap((lane) => lane.remove(unwanted));
  }

  /** An empty lane saves up no turns, and is forgotten unless more of it is in the store. */
  #retire(lane: Lane): void {
    lane.listed = false;
    if (!lane.overflowed && !lane.claiming) this.#lanes.delete(lane.place);
  }
}
