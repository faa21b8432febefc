/**
 * The pump hands messages to carriers, as many as may go (flow.ts), and decides by the answers what becomes of them. A part that was handed over counts
 * in its carrier's window until the store knows what became of it.
 */
import type { MessageKey, QueuedMessage } from "../message/message.ts";
import type { Timer } from "../runtime/clock.ts";
import { errorByName } from "../sms/errors.ts";
import { References } from "../store/references.ts";
import type { CarrierQueue } from "./carrier-queue.ts";
import { CarrierRouter, type CarrierRouterParts, type HandingOver } from "./carrier-router.ts";
import { Flow, type FlowParts } from "./flow.ts";
import { HealthWatch } from "./health-watch.ts";
import { InDoubt } from "./in-doubt.ts";
import type { Waiting } from "./lane.ts";
import type { MessageLines } from "./message-lines.ts";
import type { MessageTrace } from "./message-trace.ts";
import { PutOffs } from "./put-off.ts";
import { endInDoubt, Submitting, type Verdict } from "./submitting.ts";

export interface CarrierPumpParts extends Omit<CarrierRouterParts, "pump">, Pick<FlowParts, "lease"> {
  readonly counts: { expired: number; rerouted: number };
  readonly trace: MessageTrace;
  /** Null unless there is to be a line of the log for each. */
  readonly lines: MessageLines | null;
  /** Messages of one lane in memory. */
  readonly laneMessages: number;
}

/** So long after a part was taken, that is recorded, should the answer to another part still be waited for. */
const RECORDED_AFTER_MS = 200;
const VALIDITY_EXPIRED = errorByName("EC_VALIDITY_EXPIRED").id;

export class CarrierPump implements HandingOver {
  readonly #parts: CarrierPumpParts;
  /** What cannot go is for the router, and what that has for a carrier goes here. */
  readonly router: CarrierRouter;
  readonly #flow: Flow;
  readonly #watch: HealthWatch;
  readonly #references = new References();
  readonly #putOffs: PutOffs;
  /** Timers of what waits for a moment: messages that a carrier put off, and long ones that wait for room. */
  readonly #aside = new Set<Timer>();
  readonly inDoubt = new InDoubt();

  constructor(parts: CarrierPumpParts) {
    this.#parts = parts;
    this.#flow = new Flow(parts);
    this.router = new CarrierRouter({ ...parts, pump: this });
    this.#watch = new HealthWatch({ ...parts, router: this.router });
    this.#putOffs = new PutOffs(parts.laneMessages);
  }

  get isStopping(): boolean {
    return this.#flow.isStopping;
  }

  /** Nothing is handed over any more. */
  stop(): void {
    this.#flow.stop();
    for (const timer of this.#aside) timer.cancel();
    for (const queue of this.#parts.queues) queue.missed.cancelTimer();
  }

  /** After a lapse: the store speaks up at least every second, so nothing here has to watch for the lease. */
  goOn(): void {
    if (this.#flow.takeUp()) this.pumpAll();
  }

  pumpAll(): void {
    for (const queue of this.#parts.queues) this.pump(queue);
  }

  pump(queue: CarrierQueue): void {
    let room = this.#flow.room(queue);
    while (room > 0 && queue.carrier.isUp() && this.#flow.isOurs()) {
      const waiting = queue.ring.next();
      if (waiting === undefined) break;
      if (!this.#mayGo(queue, waiting.message)) continue;
      const submitting = queue.submitting(waiting.message, this.#references, this.#putOffs);
      const { missing } = submitting;
      const waitMs = this.#flow.waitsForMs(queue, missing);
      if (waitMs > 0) {
        this.#hold(queue, submitting, waitMs);
        queue.ring.takeBack(waiting);
        break;
      }
      queue.heldSinceMs = null;
      room -= missing;
      this.#submit(queue, waiting, submitting, Math.min(missing, queue.free));
      if (room <= 0) room = this.#flow.room(queue);
    }
    if (queue.missed.length > 0) this.#askForSlots(queue);
    for (const lane of queue.ring.lanes()) this.#parts.claims.refill(lane);
  }

  /** It stays at the head until there is room for all of it, and not longer than this. */
  #hold(queue: CarrierQueue, submitting: Submitting, waitMs: number): void {
    queue.begun.set(submitting.message.key, submitting);
    if (queue.heldSinceMs !== null) return;
    queue.heldSinceMs = this.#parts.clock.monotonic();
    const timer = this.#parts.clock.after(waitMs, () => {
      this.#aside.delete(timer);
      this.pump(queue);
    });
    this.#aside.add(timer);
  }

  #askForSlots(queue: CarrierQueue): void {
    const { clock, outcomes } = this.#parts;
    const askers = queue.missed.ask(clock, this.#flow.room(queue), queue.carrier.window, () => this.pump(queue));
    const dueAtMs = clock.now();
    for (const { key } of askers) outcomes.postponed({ key, dueAtMs, event: "slot missed" });
  }

  /** One that may not go has another place from now on. */
  #mayGo(queue: CarrierQueue, message: QueuedMessage): boolean {
    const mayGo = this.#flow.of(queue, message);
    if (mayGo === "now") return true;
    if (mayGo === "validity over") {
      this.#expire(queue, message, this.#parts.clock.now());
      return false;
    }
    queue.begun.delete(message.key);
    if (mayGo === "slot missed") queue.missed.add(message);
    else this.#parts.outcomes.postponed({ key: message.key, dueAtMs: mayGo.opensAtMs, event: "window closed" });
    return false;
  }

  #expire(queue: CarrierQueue, message: QueuedMessage, atMs: number): void {
    this.#parts.counts.expired++;
    // A carrier has part of it: it is not refunded, and ends when those parts do.
    if (queue.isBegun(message)) {
      this.giveUp(queue, message, VALIDITY_EXPIRED);
      return;
    }
    const { key } = message;
    // One that was never answered may be with the carrier, which charges for it.
    const ending = queue.isInDoubt(message)
      ? endInDoubt(queue.carrier.id, key)
      : ({ key, event: "validity over", errorId: 0 } as const);
    queue.begun.delete(key);
    this.#parts.outcomes.ended({ ...ending, atMs });
  }

  #submit(queue: CarrierQueue, waiting: Waiting, submitting: Submitting, parts: number): void {
    if (queue.begun.size > 0) queue.begun.delete(waiting.message.key);
    queue.inFlight++;
    this.#watch.handed(queue, waiting.message.to);
    const recorded = this.#handed(queue, waiting.message.key, parts);
    // The parts of a long one may wait for the pace, which says nothing of how soon the carrier answers.
    const isLong = parts > 1;
    if (isLong) this.#recordNews(queue, submitting);
    const handedAtMs = isLong ? 0 : queue.counts.handed();
    const { trace, lines } = this.#parts;
    const sinceMs = trace.handedOver();
    submitting.submit(parts, queue.health, (verdict) => {
      if (!isLong) queue.counts.answered(handedAtMs);
      this.#judged(queue, waiting, submitting, verdict, recorded);
      trace.answered(queue, waiting.message.key, verdict, sinceMs);
      if (lines !== null) lines.submitted(queue.carrier, waiting.message, verdict);
    });
  }

  /** It may take a while until a carrier has all parts of a long message. What it has meanwhile is not to be known in memory only. */
  #recordNews(queue: CarrierQueue, submitting: Submitting): void {
    queue.long.add(submitting);
    queue.recording ??= this.#parts.clock.after(RECORDED_AFTER_MS, () => {
      queue.recording = null;
      for (const long of queue.long) {
        const taken = long.takeNews();
        if (taken !== null)
          this.#parts.outcomes.again({ key: long.message.key, unknown: false, taken }, (fate) => {
            if (fate === "recorded") long.recorded(taken);
          });
        this.#recordNews(queue, long);
      }
    });
  }

  #judged(queue: CarrierQueue, waiting: Waiting, submitting: Submitting, verdict: Verdict, recorded: () => void): void {
    queue.inFlight--;
    queue.long.delete(submitting);
    const { key, to } = waiting.message;
    const atMs = this.#parts.clock.now();
    switch (verdict.kind) {
      case "submitted": {
        const { parts, refusedErrorId, status } = verdict;
        const submitted = { key, carrierId: queue.carrier.id, parts, refusedErrorId, atMs };
        this.#parts.outcomes.submitted(submitted, to, recorded, status);
        queue.counts.taken(parts, atMs);
        break;
      }
      case "refused":
      case "gave up": {
        const { kind: event, errorId, status } = verdict;
        const carrier = queue.carrier.id;
        const ending = event === "gave up" ? endInDoubt(carrier, key, errorId) : { key, event, errorId };
        this.#parts.outcomes.ended({ ...ending, atMs }, recorded, { carrier, status });
        queue.counts.refusedFor(errorId);
        if (verdict.kind === "gave up") queue.counts.gaveUp++;
        break;
      }
      case "again":
        this.#noteAgain(queue, submitting, verdict, recorded);
        if (waiting.message.slotUntilMs !== null && submitting.asItIs.taken === null && !this.#flow.isStopping) {
          this.#takeAnotherSlot(queue, waiting.message, verdict);
          break;
        }
        queue.begun.set(key, submitting);
        if (this.#waitsAlone(queue, verdict) && !this.#flow.isStopping) {
          if (!this.router.moveOn(queue, waiting.message))
            this.#putOff(queue, submitting, waiting.message, verdict.afterMs);
          break;
        }
        this.router.putBack(queue, verdict.cause === "later" ? this.#placeOf(queue, waiting, submitting) : waiting);
        if (verdict.cause === "later" && !this.#flow.isStopping) this.#pause(queue, verdict.afterMs);
    }
    this.#pumpOnce(queue);
  }

  /** The carrier is not to blame, or cannot be told apart from one that is not: others go on. One that is down has them wait for it. */
  #waitsAlone({ carrier }: CarrierQueue, { cause }: Extract<Verdict, { kind: "again" }>): boolean {
    return cause === "not now" || (cause === "unknown" && carrier.isUp());
  }

  /** Its own; but while the carrier takes hardly any, others are tried: it may be this one that it does not take. */
  #placeOf(queue: CarrierQueue, waiting: Waiting, submitting: Submitting): Waiting {
    const isItsOwn = queue.health.state === "well" || submitting.isBegun;
    return isItsOwn ? waiting : queue.ring.atTheEnd(waiting.message);
  }

  /**
   * The others go on meanwhile. What was not answered waits here, where a stop counts it as in doubt, unless it may be repeated; and so does what the
   * carrier has a part of that is not recorded yet: should the store refuse to record it, it is known here only.
   */
  #putOff(queue: CarrierQueue, submitting: Submitting, message: QueuedMessage, waitMs: number): void {
    const { clock } = this.#parts;
    const { key, expiresAtMs } = message;
    const nowMs = clock.now();
    const isInDoubt = submitting.isUnknown && queue.carrier.isRepeatable !== true;
    const mayLeave = !isInDoubt && submitting.unrecorded === null;
    if (mayLeave && !this.#putOffs.isForTimer(waitMs, queue.putOff)) {
      queue.begun.delete(key);
      const dueAtMs = this.#putOffs.dueAtMs(nowMs, waitMs, expiresAtMs);
      this.#parts.outcomes.postponed({ key, dueAtMs, event: "put off" });
      return;
    }
    queue.putOff++;
    const timer = clock.after(Math.min(waitMs, Math.max(0, expiresAtMs - nowMs)), () => {
      queue.putOff--;
      this.#aside.delete(timer);
      if (submitting.isGone) {
        queue.begun.delete(key);
        return;
      }
      // It had its turn: behind all that wait, so that phones that stay full do not go before those that never had theirs.
      this.router.putBack(queue, queue.ring.atTheEnd(message));
      this.pump(queue);
    });
    this.#aside.add(timer);
  }

  /** It was handed over, and its slot is used up for that: it waits in the store for the next one. */
  #takeAnotherSlot(
    queue: CarrierQueue,
    { key, expiresAtMs }: QueuedMessage,
    { cause, afterMs }: Extract<Verdict, { kind: "again" }>,
  ): void {
    const dueAtMs = Math.min(this.#parts.clock.now() + afterMs, expiresAtMs);
    this.#parts.outcomes.postponed({ key, dueAtMs, event: "put off" });
    if (cause === "later") this.#pause(queue, afterMs);
  }

  /** What has to be known of a message that goes again, should it be somebody else who hands it over. */
  #noteAgain(
    queue: CarrierQueue,
    submitting: Submitting,
    { cause, isUnknown: unknown }: Extract<Verdict, { kind: "again" }>,
    recorded: () => void,
  ): void {
    if (unknown) queue.counts.unknown++;
    else if (cause !== "room") {
      queue.counts.later++;
      if (cause === "not now") queue.counts.putOff++;
    }
    const { key } = submitting.message;
    const taken = submitting.unrecorded;
    if (!unknown && taken === null) {
      recorded();
      return;
    }
    const { provenBy } = submitting;
    const name = provenBy === null ? null : { carrierId: queue.carrier.id, carrierMessageId: provenBy };
    this.#parts.outcomes.again({ key, unknown, taken, provenBy: name }, (fate) => {
      if (fate === "recorded" && taken !== null) submitting.recorded(taken);
      if (fate === "a stranger") submitting.isGone = true;
      recorded();
    });
  }

  /** Behind all that is known by now: answers come many at a time, and the next messages go together too. */
  #pumpOnce(queue: CarrierQueue): void {
    if (queue.pumping) return;
    queue.pumping = true;
    queueMicrotask(() => {
      queue.pumping = false;
      this.pump(queue);
    });
  }

  /** The carrier as a whole is slowed, not the one message: what comes behind would be told the same. */
  #pause(queue: CarrierQueue, forMs: number): void {
    if (queue.pause !== null || forMs === 0) return;
    queue.pause = this.#parts.clock.after(forMs, () => {
      queue.pause = null;
      this.pump(queue);
    });
  }

  /** What is in memory here and has waited too long. What nobody has in memory is for maintenance. */
  sweep(): void {
    const nowMs = this.#parts.clock.now();
    for (const queue of this.#parts.queues) {
      for (const message of queue.remove((waiting) => waiting.expiresAtMs <= nowMs))
        this.#expire(queue, message, nowMs);
    }
    this.pumpAll();
  }

  /** A message of which the carrier has a part ends with that part. */
  giveUp(queue: CarrierQueue, message: QueuedMessage, errorId: number): void {
    const begun =
      queue.begun.get(message.key) ?? new Submitting(message, queue.carrier, this.#references, this.#putOffs);
    queue.begun.delete(message.key);
    const { parts, refusedErrorId } = begun.giveUp(errorId);
    const { key, to } = message;
    const atMs = this.#parts.clock.now();
    const outcome = { key, carrierId: queue.carrier.id, parts, refusedErrorId, atMs };
    this.#parts.outcomes.submitted(outcome, to, this.#handed(queue, key, 0));
  }

  /** So many parts of a message are handed over, until what is returned is called. */
  #handed(queue: CarrierQueue, key: MessageKey, parts: number): () => void {
    const { inDoubt } = this;
    const { handed } = queue;
    const doubt = inDoubt.add(key);
    handed.unrecorded += parts;
    return () => {
      handed.unrecorded -= parts;
      inDoubt.settle(doubt);
    };
  }
}
