/**
 * A phone network that exists only here, so that a developer can send without a carrier. It takes parts, and after a second or so the
 * handset behind the number answers, in the way that handsets.ts says.
 *
 * A part in hand waits in the agenda for its next receipt:
 *
 *   submit ──accepted──▶ agenda ──due──▶ receipt ──final──▶ forgotten
 *                          ▲                │
 *                          └──held──────────┘
 *
 * One timer wakes for the whole agenda, however many parts are in it. It runs on the monotonic clock: a wall clock that steps back
 * delays no receipt.
 */
import type { Clock, Timer } from "../../runtime/clock.ts";
import type { Random } from "../../runtime/random.ts";
import { encodeParts } from "../../sms/text.ts";
import type {
  Carrier,
  IncomingPart,
  OutgoingMessage,
  OutstandingPart,
  PartToSubmit,
  Receipt,
  Submission,
} from "../port.ts";
import { Agenda } from "./agenda.ts";
import { type Answer, BUSY_FOR_MS, EXPIRED, type Handset, handsetOf } from "./handsets.ts";

export interface SimulatorSettings {
  readonly id: string;
  /** How long a handset takes to answer, give or take a fifth. */
  readonly answerAfterMs?: number;
  /** How many parts the network holds at most before it says "later". */
  readonly capacity?: number;
}

/** A part that the network took and has not said the last word about. */
interface PartInHand {
  readonly carrierMessageId: string;
  readonly to: string;
  readonly handset: Handset;
  readonly submittedAtMs: number;
  readonly expiresAtMs: number;
  readonly answerAfterMs: number;
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

/** What a number that does not take a part at its first submit was told already. */
interface Asked {
  readonly times: number;
  readonly lastMs: number;
}

/** Mobile country code 001 of ITU-T E.212 is kept for test networks, and belongs to no country. */
const MCC_MNC = "00101";

const DEFAULT_ANSWER_AFTER_MS = 1000;
const DEFAULT_CAPACITY = 100_000;
const JITTER = 0.2;

/** Under load the timer fires a hundred times a second for many receipts, instead of a thousand times for a few. */
const SHORTEST_SLEEP_MS = 10;
/** Receipts in one go; the event loop gets a turn before the next ones. */
const MOST_RECEIPTS_AT_ONCE = 1000;

/** Long enough for all parts and retries of one message; then the number plays its part again from the beginning. */
const ASKED_REMEMBERED_MS = 60_000;
const MOST_ASKED_REMEMBERED = 10_000;

export class SimulatedCarrier implements Carrier {
  readonly id: string;
  readonly partRule = "every";
  readonly unknownPolicy = "resend";
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #answerAfterMs: number;
  readonly #capacity: number;
  readonly #idPrefix: string;
  #idsGiven = 0;
  #running = false;
  readonly #agenda = new Agenda<ExpectedReceipt>();
  #timer: { readonly wakeAtMs: number; readonly alarm: Timer } | null = null;
  /** By number, the one asked longest ago first. */
  readonly #asked = new Map<string, Asked>();
  #hadRoom = false;
  readonly #roomListeners: (() => void)[] = [];
  readonly #receiptListeners: ((receipt: Receipt) => Promise<void>)[] = [];

  constructor(settings: SimulatorSettings, clock: Clock, random: Random) {
    this.id = settings.id;
    this.#clock = clock;
    this.#random = random;
    this.#answerAfterMs = settings.answerAfterMs ?? DEFAULT_ANSWER_AFTER_MS;
    this.#capacity = settings.capacity ?? DEFAULT_CAPACITY;
    // The ids of an earlier process may still be in the store: time and chance set ours apart from them.
    const chance = Math.floor(random.next() * 36 ** 6);
    this.#idPrefix = `${clock.now().toString(36)}${chance.toString(36).padStart(6, "0")}-`;
  }

  async start(): Promise<void> {
    this.#running = true;
    this.#setTimer();
    this.#noteRoom();
  }

  /** Forgets every part in hand, as the end of the process would. */
  async stop(): Promise<void> {
    this.#running = false;
    this.#timer?.alarm.cancel();
    this.#timer = null;
    this.#agenda.clear();
    this.#noteRoom();
  }

  room(): number {
    return this.#running ? Math.max(this.#capacity - this.#agenda.size, 0) : 0;
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

  /** Its phones only answer; they never write on their own. */
  onIncoming(_listener: (part: IncomingPart) => Promise<void>): void {}

  partsOf(message: OutgoingMessage): PartToSubmit[] {
    return encodeParts(message, message).map((userData) => ({ message, userData, place: null }));
  }

  async submit(part: PartToSubmit): Promise<Submission> {
    if (this.room() === 0) return { kind: "later", retryAfterMs: BUSY_FOR_MS };
    const { to, expiresAtMs } = part.message;
    const handset = handsetOf(to);
    const answer = this.#answerOf(handset, to);
    if (answer !== "accept") return answer;

    const carrierMessageId = this.#idPrefix + (this.#idsGiven++).toString(36);
    const submittedAtMs = this.#clock.now();
    this.#take({ carrierMessageId, to, submittedAtMs, expiresAtMs }, handset);
    this.#setTimer();
    this.#noteRoom();
    return { kind: "accepted", carrierMessageId };
  }

  /**
   * All the parts are taken, beyond the capacity too: the network said yes to them once. A receipt that an earlier process may have
   * passed on already is sent again, since nobody here knows.
   */
  resume(parts: readonly OutstandingPart[]): void {
    for (const part of parts) this.#take(part, handsetOf(part.to));
    this.#setTimer();
    this.#noteRoom();
  }

  #answerOf(handset: Handset, number: string): Answer {
    const { answers } = handset;
    if (answers.length === 1) return answers[0]!;
    const nowMs = this.#clock.monotonic();
    const asked = this.#asked.get(number);
    const times = asked !== undefined && nowMs - asked.lastMs < ASKED_REMEMBERED_MS ? asked.times : 0;
    this.#asked.delete(number);
    this.#asked.set(number, { times: times + 1, lastMs: nowMs });
    if (this.#asked.size > MOST_ASKED_REMEMBERED) this.#asked.delete(this.#asked.keys().next().value!);
    return answers[Math.min(times, answers.length - 1)]!;
  }

  #take(part: OutstandingPart, handset: Handset): void {
    if (handset.receipts.length === 0) return;
    const jitter = 1 + JITTER * (2 * this.#random.next() - 1);
    const nowMs = this.#clock.now();
    const partInHand: PartInHand = {
      carrierMessageId: part.carrierMessageId,
      to: part.to,
      handset,
      // Before a restart the clock may have been fast; its error must not be waited for.
      submittedAtMs: Math.min(part.submittedAtMs, nowMs),
      expiresAtMs: part.expiresAtMs,
      answerAfterMs: this.#answerAfterMs * jitter,
      monotonicAheadMs: this.#clock.monotonic() - nowMs,
    };
    this.#expect(partInHand, 0);
  }

  /** Notes down the receipt at `place` of the handset's list, or the part's expiry if that comes first. */
  #expect(part: PartInHand, place: number): void {
    const { carrierMessageId, to, handset, submittedAtMs, expiresAtMs } = part;
    const planned = handset.receipts[place]!;
    const answersAtMs = Math.round(submittedAtMs + part.answerAfterMs + planned.laterMs);
    const inTime = answersAtMs <= expiresAtMs;
    const { outcome, errorId } = inTime ? planned : EXPIRED;
    const atMs = inTime ? answersAtMs : Math.max(expiresAtMs, submittedAtMs);
    const isLast = !inTime || place === handset.receipts.length - 1;
    this.#agenda.note(atMs + part.monotonicAheadMs, {
      part,
      receipt: { carrierMessageId, outcome, errorId, atMs, mccMnc: MCC_MNC, to },
      following: isLast ? null : place + 1,
    });
  }

  #setTimer(): void {
    if (!this.#running || this.#agenda.size === 0) return;
    const nowMs = this.#clock.monotonic();
    const wakeAtMs = Math.max(this.#agenda.nextDueMs, nowMs + SHORTEST_SLEEP_MS);
    if (this.#timer !== null && this.#timer.wakeAtMs <= wakeAtMs) return;
    this.#timer?.alarm.cancel();
    this.#timer = { wakeAtMs, alarm: this.#clock.after(Math.ceil(wakeAtMs - nowMs), () => this.#sendDueReceipts()) };
  }

  #sendDueReceipts(): void {
    this.#timer = null;
    const nowMs = this.#clock.monotonic();
    for (let sent = 0; sent < MOST_RECEIPTS_AT_ONCE && this.#agenda.nextDueMs <= nowMs; sent++) {
      const { part, receipt, following } = this.#agenda.take()!;
      if (following !== null) this.#expect(part, following);
      for (const listener of this.#receiptListeners) void listener(receipt);
    }
    this.#setTimer();
    this.#noteRoom();
  }

  #noteRoom(): void {
    const hadRoom = this.#hadRoom;
    this.#hadRoom = this.room() > 0;
    if (hadRoom || !this.#hadRoom) return;
    for (const listener of this.#roomListeners) listener();
  }
}
