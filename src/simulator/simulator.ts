/**
 * A phone network that exists only here, so that a developer can send without a carrier. It takes parts, and after a second or so the
 * handset behind the number answers, in the way that handsets.ts says.
 *
 * A part in hand waits in the timetable for its next receipt:
 *
 *   submit ──accepted──▶ timetable ──due──▶ receipt ──final──▶ forgotten
 *                            ▲                 │
 *                            └──held───────────┤
 *                            └──switched on── waiting for a phone that is off
 *
 * The timetable is on the monotonic clock. In the sandbox the network shows its phones, and has switches (network.ts); elsewhere it has neither.
 */
import {
  type Carrier,
  type CarrierListener,
  NOBODY,
  type OutgoingMessage,
  type OutstandingPart,
  type PartToSubmit,
  type Submission,
} from "../carriers/port.ts";
import type { IncomingPart } from "../message/incoming.ts";
import type { Receipt } from "../message/receipt.ts";
import type { Clock, Timer } from "../runtime/clock.ts";
import type { Random } from "../runtime/random.ts";
import { encodeBody } from "../sms/body.ts";
import { encodeParts, prepareText } from "../sms/text.ts";
import { Answers } from "./answers.ts";
import {
  answerTime,
  BUSY_FOR_MS,
  dueReceipt,
  EXPIRED,
  type Handset,
  handsetsWith,
  type PartForHandset,
} from "./handsets.ts";
import type { NetworkListener, SimulatedNetwork } from "./network.ts";
import { answerOf, NO_FAULTS } from "./network-faults.ts";
import { HOME_MCC_MNC, STATE_RULES } from "./phone-states.ts";
import type { SimulatorProfile } from "./profile.ts";
import { Timetable } from "./timetable.ts";
import { WaitingParts } from "./waiting-parts.ts";

export type SimulatorSettings = Omit<SimulatorProfile, "kind">;

/** What a phone of this network sends to a number of ours. */
export interface PhoneMessage {
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

/** A part that the network took and has not said the last word about. */
interface PartInHand extends PartForHandset {
  readonly carrierMessageId: string;
  readonly to: string;
  /** What the phone is to show; null where nobody looks, and where that was an earlier process's. */
  readonly content: PartToSubmit | null;
  /** What the monotonic clock was ahead of the wall clock when the part was taken. */
  readonly monotonicAheadMs: number;
}

/** A receipt that the network will send. */
interface ExpectedReceipt {
  /** Null of one that is only late: its part has been dealt with. */
  readonly part: PartInHand | null;
  readonly receipt: Receipt;
  /** Which of the handset's receipts comes after it; null when it is the last. */
  readonly following: number | null;
}

/** A submit that is answered slowly. */
interface SlowAnswer {
  readonly timer: Timer;
  readonly answer: (submission: Submission) => void;
}

const DEFAULT_ANSWER_AFTER_MS = 1000;
const DEFAULT_CAPACITY = 100_000;
/** As wide as nobody need wait for it: some commits' worth. */
const WINDOW = 1_000;

export class SimulatedCarrier implements Carrier {
  readonly id: string;
  readonly partRule = "every";
  readonly unknownPolicy = "resend";
  readonly window = WINDOW;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #answerAfterMs: number;
  readonly #capacity: number;
  readonly #handsetOf: (number: string) => Handset;
  readonly #idPrefix: string;
  #idsGiven = 0;
  #running = false;
  readonly #queue: Timetable<ExpectedReceipt>;
  readonly #answers: Answers;
  #hadRoom = false;
  #listener = NOBODY;
  /** A long message's parts have this in common; as on a real phone it is a count, which begins again after 255. */
  #reference: number;
  readonly #network: SimulatedNetwork | null;
  readonly #waiting: WaitingParts<PartInHand>;
  readonly #slow = new Set<SlowAnswer>();
  readonly #switches: NetworkListener = {
    phoneSwitched: (number) => this.#phoneSwitched(number),
    faultsChanged: () => this.#faultsChanged(),
  };

  constructor(settings: SimulatorSettings, clock: Clock, random: Random, network: SimulatedNetwork | null = null) {
    this.id = settings.id;
    this.#network = network;
    this.#waiting = new WaitingParts(clock, (part) => this.#tell(this.#receipt(part, EXPIRED, part.expiresAtMs)));
    this.#clock = clock;
    this.#random = random;
    this.#answers = new Answers(clock);
    this.#answerAfterMs = settings.answerAfterMs ?? DEFAULT_ANSWER_AFTER_MS;
    this.#capacity = settings.capacity ?? DEFAULT_CAPACITY;
    this.#handsetOf = handsetsWith(settings.handset ?? []);
    this.#queue = new Timetable({
      clock,
      run: (expected) => this.#send(expected),
      onRan: () => this.#noteRoom(),
    });
    // The ids of an earlier process may still be in the store: time and chance set ours apart from them.
    const chance = Math.floor(random.next() * 36 ** 6);
    this.#idPrefix = `${clock.now().toString(36)}${chance.toString(36).padStart(6, "0")}-`;
    this.#reference = chance % 256;
  }

  async start(): Promise<void> {
    this.#running = true;
    this.#network?.listen(this.#switches);
    this.#queue.start();
    this.#noteRoom();
  }

  /** Forgets every part in hand, as the end of the process would. */
  async stop(): Promise<void> {
    this.#running = false;
    this.#network?.leave(this.#switches);
    this.#queue.stop();
    this.#waiting.clear();
    this.#breakAnswers();
    this.#noteRoom();
  }

  room(): number {
    return this.isUp() ? Math.max(this.#capacity - this.#queue.size - this.#waiting.size, 0) : 0;
  }

  isUp(): boolean {
    return this.#running && !this.#faults.connectionLost;
  }

  get #faults() {
    return this.#network?.faults ?? NO_FAULTS;
  }

  listen(listener: Partial<CarrierListener>): void {
    this.#listener = { ...this.#listener, ...listener };
  }

  /** A phone writes to a number of ours, a long text in parts. Resolves with their number when all of it is safe. */
  async write({ from, to, text }: PhoneMessage): Promise<number> {
    const prepared = prepareText(text, {});
    if (prepared.partCount > 1) this.#reference = (this.#reference + 1) % 256;
    const reference = this.#reference;
    const texts = encodeParts(prepared, { flash: false, reference }).map((userData) => userData.text);
    const atMs = this.#clock.now();
    const parts = texts.map((text, index): IncomingPart => {
      const concatenation = texts.length === 1 ? null : { reference, total: texts.length, sequence: index + 1 };
      return { from, to, text, concatenation, atMs };
    });
    await Promise.all(parts.map((part) => this.#listener.onIncoming(part)));
    return parts.length;
  }

  partsOf(message: OutgoingMessage): PartToSubmit[] {
    const { flash = false, reference } = message;
    const parts = encodeBody(message, { flash, reference: reference ?? 0 });
    return parts.map((userData) => ({ message, userData, place: null }));
  }

  async submit(part: PartToSubmit): Promise<Submission> {
    if (this.room() === 0) return { kind: "later", retryAfterMs: BUSY_FOR_MS };
    const { slowAnswersMs } = this.#faults;
    if (slowAnswersMs === 0) return this.#answer(part);
    return new Promise((resolve) => {
      const timer = this.#clock.after(slowAnswersMs, () => {
        this.#slow.delete(slow);
        resolve(this.#answer(part));
      });
      const slow: SlowAnswer = { timer, answer: resolve };
      this.#slow.add(slow);
    });
  }

  #answer(part: PartToSubmit): Submission {
    const { to, expiresAtMs } = part.message;
    const handset = this.#handsetNow(to);
    const answer = answerOf(this.#faults) ?? this.#answers.next(handset, to);
    if (answer !== "accept") return answer;

    const carrierMessageId = this.#idPrefix + (this.#idsGiven++).toString(36);
    const submittedAtMs = this.#clock.now();
    this.#take({ carrierMessageId, to, submittedAtMs, expiresAtMs }, handset, this.#network === null ? null : part);
    this.#noteRoom();
    return { kind: "accepted", carrierMessageId };
  }

  /** The connection is gone: what was not answered yet never will be. */
  #breakAnswers(): void {
    for (const { timer, answer } of this.#slow) {
      timer.cancel();
      answer({ kind: "unknown" });
    }
    this.#slow.clear();
  }

  #handsetNow(number: string): Handset {
    if (this.#network === null) return this.#handsetOf(number);
    return STATE_RULES[this.#network.phones.stateOf(number)].handset ?? this.#handsetOf(number);
  }

  /**
   * All the parts are taken, beyond the capacity too: the network said yes to them once. A receipt that an earlier process may have
   * passed on already is sent again, since nobody here knows.
   */
  resume(parts: readonly OutstandingPart[]): void {
    for (const part of parts) this.#take(part, this.#handsetNow(part.to), null);
    this.#noteRoom();
  }

  #take(part: OutstandingPart, handset: Handset, content: PartToSubmit | null): void {
    if (handset.receipts.length === 0) return;
    const nowMs = this.#clock.now();
    const partInHand: PartInHand = {
      ...part,
      content,
      handset,
      // Before a restart the clock may have been fast; its error must not be waited for.
      submittedAtMs: Math.min(part.submittedAtMs, nowMs),
      answerAfterMs: answerTime(this.#answerAfterMs, this.#random),
      monotonicAheadMs: this.#clock.monotonic() - nowMs,
    };
    this.#expect(partInHand, 0);
  }

  #expect(part: PartInHand, place: number): void {
    const due = dueReceipt(part, place);
    const { atMs, following } = due;
    this.#queue.note(atMs + part.monotonicAheadMs, { part, receipt: this.#receipt(part, due, atMs), following });
  }

  #receipt(part: PartInHand, { outcome, errorId }: Pick<Receipt, "outcome" | "errorId">, atMs: number): Receipt {
    const { carrierMessageId, to } = part;
    return { carrierMessageId, outcome, errorId, atMs, mccMnc: HOME_MCC_MNC, to };
  }

  #send({ part, receipt, following }: ExpectedReceipt): void {
    if (part === null || this.#network === null) {
      if (part !== null && following !== null) this.#expect(part, following);
      void this.#listener.onReceipt(receipt);
      return;
    }
    // A switch counts for what has not arrived yet: a phone may have been switched off since the part was taken.
    const { phones } = this.#network;
    const rule = STATE_RULES[phones.stateOf(part.to)];
    const [switched] = rule.handset?.receipts ?? [];
    const isStopped = receipt.outcome === "delivered" && switched !== undefined && switched.outcome !== "delivered";
    const said = isStopped ? this.#receipt(part, switched, receipt.atMs) : { ...receipt, mccMnc: rule.mccMnc };
    if (said.outcome === "delivered" && part.content !== null) phones.arrived(part.content, said.atMs);
    if (said.outcome === "held" && rule.waits) this.#waiting.add(part);
    else if (!isStopped && following !== null) this.#expect(part, following);
    this.#tell(said);
  }

  /** As the network's faults let it: late, twice, or not at all. */
  #tell(receipt: Receipt): void {
    const { noReceipts, duplicatedReceipts, lateReceiptsMs } = this.#faults;
    if (noReceipts) return;
    const copies = duplicatedReceipts ? [receipt, receipt] : [receipt];
    for (const copy of copies) {
      if (lateReceiptsMs === 0) void this.#listener.onReceipt(copy);
      else {
        const late = { ...copy, atMs: copy.atMs + lateReceiptsMs };
        this.#queue.note(this.#clock.monotonic() + lateReceiptsMs, { part: null, receipt: late, following: null });
      }
    }
  }

  /** What waited for this phone tries again, as if it were submitted now. */
  #phoneSwitched(number: string): void {
    if (this.#network === null || STATE_RULES[this.#network.phones.stateOf(number)].waits) return;
    const submittedAtMs = this.#clock.now();
    const handset = this.#handsetNow(number);
    const monotonicAheadMs = this.#clock.monotonic() - submittedAtMs;
    for (const part of this.#waiting.take(number)) {
      if (handset.receipts.length > 0) this.#expect({ ...part, handset, submittedAtMs, monotonicAheadMs }, 0);
    }
  }

  #faultsChanged(): void {
    if (this.#faults.connectionLost) this.#breakAnswers();
    // Whether it went up or down, whoever sends has to look.
    this.#hadRoom = this.room() > 0;
    this.#listener.onChange();
  }

  #noteRoom(): void {
    const hadRoom = this.#hadRoom;
    this.#hadRoom = this.room() > 0;
    if (!hadRoom && this.#hadRoom) this.#listener.onChange();
  }
}
