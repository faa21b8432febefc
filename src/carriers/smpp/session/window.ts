/**
 * The window: our requests that have no answer yet, never more than `size`, each until its answer, its timeout or the end of the
 * connection. All wait equally long, so they expire in the order in which they came, and one timer serves them all.
 */
import type { Clock, Timer } from "../../../runtime/clock.ts";
import { type RequestName, type ResponseName, responseTo } from "../codec/commands.ts";
import type { Pdu } from "../codec/pdu.ts";
import type { Answer } from "./contract.ts";

type AnyAnswer = Answer<RequestName>;

interface Waiting {
  readonly response: ResponseName;
  readonly deadlineMs: number;
  readonly resolve: (answer: AnyAnswer) => void;
}

export class Window {
  readonly #clock: Clock;
  readonly #size: number;
  readonly #timeoutMs: number;
  readonly #onExpired: (count: number) => void;
  /** By sequence number, the oldest first. */
  readonly #waiting = new Map<number, Waiting>();
  /** Set for the oldest, and left as it is when that one is answered: it then looks for the next. */
  #timer: Timer | null = null;

  constructor(clock: Clock, size: number, timeoutMs: number, onExpired: (count: number) => void) {
    this.#clock = clock;
    this.#size = size;
    this.#timeoutMs = timeoutMs;
    this.#onExpired = onExpired;
  }

  get inFlight(): number {
    return this.#waiting.size;
  }

  get room(): number {
    return this.#size - this.#waiting.size;
  }

  has(sequence: number): boolean {
    return this.#waiting.has(sequence);
  }

  add<Name extends RequestName>(command: Name, sequence: number): Promise<Answer<Name>> {
    const deadlineMs = this.#clock.monotonic() + this.#timeoutMs;
    this.#timer ??= this.#clock.after(this.#timeoutMs, () => this.#expire());
    return new Promise((resolve) => {
      // Safe: `settle` resolves it only with a response to this command.
      this.#waiting.set(sequence, {
        response: responseTo(command),
        deadlineMs,
        resolve: resolve as Waiting["resolve"],
      });
    });
  }

  /** False when nobody waits for it. */
  settle(pdu: Pdu<ResponseName | "generic_nack">): boolean {
    const waiting = this.#waiting.get(pdu.sequence);
    if (waiting === undefined || (pdu.command !== waiting.response && pdu.command !== "generic_nack")) return false;
    this.#waiting.delete(pdu.sequence);
    waiting.resolve({ kind: "answered", pdu } as AnyAnswer);
    return true;
  }

  /** The connection has ended: no answer will come. Returns how many that leaves unknown. */
  end(): number {
    this.#timer?.cancel();
    this.#timer = null;
    const count = this.#waiting.size;
    for (const [sequence, { resolve }] of this.#waiting) resolve({ kind: "unknown", sequence });
    this.#waiting.clear();
    return count;
  }

  #expire(): void {
    this.#timer = null;
    const nowMs = this.#clock.monotonic();
    let count = 0;
    for (const [sequence, { deadlineMs, resolve }] of this.#waiting) {
      if (deadlineMs > nowMs) {
        this.#timer = this.#clock.after(deadlineMs - nowMs, () => this.#expire());
        break;
      }
      this.#waiting.delete(sequence);
      resolve({ kind: "unknown", sequence });
      count++;
    }
    if (count > 0) this.#onExpired(count);
  }
}
