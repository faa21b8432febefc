/**
 * A phone network that exists only here, so that a developer can send without a carrier. It takes parts, and after a second or so the
 * handset behind the number answers, in the way that handsets.ts says.
 *
 * A part in hand waits in the timetable for its next receipt:
 *
 *   submit ──accepted──▶ timetable ──due──▶ receipt ──final──▶ forgotten
 *                            ▲                 │
 *                            └──held───────────┘
 *
 * The timetable is on the monotonic clock.
 */

import type { Carrier, OutgoingMessage, OutstandingPart, PartToSubmit, Submission } from "../carriers/port.ts";
import type { IncomingPart } from "../message/incoming.ts";
import type { Receipt } from "../message/receipt.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Random } from "../runtime/random.ts";
import { encodeBody } from "../sms/body.ts";
import { encodeParts, prepareText } from "../sms/text.ts";
import { Answers } from "./answers.ts";
import {
  answerTime,
  BUSY_FOR_MS,
  dueReceipt,
  type Handset,
  handsetsWith,
  type OwnHandset,
  type PartForHandset,
} from "./handsets.ts";
import { Timetable } from "./timetable.ts";

export interface SimulatorSettings {
  readonly id: string;
  /** How long a handset takes to answer, give or take a fifth. */
  readonly answerAfterMs?: number;
  /** How many parts the network holds at most before it says "later". */
  readonly capacity?: number;
  /** Phones that behave as the operator says, beside those that every simulated network has. */
  readonly handset?: readonly OwnHandset[];
}

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
  /** What the monotonic clock was ahead of the wall clock when the part was taken. */
  readonly monotonicAheadMs: number;
}

/** A receipt that the network will send. */
interface ExpectedReceipt {
  readonly part: PartInHand;
  readonly receipt: Receipt;
  /** Which of the handset's receipts comes after it; null when it is the last. */
  readonly following: number | null;
}

/** Mobile country code 001 of ITU-T E.212 is kept for test networks, and belongs to no country. */
const MCC_MNC = "00101";

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
  readonly #roomListeners: (() => void)[] = [];
  readonly #receiptListeners: ((receipt: Receipt) => Promise<void>)[] = [];
  readonly #incomingListeners: ((part: IncomingPart) => Promise<void>)[] = [];
  /** A long message's parts have this in common; as on a real phone it is a count, which begins again after 255. */
  #reference: number;

  constructor(settings: SimulatorSettings, clock: Clock, random: Random) {
    this.id = settings.id;
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
    this.#queue.start();
    this.#noteRoom();
  }

  /** Forgets every part in hand, as the end of the process would. */
  async stop(): Promise<void> {
    this.#running = false;
    this.#queue.stop();
    this.#noteRoom();
  }

  room(): number {
    return this.#running ? Math.max(this.#capacity - this.#queue.size, 0) : 0;
  }

  isUp(): boolean {
    return this.#running;
  }

  onChange(listener: () => void): void {
    this.#roomListeners.push(listener);
  }

  onReceipt(listener: (receipt: Receipt) => Promise<void>): void {
    this.#receiptListeners.push(listener);
  }

  onIncoming(listener: (part: IncomingPart) => Promise<void>): void {
    this.#incomingListeners.push(listener);
  }

  /** A phone writes to a number of ours, a long text in parts. Resolves when all of it is safe. */
  async write({ from, to, text }: PhoneMessage): Promise<void> {
    const prepared = prepareText(text, {});
    if (prepared.partCount > 1) this.#reference = (this.#reference + 1) % 256;
    const reference = this.#reference;
    const texts = encodeParts(prepared, { flash: false, reference }).map((userData) => userData.text);
    const atMs = this.#clock.now();
    const parts = texts.map((text, index): IncomingPart => {
      const concatenation = texts.length === 1 ? null : { reference, total: texts.length, sequence: index + 1 };
      return { from, to, text, concatenation, atMs };
    });
    await Promise.all(parts.flatMap((part) => this.#incomingListeners.map((listener) => listener(part))));
  }

  partsOf(message: OutgoingMessage): PartToSubmit[] {
    return encodeBody(message, message).map((userData) => ({ message, userData, place: null }));
  }

  async submit(part: PartToSubmit): Promise<Submission> {
    if (this.room() === 0) return { kind: "later", retryAfterMs: BUSY_FOR_MS };
    const { to, expiresAtMs } = part.message;
    const handset = this.#handsetOf(to);
    const answer = this.#answers.next(handset, to);
    if (answer !== "accept") return answer;

    const carrierMessageId = this.#idPrefix + (this.#idsGiven++).toString(36);
    const submittedAtMs = this.#clock.now();
    this.#take({ carrierMessageId, to, submittedAtMs, expiresAtMs }, handset);
    this.#noteRoom();
    return { kind: "accepted", carrierMessageId };
  }

  /**
   * All the parts are taken, beyond the capacity too: the network said yes to them once. A receipt that an earlier process may have
   * passed on already is sent again, since nobody here knows.
   */
  resume(parts: readonly OutstandingPart[]): void {
    for (const part of parts) this.#take(part, this.#handsetOf(part.to));
    this.#noteRoom();
  }

  #take(part: OutstandingPart, handset: Handset): void {
    if (handset.receipts.length === 0) return;
    const nowMs = this.#clock.now();
    const partInHand: PartInHand = {
      carrierMessageId: part.carrierMessageId,
      to: part.to,
      handset,
      // Before a restart the clock may have been fast; its error must not be waited for.
      submittedAtMs: Math.min(part.submittedAtMs, nowMs),
      expiresAtMs: part.expiresAtMs,
      answerAfterMs: answerTime(this.#answerAfterMs, this.#random),
      monotonicAheadMs: this.#clock.monotonic() - nowMs,
    };
    this.#expect(partInHand, 0);
  }

  #expect(part: PartInHand, place: number): void {
    const { carrierMessageId, to } = part;
    const { outcome, errorId, atMs, following } = dueReceipt(part, place);
    const receipt = { carrierMessageId, outcome, errorId, atMs, mccMnc: MCC_MNC, to };
    this.#queue.note(atMs + part.monotonicAheadMs, { part, receipt, following });
  }

  #send({ part, receipt, following }: ExpectedReceipt): void {
    if (following !== null) this.#expect(part, following);
    for (const listener of this.#receiptListeners) void listener(receipt);
  }

  #noteRoom(): void {
    const hadRoom = this.#hadRoom;
    this.#hadRoom = this.room() > 0;
    if (hadRoom || !this.#hadRoom) return;
    for (const listener of this.#roomListeners) listener();
  }
}
