/**
 * The window: our requests that have no answer yet, never more than `size`, each until its answer, its timeout or the end of the
 * connection. All wait equally long, so they expire in the order in which they came, and one timer serves them all.
 */
import type { Clock, Timer } from "../../../runtime/clock.ts";
import { type RequestName, type ResponseName, responseTo } from "../codec/commands.ts";
import type { Pdu } from "../codec/pdu.ts";
import type { SessionAnswer, Unsent } from "./contract.ts";

type AnyAnswer = SessionAnswer<RequestName>;

/** Hears what became of a request: at once, in the middle of what the session does, so it must not use the session there and then. */
export type Hears<Name extends RequestName> = (answer: SessionAnswer<Name>) => void;

interface Waiting {
  readonly sequence: number;
  readonly response: ResponseName;
  readonly deadlineMs: number;
  readonly hears: (answer: AnyAnswer) => void;
}

/** 3.4 §3.2: sequence numbers go from 1 to this, and around. */
const LAST_SEQUENCE = 0x7fffffff;

export class Window {
  readonly #clock: Clock;
  readonly #size: number;
  readonly #timeoutMs: number;
  readonly #onExpired: () => void;
  /** A request's place is its sequence number modulo the number of places, of which there are at least twice as many as requests. */
  readonly #places: (Waiting | undefined)[];
  #inFlight = 0;
  #lastSequence = 0;
  /** Set for the oldest, and left as it is when that one is answered: it then looks for the next. */
  #timer: Timer | null = null;

  constructor(clock: Clock, size: number, timeoutMs: number, onExpired: () => void) {
    this.#clock = clock;
    this.#size = size;
    this.#timeoutMs = timeoutMs;
    this.#onExpired = onExpired;
    this.#places = Array(2 ** Math.ceil(Math.log2(2 * size + 2))).fill(undefined);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get room(): number {
    return this.#size - this.#inFlight;
  }

  /** One that no request in flight has, nor has the place of. */
  nextSequence(): number {
    do this.#lastSequence = this.#lastSequence === LAST_SEQUENCE ? 1 : this.#lastSequence + 1;
    while (this.#places[this.#placeOf(this.#lastSequence)] !== undefined);
    return this.#lastSequence;
  }

  /** `sequence` is what `nextSequence` gave. One without end, as a bind, is answered or goes with its connection: whoever asks sees to that. */
  add<Name extends RequestName>(command: Name, sequence: number, hears: Hears<Name>, endless = false): void {
    const deadlineMs = endless ? Number.POSITIVE_INFINITY : this.#clock.monotonic() + this.#timeoutMs;
    if (!endless) this.#timer ??= this.#clock.after(this.#timeoutMs, () => this.#expire());
    this.#inFlight++;
    this.#places[this.#placeOf(sequence)] = {
      sequence,
      response: responseTo(command),
      deadlineMs,
      // Safe: `settle` tells it only of a response to this command.
      hears: hears as Waiting["hears"],
    };
  }

  /** False when nobody waits for it. */
  settle(pdu: Pdu<ResponseName | "generic_nack">): boolean {
    const place = this.#placeOf(pdu.sequence);
    const waiting = this.#places[place];
    if (waiting === undefined || waiting.sequence !== pdu.sequence) return false;
    if (pdu.command !== waiting.response && pdu.command !== "generic_nack") return false;
    this.#places[place] = undefined;
    this.#inFlight--;
    waiting.hears({ kind: "answered", pdu } as AnyAnswer);
    return true;
  }

  /** Requests from this sequence number on were never written; with null there are none of those. */
  withdraw(firstSequence: number | null, why: Unsent): void {
    if (firstSequence === null) return;
    for (const [place, waiting] of this.#places.entries()) {
      // Numbers go around: those within half of them ahead came after it.
      if (waiting === undefined || ((waiting.sequence - firstSequence) & LAST_SEQUENCE) > LAST_SEQUENCE / 2) continue;
      this.#places[place] = undefined;
      this.#inFlight--;
      waiting.hears({ kind: "unsent", why });
    }
  }

  /** The connection has ended: no answer will come. */
  end(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#giveUp(Number.POSITIVE_INFINITY);
  }

  #expire(): void {
    const nowMs = this.#clock.monotonic();
    const before = this.#inFlight;
    this.#giveUp(nowMs);
    const oldestMs = this.#places.reduce(
      (oldest, waiting) => Math.min(oldest, waiting?.deadlineMs ?? oldest),
      Infinity,
    );
    this.#timer = this.#inFlight === 0 ? null : this.#clock.after(oldestMs - nowMs, () => this.#expire());
    if (this.#inFlight < before) this.#onExpired();
  }

  /** Those whose time is over. */
  #giveUp(nowMs: number): void {
    for (const [place, waiting] of this.#places.entries()) {
      if (waiting === undefined || waiting.deadlineMs > nowMs) continue;
      this.#places[place] = undefined;
      this.#inFlight--;
      waiting.hears({ kind: "unknown", sequence: waiting.sequence });
    }
  }

  #placeOf(sequence: number): number {
    return sequence & (this.#places.length - 1);
  }
}
