/**
 * Dispatch brings due messages to their carriers, and what became of them to the store.
 *
 *   store ──feed──▶ CarrierRouter ──▶ CarrierQueue (lanes) ──▶ CarrierPump ──▶ carrier
 *     ▲ ▲                                   │                      │             │
 *     │ └──────────Claims: more of a lane───┘                      │             │ receipts, messages from phones
 *     └────────────MessageOutcomes◀────────────────what became of it             │
 *     └────────────MessageOutcomes◀──────────────────────────────────────────────┘
 *
 * The store hands a message over when it is due (the feed). The router (carrier-router.ts) chooses the carrier. The carrier's queue
 * (carrier-queue.ts) has a lane for each account, and the lanes take turns (lane.ts): a large bulk of one account does not delay the message of
 * another. The pump (carrier-pump.ts) hands messages over as fast as the carrier takes them. What the carrier answers is gathered and written to
 * the store (message-outcomes.ts).
 *
 * Only a bounded number of messages is in memory. The others wait in the store and are claimed as lanes empty (claims.ts).
 *
 * A crash can leave messages of which nobody knows whether the carrier took them. They are sent again, so there must be few. A part counts in
 * its carrier's window until the store knows what became of it, and nothing is handed over while the store does not keep up. So there are never
 * more of them than the windows of all carriers.
 *
 * This file has the dispatcher itself: carriers that come and go, the start and the stop.
 */
import type { CarrierFacts } from "../carriers/facts.ts";
import type { CalledBack } from "../carriers/http/callbacks.ts";
import type { Carrier, CarrierListener } from "../carriers/port.ts";
import type { StateFacts } from "../carriers/state.ts";
import { AccountNames } from "../events/account-names.ts";
import type { Trace } from "../events/trace.ts";
import type { IncomingPart } from "../message/incoming.ts";
import type { Lease } from "../node/lease.ts";
import { type Clock, Interval, sleep, within } from "../runtime/clock.ts";
import { isDebugging, type Log } from "../runtime/log.ts";
import { LabelNames, type Metric } from "../runtime/metrics.ts";
import { type Feed, type LaneName, NOTHING_FED } from "../store/port/delivery.ts";
import type { Store } from "../store/port/store.ts";
import { factsOf, stateOf } from "./carrier-facts.ts";
import { CarrierPump } from "./carrier-pump.ts";
import { type CarrierQueue, CarrierQueues } from "./carrier-queue.ts";
import type { RoutingRules } from "./carrier-router.ts";
import { Claims } from "./claims.ts";
import { carrierMetrics, dispatchMetrics, MAX_NAMED_CARRIERS, zeroCounts } from "./dispatch-metrics.ts";
import { MessageLines } from "./message-lines.ts";
import { MessageOutcomes } from "./message-outcomes.ts";
import { MessageTrace } from "./message-trace.ts";

export interface DispatchSettings {
  /** Messages brought from the store in one go. */
  readonly claimMessages: number;
  /** Messages of one lane in memory. */
  readonly laneMessages: number;
  /** How often it is looked for messages in memory that have waited too long. */
  readonly sweepEveryMs: number;
  /** How long what nobody waits for is gathered, before it is brought to the store together; without it, for a turn of the event loop. */
  readonly gatherMs?: number;
  /** In how many lines the store writes what carriers say; one without it. */
  readonly toldLines?: number;
}

export interface DispatchParts extends RoutingRules {
  /** Where steps of messages are noted for people. */
  readonly trace?: Trace;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: DispatchSettings;
  /** Without it nothing goes to a carrier: another node may have taken over what is here. */
  readonly lease: Lease;
}

const OUTSTANDING_PAGE = 1_000;
/** Messages that are handed back in one transaction when this node ends. */
const HAND_BACK_MESSAGES = 500;
/** How long a stop waits for carriers to answer what they were handed, and how long it hands back. */
const STOP_WAIT_MS = 2_000;
/** The same for a carrier that goes over to other nodes. */
const HAND_OVER_WAIT_MS = 5_000;
/** How often it is looked whether all is answered. */
const LOOK_EVERY_MS = 10;

export class Dispatcher {
  readonly #parts: DispatchParts;
  readonly #queues: CarrierQueues;
  readonly #outcomes: MessageOutcomes;
  readonly #claims: Claims;
  readonly #pump: CarrierPump;
  /** Null unless the level of the log is debug. */
  readonly #lines: MessageLines | null;
  #sweeping: Interval | null = null;
  readonly #carrierNames = new LabelNames(MAX_NAMED_CARRIERS);
  readonly counts = zeroCounts();

  constructor(parts: DispatchParts) {
    const { claimMessages, laneMessages } = parts.settings;
    const { counts } = this;
    const queues = new CarrierQueues(parts.clock);
    this.#queues = queues;
    this.#parts = parts;
    const names = new AccountNames((accountId) => parts.store.accountKey({ accountId }));
    const lines = isDebugging(parts.log) ? new MessageLines(parts.log, names) : null;
    this.#lines = lines;
    const trace = new MessageTrace(parts.trace, parts.clock);
    const outcomes = new MessageOutcomes({
      ...parts,
      ...parts.settings,
      counts,
      trace,
      onWritten: () => this.#pump.pumpAll(),
    });
    const claims = new Claims({ ...parts, claimMessages, queues });
    const pump = new CarrierPump({ ...parts, laneMessages, queues, outcomes, claims, counts, trace, lines });
    this.#outcomes = outcomes;
    this.#claims = claims;
    this.#pump = pump;
  }

  /** Messages in memory here, waiting or on the wire. */
  get inMemory(): number {
    return this.#queues.messages;
  }

  /** Messages that carriers may have, and of which the store does not know yet what became of them. */
  get inDoubt(): number {
    return this.#pump.inDoubt.size;
  }

  /** Adds a carrier and tells it what an earlier process had handed to it. */
  async addCarrier(carrier: Carrier): Promise<void> {
    const queue = this.#queues.add(carrier);
    await this.#connect(queue, carrier);
    this.#recall(carrier.id);
  }

  /** What was left to other nodes is this one's too, from now on. */
  #recall(carrierId: string): void {
    this.take({ ...NOTHING_FED, overflowed: this.#claims.recall(carrierId) });
  }

  /** The same carrier with another profile: what waits for it goes on waiting, and what was begun is finished. */
  async replaceCarrier(carrier: Carrier): Promise<void> {
    const queue = this.#queues.get(carrier.id);
    if (queue === undefined) return this.addCarrier(carrier);
    queue.replacing = true;
    try {
      await queue.carrier.stop();
      queue.carrier = carrier;
      queue.health.forget(this.#parts.clock.now());
      await this.#connect(queue, carrier);
    } finally {
      queue.replacing = false;
    }
    this.#pump.pump(queue);
  }

  async #connect(queue: CarrierQueue, carrier: Carrier): Promise<void> {
    carrier.listen({
      onReceipt: (receipt, asMessage, raw, mayWait) => this.#receipt(queue, receipt, asMessage, raw, mayWait),
      onIncoming: (part) => this.#incoming(queue, part),
      onChange: () => {
        const isUp = carrier.isUp();
        if (isUp !== queue.wasUp) this.#noteChange(queue, isUp);
        if (isUp) this.#pump.pump(queue);
        else this.#pump.router.rerouteAll(queue);
      },
    });
    if (carrier.resume !== undefined) await this.#resume(carrier);
    await carrier.start();
    if (carrier.isUp() !== queue.wasUp) this.#noteChange(queue, carrier.isUp());
    this.#pump.pump(queue);
  }

  #receipt(
    queue: CarrierQueue,
    ...[receipt, asMessage, raw, mayWait]: Parameters<CarrierListener["onReceipt"]>
  ): Promise<void> {
    const safe = this.#outcomes.receipt(queue.carrier.id, receipt, asMessage, raw, mayWait);
    queue.counts.received(receipt);
    if (this.#lines !== null) this.#lines.receipt(queue.carrier, receipt);
    return safe;
  }

  #incoming(queue: CarrierQueue, part: IncomingPart): Promise<void> {
    this.counts.incomingParts++;
    return this.#outcomes.incoming(queue.carrier.id, part);
  }

  /** What a carrier said by calling us. Resolves when it is safe; false where this node does not serve the carrier. */
  async heard(carrierId: string, { receipts, incoming }: CalledBack): Promise<boolean> {
    const queue = this.#queues.get(carrierId);
    if (queue === undefined) return false;
    await Promise.all([
      ...receipts.map((receipt) => this.#receipt(queue, receipt)),
      ...incoming.map((part) => this.#incoming(queue, part)),
    ]);
    return true;
  }

  #noteChange(queue: CarrierQueue, isUp: boolean): void {
    queue.wasUp = isUp;
    queue.sinceMs = this.#parts.clock.now();
  }

  /** How it stands with the carriers that this node serves. */
  facts(): CarrierFacts[] {
    return [...this.#queues].map(factsOf);
  }

  metrics(): Metric[] {
    return [...carrierMetrics(this.#queues, this.#carrierNames, this.#parts.clock.now()), ...dispatchMetrics(this)];
  }

  /** The same, as far as their connections go. */
  stateFacts(): StateFacts[] {
    return [...this.#queues].map(stateOf);
  }

  /** Tries connections that wait for their next try at once, and takes a carrier that is sick for well. False where this node does not serve the carrier. */
  connectNow(carrierId: string): boolean {
    const queue = this.#queues.get(carrierId);
    queue?.carrier.connectNow?.();
    queue?.health.forget(this.#parts.clock.now());
    return queue !== undefined;
  }

  /** A carrier that the operator took away: what waits for it goes to another, or has no route any more. */
  async removeCarrier(id: string): Promise<void> {
    const queue = this.#queues.get(id);
    if (queue !== undefined) await this.#close(queue);
    this.#recall(id);
  }

  /** A carrier that other nodes serve from now on: what was begun is finished, within a bound, and all the rest is theirs. */
  async handOver(id: string): Promise<void> {
    const queue = this.#queues.get(id);
    if (queue === undefined) return;
    queue.leaving = true;
    for (const message of queue.remove((message) => !queue.isBegun(message))) this.#pump.router.leave(queue, message);
    const { clock } = this.#parts;
    const deadlineMs = clock.monotonic() + HAND_OVER_WAIT_MS;
    while (queue.isBusy && !this.#pump.isStopping && clock.monotonic() < deadlineMs) await sleep(clock, LOOK_EVERY_MS);
    // What a stop finds here is handed back with everything else.
    if (!this.#pump.isStopping) await this.#close(queue);
  }

  async #close(queue: CarrierQueue): Promise<void> {
    this.#queues.remove(queue);
    queue.cancelTimers();
    await queue.carrier.stop();
    for (const { name, overflowed } of queue.ring.lanes()) if (overflowed) this.#claims.leave(name);
    for (const message of queue.remove(() => true)) this.#pump.router.leave(queue, message);
  }

  async #resume(carrier: Carrier): Promise<void> {
    let afterRow = 0;
    for (;;) {
      const rows = await this.#parts.store.outstanding({ carrierId: carrier.id, afterRow, limit: OUTSTANDING_PAGE });
      carrier.resume?.(rows);
      if (rows.length < OUTSTANDING_PAGE) return;
      afterRow = rows.at(-1)!.rowId;
    }
  }

  /** `overflowed` are the lanes that had messages in the store when the service started. */
  start(overflowed: readonly LaneName[]): void {
    this.take({ ...NOTHING_FED, overflowed, earliestDueAtMs: this.#parts.clock.now() });
    const { clock, settings } = this.#parts;
    this.#sweeping = Interval.together(clock, settings.sweepEveryMs, async () => this.#pump.sweep());
  }

  /** What the store has committed for this node. */
  take(feed: Feed): void {
    this.#pump.router.enqueue(feed.messages);
    for (const { accountId, carrierId } of feed.overflowed) {
      const lane = this.#pump.router.laneOf({ accountId, carrierId });
      lane.overflowed = true;
      this.#claims.refill(lane);
    }
    if (feed.earliestDueAtMs !== null) this.#claims.wakeAt(feed.earliestDueAtMs);
    this.#pump.goOn();
  }

  /**
   * Nothing new goes out; what carriers have in hand is waited for, in bounds; the rest is handed back. Gives how many messages are in
   * doubt: a carrier may have them, and did not answer, or the store did not hear what it said. They go again with the next start.
   */
  async stop(): Promise<number> {
    this.#pump.stop();
    this.#claims.stop();
    await this.#sweeping?.stop();
    const { clock, log } = this.#parts;
    const queues = [...this.#queues];
    const busy = () => queues.some((queue) => queue.inFlight > 0);
    const deadline = clock.monotonic() + STOP_WAIT_MS;
    while (busy() && clock.monotonic() < deadline) await sleep(clock, LOOK_EVERY_MS);
    const unanswered = queues.reduce((sum, { inFlight }) => sum + inFlight, 0);
    if (unanswered > 0)
      log.warn(
        { messages: unanswered },
        "carriers did not answer in time; these messages go again with the next start",
      );
    for (const queue of queues) {
      queue.cancelTimers();
      await queue.carrier.stop();
    }
    // What a carrier's end says of its messages is known in this turn.
    await new Promise<void>((resolve) => setImmediate(resolve));
    // Bounded: what a store that is away did not hear of is still owned, and taken over by the next start.
    const settled = await within(clock, STOP_WAIT_MS, this.#outcomes.recorder.settled(), "too long");
    this.#outcomes.recorder.abandon();
    if (settled !== "too long") await this.#handBack();
    return this.leftInDoubt;
  }

  /** Messages that would be in doubt if the process ended now: those above, and those that wait after a carrier did not answer. */
  get leftInDoubt(): number {
    const unanswered = [...this.#queues].flatMap((queue) => queue.unanswered);
    return new Set([...this.#pump.inDoubt.keys(), ...unanswered]).size;
  }

  /** What it does not come to, or a store that is away does not hear of, the next start takes all the same. */
  async #handBack(): Promise<void> {
    const { clock, store, log } = this.#parts;
    const untilMs = clock.monotonic() + STOP_WAIT_MS;
    try {
      for (let more = true; more && clock.monotonic() < untilMs; )
        ({ more } = await store.handBack({ limit: HAND_BACK_MESSAGES }));
    } catch (error) {
      log.warn({ err: error }, "what waits could not be handed back");
    }
  }
}
