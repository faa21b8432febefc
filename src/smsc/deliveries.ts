/**
 * What the network has for its customers: receipts and messages from phones. Each goes to any connection of its system id that is
 * bound to receive, in turn; what nobody is bound for waits, and what is not acknowledged is sent again.
 *
 *   add ──▶ waiting ──room──▶ on the wire ──acknowledged──▶ done
 *              ▲                  │  │
 *              │◀──connection lost┘  └──refused for good, tried too often──▶ given up
 *              └──after a while──not now
 */
import type { PduDraft } from "../carriers/smpp/codec/pdu.ts";
import { type CommandStatus, statusCode } from "../carriers/smpp/codec/statuses.ts";
import type { SessionAnswer } from "../carriers/smpp/session/contract.ts";
import { backoffMs } from "../runtime/backoff.ts";
import type { Clock } from "../runtime/clock.ts";
import { onceEach } from "../runtime/lazy.ts";
import { PriorityQueue } from "../simulator/priority-queue.ts";
import type { Timetable } from "../simulator/timetable.ts";

export interface EsmeDelivery {
  /** Whose it is; null for whoever is there. */
  readonly systemId: string | null;
  pdu(): PduDraft<"deliver_sm">;
  /** The last word about it: acknowledged, or given up. */
  onEnd?: ((acknowledged: boolean) => void) | undefined;
}

/** A connection that is bound to receive. */
export interface Receiver {
  readonly systemId: string;
  readonly isClosed: boolean;
  room(): number;
  deliver(pdu: PduDraft<"deliver_sm">): Promise<SessionAnswer<"deliver_sm">>;
}

export interface DeliveryCounters {
  /** On the wire, each try counted. */
  sent: number;
  acknowledged: number;
  /** Refused for good, tried too often, or in the way when too many waited. */
  givenUp: number;
}

export interface DeliveriesOptions {
  readonly clock: Clock;
  readonly timetable: Timetable<() => void>;
  /** How many may wait at most; past it the oldest of the same system id is given up. */
  readonly bound: number;
  /** After the first "not now"; it doubles with each. */
  readonly retryAfterMs: number;
}

const MAX_TRIES = 10;
const MAX_RETRY_MS = 60_000;

const NOT_NOW: ReadonlySet<number> = new Set(
  (["ESME_RSYSERR", "ESME_RMSGQFUL", "ESME_RTHROTTLED", "ESME_RX_T_APPN"] satisfies CommandStatus[]).map(statusCode),
);

interface Waiting {
  readonly delivery: EsmeDelivery;
  /** In the order in which they were added. */
  readonly place: number;
  tries: number;
}

export class Deliveries {
  readonly counters: DeliveryCounters = { sent: 0, acknowledged: 0, givenUp: 0 };
  readonly #options: DeliveriesOptions;
  /** By system id. Under null lies what is for whoever is there; every receiver takes from it. */
  readonly #mailboxes = new Map<string | null, Mailbox>();
  readonly #mailbox = onceEach(this.#mailboxes, () => new Mailbox());
  /** Those that will be tried again after a while. */
  readonly #paused = new Set<Waiting>();
  #added = 0;
  #queued = 0;

  constructor(options: DeliveriesOptions) {
    this.#options = options;
  }

  /** How many have not been sent, or must be sent again. */
  get waiting(): number {
    return this.#queued + this.#paused.size;
  }

  add(delivery: EsmeDelivery): void {
    this.#put({ delivery, place: this.#added++, tries: 0 });
  }

  join(receiver: Receiver): void {
    for (const key of [receiver.systemId, null]) {
      const mailbox = this.#mailbox(key);
      mailbox.receivers.push(receiver);
      this.#empty(mailbox);
    }
  }

  leave(receiver: Receiver): void {
    for (const key of [receiver.systemId, null]) {
      const mailbox = this.#mailboxes.get(key);
      if (mailbox === undefined) continue;
      mailbox.receivers = mailbox.receivers.filter((other) => other !== receiver);
      this.#tidy(key, mailbox);
    }
  }

  /** A receiver has room again. */
  hasRoom({ systemId }: Receiver): void {
    for (const key of [systemId, null]) {
      const mailbox = this.#mailboxes.get(key);
      if (mailbox !== undefined) this.#empty(mailbox);
    }
  }

  /** Gives up all that waits. */
  clear(): void {
    for (const [key, mailbox] of this.#mailboxes) {
      for (let next = mailbox.queue.take(); next !== undefined; next = mailbox.queue.take()) this.#giveUp(next);
      this.#tidy(key, mailbox);
    }
    this.#queued = 0;
    for (const paused of this.#paused) this.#giveUp(paused);
    this.#paused.clear();
  }

  #put(waiting: Waiting): void {
    const mailbox = this.#mailbox(waiting.delivery.systemId);
    mailbox.queue.note(waiting.place, waiting);
    this.#queued++;
    this.#empty(mailbox);
    if (this.waiting <= this.#options.bound) return;
    const oldest = mailbox.queue.take();
    if (oldest === undefined) return;
    this.#queued--;
    this.#giveUp(oldest);
  }

  /** Sends what the receivers have room for. */
  #empty(mailbox: Mailbox): void {
    while (mailbox.queue.size > 0) {
      const receiver = mailbox.nextWithRoom();
      if (receiver === null) return;
      this.#queued--;
      this.#send(mailbox.queue.take()!, receiver);
    }
  }

  #send(waiting: Waiting, receiver: Receiver): void {
    this.counters.sent++;
    void receiver.deliver(waiting.delivery.pdu()).then((answer) => this.#answered(waiting, receiver, answer));
  }

  #answered(waiting: Waiting, receiver: Receiver, answer: SessionAnswer<"deliver_sm">): void {
    if (answer.kind === "answered" && answer.pdu.status === 0) {
      this.counters.acknowledged++;
      waiting.delivery.onEnd?.(true);
    } else if (answer.kind === "answered" ? !NOT_NOW.has(answer.pdu.status) : isHopeless(answer)) {
      this.#giveUp(waiting);
    } else if (receiver.isClosed) {
      // Not its fault: the next connection gets it.
      this.#put(waiting);
    } else {
      this.#tryAgain(waiting, answer.kind === "answered");
    }
  }

  #tryAgain(waiting: Waiting, later: boolean): void {
    const { clock, timetable, retryAfterMs, bound } = this.#options;
    waiting.tries++;
    if (waiting.tries >= MAX_TRIES || this.waiting >= bound) {
      this.#giveUp(waiting);
    } else if (later) {
      this.#paused.add(waiting);
      const delayMs = backoffMs({ firstMs: retryAfterMs, maxMs: MAX_RETRY_MS, jitter: 0 }, waiting.tries);
      timetable.note(clock.monotonic() + delayMs, () => {
        if (this.#paused.delete(waiting)) this.#put(waiting);
      });
    } else {
      this.#put(waiting);
    }
  }

  #giveUp({ delivery }: Waiting): void {
    this.counters.givenUp++;
    delivery.onEnd?.(false);
  }

  /** Whoever binds under ever new names leaves nothing behind. */
  #tidy(key: string | null, mailbox: Mailbox): void {
    if (mailbox.receivers.length === 0 && mailbox.queue.size === 0) this.#mailboxes.delete(key);
  }
}

/** A value that has no place in its field: it will have none the next time. */
function isHopeless(answer: SessionAnswer<"deliver_sm">): boolean {
  return answer.kind === "unsent" && answer.why === "unencodable";
}

class Mailbox {
  /** By their places: what comes back takes its old one. */
  readonly queue = new PriorityQueue<Waiting>();
  receivers: Receiver[] = [];
  #turn = 0;

  nextWithRoom(): Receiver | null {
    for (let tried = 0; tried < this.receivers.length; tried++) {
      const receiver = this.receivers[this.#turn++ % this.receivers.length]!;
      if (receiver.room() > 0) return receiver;
    }
    return null;
  }
}
