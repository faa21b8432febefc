/**
 * Dispatch: what is due goes to its carrier, as fast as the carrier takes it and by turns of the accounts; what became of it goes
 * to the store. It holds a bounded window of the backlog in memory; the rest waits in the store and is claimed as lanes empty.
 *
 * A part counts in its carrier's window until the store knows what became of it, and while the store does not keep up none is handed over.
 * So however the process ends, what carriers may have and the store does not know of is no more than their windows.
 */
import type { Carrier } from "../carriers/port.ts";
import type { MessageKey, PartsTaken, QueuedMessage } from "../message/message.ts";
import { type Clock, Interval, type Timer } from "../runtime/clock.ts";
import type { Lease } from "../runtime/lease.ts";
import type { Log } from "../runtime/log.ts";
import { isOpen, nextOpening } from "../schedule/window.ts";
import { errorByName } from "../sms/errors.ts";
import type { Feed, LaneName, Store } from "../store/port.ts";
import { CarrierQueue, type Handed } from "./carrier-queue.ts";
import { Claims, type ClaimsParts } from "./claims.ts";
import { type Lane, LaneRing, type Waiting } from "./lane.ts";
import { Outcomes } from "./outcomes.ts";
import { PutOffs } from "./put-off.ts";
import { References } from "./references.ts";
import { Submitting, type Verdict } from "./submitting.ts";

export interface DispatchSettings {
  /** Messages brought from the store in one go. */
  readonly claimCount: number;
  /** Messages of one lane in memory. */
  readonly laneMessages: number;
  /** How long after a message's validity its receipt may still come. */
  readonly receiptWaitMs: number;
  readonly sweepEveryMs: number;
  /** How long receipts and messages from phones that match nothing are kept, and how many of each. */
  readonly unmatchedDays: number;
  readonly unmatchedRows: number;
}

export interface DispatchParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: DispatchSettings;
  /** Without it nothing goes to a carrier: another node may have taken over what is here. */
  readonly lease: Lease;
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

const OUTSTANDING_PAGE = 1_000;
const CARRIER_GONE = errorByName("EC_NOTSUBMITTEDTOSMPPCHANNEL").id;
const VALIDITY_EXPIRED = errorByName("EC_VALIDITY_EXPIRED").id;
/** How often one message may be sent elsewhere because its carrier is down: carriers that come and go must not play ball with it. */
const MAX_HOPS = 5;
/** Messages that are handed back in one transaction when this node ends. */
const HAND_BACK_MESSAGES = 500;
/** How long a stop waits for carriers to answer what they were handed, and how long it hands back. */
const STOP_WAIT_MS = 2_000;
/** The same for a carrier that goes over to other nodes. */
const HAND_OVER_WAIT_MS = 5_000;
/** How often it is looked whether all is answered. */
const LOOK_EVERY_MS = 10;
/** How long a message waits at the head of its carrier for room for all of its parts. */
const HELD_MS = 1_000;
/** So long after a part of a long message was taken, that is recorded, should the answer to another part still be waited for. */
const PARTS_RECORDED_AFTER_MS = 200;

export class Dispatcher {
  readonly #parts: DispatchParts;
  readonly #carrierQueues = new Map<string, CarrierQueue>();
  readonly #outcomes: Outcomes;
  readonly #references = new References();
  readonly #putOffs: PutOffs;
  /** Lanes with messages in the store, of carriers that other nodes serve: by carrier, the accounts. */
  readonly #elsewhere = new Map<string, Set<number>>();
  readonly #hops = new WeakMap<QueuedMessage, number>();
  readonly counts = {
    rerouted: 0,
    submitted: 0,
    refused: 0,
    later: 0,
    unknown: 0,
    expired: 0,
    receipts: 0,
    incomingParts: 0,
    incomingUnmatched: 0,
    receiptsUnmatched: 0,
    receiptsForeign: 0,
    receiptsDoubtful: 0,
    receiptsLater: 0,
    receiptsRepeated: 0,
    quarantined: 0,
  };
  readonly #claims: Claims;
  /** Timers of what waits for a moment: messages that a carrier put off, and long ones that wait for room. */
  readonly #aside = new Set<Timer>();
  #sweeping: Interval | null = null;
  #stopping = false;
  /** Messages that carriers may have, by how often they were handed over and the store does not know yet what became of that. */
  readonly #inDoubt = new Map<MessageKey, number>();
  /** By carrier, as many as the operator ever names. */
  readonly #handedTo = new Map<string, Handed>();
  /** Something stayed behind because the lease did not hold. */
  #lapsed = false;

  constructor(parts: DispatchParts) {
    this.#parts = parts;
    this.#putOffs = new PutOffs(parts.settings.laneMessages);
    this.#outcomes = new Outcomes({
      ...parts,
      onWritten: () => this.#pumpAll(),
      counts: this.counts,
    });
    this.#claims = new Claims({
      ...parts,
      claimCount: parts.settings.claimCount,
      servedBy: (carrierId) => this.#servedBy(carrierId),
      leave: (lane) => this.#leaveElsewhere(lane),
    });
  }

  #servedBy(carrierId: string): ReturnType<ClaimsParts["servedBy"]> {
    if (this.#carrierQueueOf(carrierId) !== null) return "this node";
    return this.#parts.knows(carrierId) ? "others" : "nobody";
  }

  /** Messages in memory here, waiting or on the wire. */
  get inMemory(): number {
    let size = 0;
    for (const carrierQueue of this.#carrierQueues.values()) size += carrierQueue.size;
    return size;
  }

  /** Messages that carriers may have, and of which the store does not know yet what became of them. */
  get inDoubt(): number {
    return this.#inDoubt.size;
  }

  /** Adds a carrier and tells it what an earlier process had handed to it. */
  async addCarrier(carrier: Carrier): Promise<void> {
    const handed = this.#handedTo.get(carrier.id) ?? { unrecorded: 0 };
    this.#handedTo.set(carrier.id, handed);
    const carrierQueue = new CarrierQueue(carrier, handed);
    this.#carrierQueues.set(carrier.id, carrierQueue);
    await this.#connect(carrierQueue, carrier);
    this.#recall(carrier.id);
  }

  /** What was left to other nodes is this one's too, from now on. */
  #recall(carrierId: string): void {
    const overflowed = [...(this.#elsewhere.get(carrierId) ?? [])].map((accountId) => ({ accountId, carrierId }));
    this.#elsewhere.delete(carrierId);
    this.take({ messages: [], reports: [], overflowed, earliestDueAtMs: null });
  }

  /** The same carrier with another profile: what waits for it goes on waiting, and what was begun is finished. */
  async replaceCarrier(carrier: Carrier): Promise<void> {
    const carrierQueue = this.#carrierQueues.get(carrier.id);
    if (carrierQueue === undefined) return this.addCarrier(carrier);
    carrierQueue.replacing = true;
    try {
      await carrierQueue.carrier.stop();
      carrierQueue.carrier = carrier;
      await this.#connect(carrierQueue, carrier);
    } finally {
      carrierQueue.replacing = false;
    }
    this.#pump(carrierQueue);
  }

  async #connect(carrierQueue: CarrierQueue, carrier: Carrier): Promise<void> {
    carrier.onReceipt((receipt, asMessage) => {
      this.counts.receipts++;
      return this.#outcomes.receipt(carrier.id, receipt, asMessage);
    });
    carrier.onIncoming((part) => {
      this.counts.incomingParts++;
      return this.#outcomes.incoming(carrier.id, part);
    });
    carrier.onChange(() => {
      if (carrier.isUp()) this.#pump(carrierQueue);
      else this.#rerouteAll(carrierQueue);
    });
    if (carrier.resume !== undefined) await this.#resume(carrier);
    await carrier.start();
    this.#pump(carrierQueue);
  }

  /** A carrier that the operator took away: what waits for it goes to another, or has no route any more. */
  async removeCarrier(id: string): Promise<void> {
    const carrierQueue = this.#carrierQueues.get(id);
    if (carrierQueue !== undefined) await this.#close(carrierQueue);
    this.#recall(id);
  }

  /** A carrier that other nodes serve from now on: what was begun is finished, within a bound, and all the rest is theirs. */
  async handOver(id: string): Promise<void> {
    const carrierQueue = this.#carrierQueues.get(id);
    if (carrierQueue === undefined) return;
    carrierQueue.leaving = true;
    for (const message of carrierQueue.ring.remove((message) => !carrierQueue.isBegun(message)))
      this.#leave(carrierQueue, message);
    const { clock } = this.#parts;
    const deadlineMs = clock.monotonic() + HAND_OVER_WAIT_MS;
    while (carrierQueue.isBusy && !this.#stopping && clock.monotonic() < deadlineMs)
      await new Promise<void>((resolve) => clock.after(LOOK_EVERY_MS, resolve));
    // What a stop finds here is handed back with everything else.
    if (!this.#stopping) await this.#close(carrierQueue);
  }

  async #close(carrierQueue: CarrierQueue): Promise<void> {
    this.#carrierQueues.delete(carrierQueue.carrier.id);
    carrierQueue.cancelTimers();
    await carrierQueue.carrier.stop();
    for (const { name, overflowed } of carrierQueue.ring.lanes()) if (overflowed) this.#leaveElsewhere(name);
    for (const message of carrierQueue.ring.remove(() => true)) this.#leave(carrierQueue, message);
  }

  /** A message whose carrier is not here any more. If it is nowhere, one that the carrier has part of ends with that part. */
  #leave(carrierQueue: CarrierQueue, message: QueuedMessage): void {
    const asItIs = this.#asItIs(carrierQueue, message);
    if (asItIs.taken !== null && !this.#parts.knows(message.carrierId)) {
      this.#giveUp(carrierQueue, message, CARRIER_GONE);
      return;
    }
    carrierQueue.begun.delete(message.key);
    this.#enqueue([asItIs]);
  }

  /** A message that waits, with what happened to it here. */
  #asItIs(carrierQueue: CarrierQueue, message: QueuedMessage): QueuedMessage {
    const begun = carrierQueue.begun.get(message.key);
    if (begun === undefined) return message;
    const { asItIs } = begun;
    this.#hops.set(asItIs, this.#hops.get(message) ?? 0);
    return asItIs;
  }

  #leaveElsewhere({ accountId, carrierId }: LaneName): void {
    const accounts = this.#elsewhere.get(carrierId);
    if (accounts === undefined) this.#elsewhere.set(carrierId, new Set([accountId]));
    else accounts.add(accountId);
  }

  /** A message of which the carrier has a part ends with that part. */
  #giveUp(carrierQueue: CarrierQueue, message: QueuedMessage, errorId: number): void {
    const begun =
      carrierQueue.begun.get(message.key) ??
      new Submitting(message, carrierQueue.carrier, this.#references, this.#putOffs);
    carrierQueue.begun.delete(message.key);
    const { parts, refusedErrorId } = begun.giveUp(errorId);
    const { key, to } = message;
    const atMs = this.#parts.clock.now();
    const outcome = { key, carrierId: carrierQueue.carrier.id, parts, refusedErrorId, atMs };
    this.#outcomes.submitted(outcome, to, this.#handed(carrierQueue, key, 0));
  }

  /** So many parts of a message are handed over, until what is returned is called. */
  #handed(carrierQueue: CarrierQueue, key: MessageKey, parts: number): () => void {
    carrierQueue.handed.unrecorded += parts;
    this.#inDoubt.set(key, (this.#inDoubt.get(key) ?? 0) + 1);
    return () => {
      carrierQueue.handed.unrecorded -= parts;
      const left = this.#inDoubt.get(key)! - 1;
      if (left > 0) this.#inDoubt.set(key, left);
      else this.#inDoubt.delete(key);
    };
  }

  /** Back to its place, unless its carrier has gone or is down meanwhile. */
  #putBack(carrierQueue: CarrierQueue, waiting: Waiting): void {
    if (
      this.#carrierQueues.get(carrierQueue.carrier.id) !== carrierQueue ||
      (carrierQueue.leaving && !carrierQueue.isBegun(waiting.message))
    ) {
      this.#leave(carrierQueue, waiting.message);
      return;
    }
    carrierQueue.ring.putBack(waiting);
    if (!carrierQueue.carrier.isUp()) this.#rerouteAll(carrierQueue);
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
    this.take({ messages: [], reports: [], overflowed, earliestDueAtMs: this.#parts.clock.now() });
    const { clock, settings } = this.#parts;
    this.#sweeping = new Interval(clock, settings.sweepEveryMs, () => this.#sweep());
  }

  /** What the store has committed for this node. */
  take(feed: Feed): void {
    this.#enqueue(feed.messages);
    for (const { accountId, carrierId } of feed.overflowed) {
      const lane = this.#laneOf({ accountId, carrierId });
      lane.overflowed = true;
      this.#claims.refill(lane);
    }
    if (feed.earliestDueAtMs !== null) this.#claims.wakeAt(feed.earliestDueAtMs);
    this.#goOn();
  }

  /** After a lapse: the store speaks up at least every second, so nothing here has to watch for the lease. */
  #goOn(): void {
    if (!this.#lapsed || !this.#parts.lease.holds()) return;
    this.#lapsed = false;
    for (const carrierQueue of this.#carrierQueues.values()) this.#pump(carrierQueue);
  }

  /** Puts messages into their lanes: those whose carrier is down into that of another that serves them. The rest is for other nodes. */
  #enqueue(messages: readonly QueuedMessage[]): void {
    const touched = new Set<CarrierQueue>();
    const unknownCarrier: QueuedMessage[] = [];
    for (const message of messages) {
      const carrierQueue = this.#carrierQueueFor(message);
      if (carrierQueue !== null) touched.add(this.#push(carrierQueue, message));
      else if (this.#parts.knows(message.carrierId)) this.#outcomes.released(message.key);
      else unknownCarrier.push(message);
    }
    for (const carrierQueue of touched) this.#pump(carrierQueue);
    if (unknownCarrier.length > 0) void this.#enqueueUnknownCarrier(unknownCarrier);
  }

  #push(carrierQueue: CarrierQueue, message: QueuedMessage): CarrierQueue {
    carrierQueue.ring.push(
      carrierQueue.carrier.id === message.carrierId ? message : this.#rerouted(message, carrierQueue.carrier.id),
    );
    return carrierQueue;
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
      this.#claims.soon(() => this.#enqueue(messages));
      return;
    }
    const touched = new Set<CarrierQueue>();
    for (const message of messages) {
      const alternative = message.taken === null ? this.#alternative(message) : null;
      const carrierQueue = this.#carrierQueueFor(message) ?? this.#carrierQueueOf(alternative);
      if (carrierQueue !== null) {
        touched.add(this.#push(carrierQueue, message));
        continue;
      }
      if (message.taken !== null && !knows(message.carrierId)) {
        this.#endTaken(message, message.taken);
        continue;
      }
      const elsewhere = knows(message.carrierId) ? message.carrierId : route(message, knows);
      if (elsewhere === null) {
        this.#outcomes.ended({ key: message.key, event: "no route", errorId: 0, atMs: clock.now() });
        continue;
      }
      if (elsewhere !== message.carrierId) this.#rerouted(message, elsewhere);
      this.#outcomes.released(message.key);
    }
    for (const carrierQueue of touched) this.#pump(carrierQueue);
  }

  /** A carrier that is gone has a part of it: of that the receipts are waited for, should they come some other way. */
  #endTaken({ key, carrierId, to }: QueuedMessage, { ids }: PartsTaken): void {
    const parts = ids.flatMap((id) => (id === null ? [] : [{ carrierMessageId: id, counts: true }]));
    const atMs = this.#parts.clock.now();
    this.#outcomes.submitted({ key, carrierId, parts, refusedErrorId: CARRIER_GONE, atMs }, to);
  }

  /** A carrier that is up if there is one; else the message waits for its own; null where that one is not here. */
  #carrierQueueFor(message: QueuedMessage): CarrierQueue | null {
    const own = this.#carrierQueueOf(message.carrierId);
    if (own === null || own.carrier.isUp() || own.replacing || message.taken !== null) return own;
    return this.#carrierQueueOf(this.#alternative(message)) ?? own;
  }

  #carrierQueueOf(carrierId: string | null): CarrierQueue | null {
    const carrierQueue = carrierId === null ? undefined : this.#carrierQueues.get(carrierId);
    return carrierQueue === undefined || carrierQueue.leaving ? null : carrierQueue;
  }

  #alternative(message: QueuedMessage): string | null {
    if ((this.#hops.get(message) ?? 0) >= MAX_HOPS) return null;
    return this.#parts.route(
      message,
      (id) => id !== message.carrierId && this.#carrierQueueOf(id)?.carrier.isUp() === true,
    );
  }

  #rerouted(message: QueuedMessage, carrierId: string): QueuedMessage {
    const moved = { ...message, carrierId };
    this.#hops.set(moved, (this.#hops.get(message) ?? 0) + 1);
    this.counts.rerouted++;
    this.#outcomes.rerouted(message.key, carrierId);
    return moved;
  }

  /**
   * The carrier went down: what it has none of, and another one serves, goes there. The rest sleeps until it is back. One that is down because
   * this service stops, or has another profile now, is not down for its messages.
   */
  #rerouteAll(carrierQueue: CarrierQueue): void {
    if (this.#stopping || carrierQueue.replacing) return;
    const leaving = carrierQueue.ring.remove(
      (message) => !carrierQueue.isBegun(message) && this.#alternative(message) !== null,
    );
    const moved = leaving.map((message) => this.#asItIs(carrierQueue, message));
    for (const { key } of leaving) carrierQueue.begun.delete(key);
    this.#enqueue(moved);
  }

  /** A lane of a carrier that is not there gets its messages all the same, to be told that they have no route. */
  #laneOf(name: LaneName): Lane {
    const carrierQueue = this.#carrierQueues.get(name.carrierId);
    return (carrierQueue?.ring ?? new LaneRing(name.carrierId)).lane(name.accountId);
  }

  // --- To the carrier ------------------------------------------------------------------------------------------------------

  #pumpAll(): void {
    for (const carrierQueue of this.#carrierQueues.values()) this.#pump(carrierQueue);
  }

  #pump(carrierQueue: CarrierQueue): void {
    const { carrier } = carrierQueue;
    const mayGo = !this.#stopping && this.#outcomes.keepsUp;
    let room = 0;
    while (mayGo && carrierQueue.pause === null && carrier.isUp()) {
      // Asked again when it is used up.
      if (room <= 0) room = Math.min(carrier.room(), carrierQueue.free);
      if (room <= 0) {
        if (carrierQueue.free <= 0) this.#outcomes.hurry();
        break;
      }
      // Some 70 ns, and the process may have been stopped since the last one.
      if (!this.#parts.lease.holds()) {
        this.#lapsed = true;
        break;
      }
      const waiting = carrierQueue.ring.next();
      if (waiting === undefined) break;
      if (!this.#mayGo(carrierQueue, waiting.message)) continue;
      const { message } = waiting;
      const submitting = carrierQueue.submitting(message, this.#references, this.#putOffs);
      const { free } = carrierQueue;
      if (submitting.missing > free && this.#mayWait(carrierQueue)) {
        carrierQueue.begun.set(message.key, submitting);
        carrierQueue.ring.takeBack(waiting);
        break;
      }
      carrierQueue.heldSinceMs = null;
      room -= submitting.missing;
      this.#submit(carrierQueue, waiting, submitting, Math.min(submitting.missing, free));
    }
    for (const lane of carrierQueue.ring.lanes()) this.#claims.refill(lane);
  }

  /** All of a message at once, if the window has room for that soon. Others wait behind it, so not for long: then it goes in pieces. */
  #mayWait(carrierQueue: CarrierQueue): boolean {
    const { clock } = this.#parts;
    if (carrierQueue.handed.unrecorded === 0) return false;
    if (carrierQueue.heldSinceMs === null) {
      carrierQueue.heldSinceMs = clock.monotonic();
      const timer = clock.after(HELD_MS, () => {
        this.#aside.delete(timer);
        this.#pump(carrierQueue);
      });
      this.#aside.add(timer);
    }
    return clock.monotonic() - carrierQueue.heldSinceMs < HELD_MS;
  }

  /** Past its validity, or outside its window, it does not go. A message that was begun in its window is finished. */
  #mayGo(carrierQueue: CarrierQueue, message: QueuedMessage): boolean {
    const nowMs = this.#parts.clock.now();
    if (message.expiresAtMs <= nowMs) {
      this.#expire(carrierQueue, message, nowMs);
      return false;
    }
    if (message.window !== null && !carrierQueue.isBegun(message) && !isOpen(message.window, nowMs)) {
      carrierQueue.begun.delete(message.key);
      const dueAtMs = Math.min(nextOpening(message.window, nowMs), message.expiresAtMs);
      this.#outcomes.postponed({ key: message.key, dueAtMs, event: "window closed" });
      return false;
    }
    return true;
  }

  #expire(carrierQueue: CarrierQueue, message: QueuedMessage, atMs: number): void {
    this.counts.expired++;
    // A carrier has part of it: it is not refunded, and ends when those parts do.
    if (carrierQueue.isBegun(message)) {
      this.#giveUp(carrierQueue, message, VALIDITY_EXPIRED);
      return;
    }
    const { key } = message;
    carrierQueue.begun.delete(key);
    this.#outcomes.ended({ key, event: "validity over", errorId: 0, atMs });
  }

  #submit(carrierQueue: CarrierQueue, waiting: Waiting, submitting: Submitting, parts: number): void {
    carrierQueue.begun.delete(waiting.message.key);
    carrierQueue.inFlight++;
    const recorded = this.#handed(carrierQueue, waiting.message.key, parts);
    if (parts > 1) this.#recordSoon(carrierQueue, submitting);
    void submitting.submit(parts).then((verdict) => this.#judged(carrierQueue, waiting, submitting, verdict, recorded));
  }

  /** What the carrier has of a long message is not to be known here only, for as long as it may take until it has the rest. */
  #recordSoon(carrierQueue: CarrierQueue, submitting: Submitting): void {
    carrierQueue.long.add(submitting);
    carrierQueue.recording ??= this.#parts.clock.after(PARTS_RECORDED_AFTER_MS, () => {
      carrierQueue.recording = null;
      for (const long of carrierQueue.long) {
        const taken = long.takeNews();
        const { key } = long.message;
        if (taken !== null)
          this.#outcomes.again({ key, unknown: false, taken }, (isTold) => {
            if (isTold) long.recorded(taken);
          });
        this.#recordSoon(carrierQueue, long);
      }
    });
  }

  #judged(
    carrierQueue: CarrierQueue,
    waiting: Waiting,
    submitting: Submitting,
    verdict: Verdict,
    recorded: () => void,
  ): void {
    carrierQueue.inFlight--;
    carrierQueue.long.delete(submitting);
    const { key, to } = waiting.message;
    const atMs = this.#parts.clock.now();
    switch (verdict.kind) {
      case "submitted": {
        this.counts.submitted++;
        const { parts, refusedErrorId } = verdict;
        this.#outcomes.submitted(
          { key, carrierId: carrierQueue.carrier.id, parts, refusedErrorId, atMs },
          to,
          recorded,
        );
        break;
      }
      case "refused":
      case "gave up":
        this.counts.refused++;
        this.#outcomes.ended({ key, event: verdict.kind, errorId: verdict.errorId, atMs }, recorded);
        break;
      case "again":
        this.#noteAgain(submitting, verdict, recorded);
        if (verdict.cause === "not now" && !this.#stopping) {
          this.#putOff(carrierQueue, submitting, waiting.message, verdict.afterMs);
          break;
        }
        carrierQueue.begun.set(key, submitting);
        this.#putBack(carrierQueue, waiting);
        if (verdict.cause === "later" && !this.#stopping) this.#pauseDispatch(carrierQueue, verdict.afterMs);
    }
    this.#pumpOnce(carrierQueue);
  }

  /**
   * The others go on meanwhile. What was not answered waits here, where a stop counts it as in doubt; and so does what the carrier has a part of
   * that is not recorded yet: should the store refuse to record it, it is known here only.
   */
  #putOff(carrierQueue: CarrierQueue, submitting: Submitting, message: QueuedMessage, waitMs: number): void {
    const { clock } = this.#parts;
    const { key, expiresAtMs } = message;
    const nowMs = clock.now();
    const mayLeave = !submitting.isUnknown && submitting.unrecorded === null;
    if (mayLeave && !this.#putOffs.isForTimer(waitMs, carrierQueue.putOff)) {
      const dueAtMs = this.#putOffs.dueAtMs(nowMs, waitMs, expiresAtMs);
      this.#outcomes.postponed({ key, dueAtMs, event: "put off" });
      return;
    }
    carrierQueue.begun.set(key, submitting);
    carrierQueue.putOff++;
    const timer = clock.after(Math.min(waitMs, Math.max(0, expiresAtMs - nowMs)), () => {
      carrierQueue.putOff--;
      this.#aside.delete(timer);
      // It had its turn: behind all that wait, so that phones that stay full do not go before those that never had theirs.
      this.#putBack(carrierQueue, carrierQueue.ring.atTheEnd(message));
      this.#pump(carrierQueue);
    });
    this.#aside.add(timer);
  }

  /** What has to be known of a message that goes again, should it be somebody else who hands it over. */
  #noteAgain(
    submitting: Submitting,
    { cause, isUnknown: unknown }: Extract<Verdict, { kind: "again" }>,
    recorded: () => void,
  ): void {
    if (unknown) this.counts.unknown++;
    else if (cause !== "room") this.counts.later++;
    const { key } = submitting.message;
    const taken = submitting.unrecorded;
    if (!unknown && taken === null) {
      recorded();
      return;
    }
    this.#outcomes.again({ key, unknown, taken }, (isTold) => {
      if (isTold && taken !== null) submitting.recorded(taken);
      recorded();
    });
  }

  /** Behind all that is known by now: answers come many at a time, and the next messages go together too. */
  #pumpOnce(carrierQueue: CarrierQueue): void {
    if (carrierQueue.pumping) return;
    carrierQueue.pumping = true;
    queueMicrotask(() => {
      carrierQueue.pumping = false;
      this.#pump(carrierQueue);
    });
  }

  /** The carrier as a whole is slowed, not the one message: what comes behind would be told the same. */
  #pauseDispatch(carrierQueue: CarrierQueue, forMs: number): void {
    if (carrierQueue.pause !== null || forMs === 0) return;
    carrierQueue.pause = this.#parts.clock.after(forMs, () => {
      carrierQueue.pause = null;
      this.#pump(carrierQueue);
    });
  }

  /** What is in memory here and has waited too long. What nobody has in memory is for the rounds (Maintenance). */
  async #sweep(): Promise<void> {
    const nowMs = this.#parts.clock.now();
    for (const carrierQueue of this.#carrierQueues.values()) {
      for (const message of carrierQueue.ring.remove((waiting) => waiting.expiresAtMs <= nowMs))
        this.#expire(carrierQueue, message, nowMs);
    }
    this.#pumpAll();
  }

  /**
   * Nothing new goes out; what carriers have in hand is waited for, in bounds; the rest is handed back. Gives how many messages are in
   * doubt: a carrier may have them, and did not answer, or the store did not hear what it said. They go again with the next start.
   */
  async stop(): Promise<number> {
    this.#stopping = true;
    this.#claims.stop();
    for (const timer of this.#aside) timer.cancel();
    await this.#sweeping?.stop();
    const { clock, log } = this.#parts;
    const carrierQueues = [...this.#carrierQueues.values()];
    const busy = () => carrierQueues.some((carrierQueue) => carrierQueue.inFlight > 0);
    const deadline = clock.monotonic() + STOP_WAIT_MS;
    while (busy() && clock.monotonic() < deadline)
      await new Promise<void>((resolve) => clock.after(LOOK_EVERY_MS, resolve));
    const unanswered = carrierQueues.reduce((sum, { inFlight }) => sum + inFlight, 0);
    if (unanswered > 0)
      log.warn(
        { messages: unanswered },
        "carriers did not answer in time; these messages go again with the next start",
      );
    for (const carrierQueue of carrierQueues) {
      carrierQueue.cancelTimers();
      await carrierQueue.carrier.stop();
    }
    // What a carrier's end says of its messages is known in this turn.
    await new Promise<void>((resolve) => setImmediate(resolve));
    // Bounded: what a store that is away did not hear of is still owned, and taken over by the next start.
    let late: Timer | null = null;
    const tooLong = new Promise<"too long">((resolve) => {
      late = clock.after(STOP_WAIT_MS, () => resolve("too long"));
    });
    const settled = await Promise.race([this.#outcomes.settled(), tooLong]);
    (late as Timer | null)?.cancel();
    this.#outcomes.abandon();
    if (settled !== "too long") await this.#handBack();
    return new Set([...this.#inDoubt.keys(), ...carrierQueues.flatMap((carrierQueue) => carrierQueue.unanswered)]).size;
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
