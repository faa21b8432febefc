/**
 * Calls between threads. What is called in one turn of the event loop crosses as one message, and so do the answers and what is told
 * without having been asked: a hop costs some microseconds, and wakes the other thread; under load hundreds of calls share it. A call that can wait
 * crosses with the next one that cannot.
 */
import type { MessagePort } from "node:worker_threads";
import { systemClock, type Timer } from "../runtime/clock.ts";
import { SlotMap } from "../runtime/slots.ts";
import { StoreUnavailable } from "../store/port/errors.ts";

/** What each thread of the service is given, much of it as memory that all of them see. */
export interface ThreadData {
  /** Of the lease, which the store's thread renews. */
  readonly lease: SharedArrayBuffer;
  /** Of the mark of what is written to the store; null where it keeps none. */
  readonly mark: SharedArrayBuffer | null;
  /** Of a clock that can be moved; null where it cannot. */
  readonly travel: SharedArrayBuffer | null;
  /** Whether somebody watches messages live (LiveHub). */
  readonly live: SharedArrayBuffer;
  /** When the thread was started, on the monotonic clock. */
  readonly startedAtMs: number;
}

type CallEnvelope = [id: number, name: string, input: unknown];
type AnswerEnvelope = [id: number, ok: true, value: unknown] | [id: number, ok: false, failure: Failure];
/** In the place of a call's id: an event, which answers none. */
const EVENT = 0;
/** An error on its way to another thread, which would lose its class. */
interface Failure {
  readonly message: string;
  /** The store's stack: the caller's own says nothing about a bug over there. */
  readonly stack: string;
  readonly unavailable: boolean;
}
type Envelope = { calls: CallEnvelope[] } | { answers: AnswerEnvelope[] };

/** Gathers items and sends them together, in their order, at the end of the turn. */
class Gathering<Item> {
  readonly #send: (items: Item[]) => void;
  #items: Item[] = [];
  #isDue = false;
  /** Runs while all of them can wait. */
  #timer: Timer | null = null;

  constructor(send: (items: Item[]) => void) {
    this.#send = send;
  }

  /** One that can wait does so for the next that cannot, and no longer than that many milliseconds. */
  add(item: Item, waitMs = 0): void {
    this.#items.push(item);
    if (this.#isDue) return;
    if (waitMs === 0) this.#sendSoon();
    else this.#timer ??= systemClock.after(waitMs, () => this.#sendSoon());
  }

  #sendSoon(): void {
    this.#isDue = true;
    this.#timer?.cancel();
    this.#timer = null;
    setImmediate(() => {
      const items = this.#items;
      this.#items = [];
      this.#isDue = false;
      this.#send(items);
    });
  }
}

/** Answers the calls that come over a port. */
export function serveCalls(port: MessagePort, handle: (name: string, input: unknown) => Promise<unknown>) {
  const answers = new Gathering<AnswerEnvelope>((items) => port.postMessage({ answers: items } satisfies Envelope));
  port.on("message", (envelope: Envelope) => {
    if (!("calls" in envelope)) return;
    for (const [id, name, input] of envelope.calls) {
      handle(name, input).then(
        (value) => answers.add([id, true, value]),
        (error: unknown) => answers.add([id, false, failureOf(error)]),
      );
    }
  });
  /** Something that happened, told without an answer. Arrives in order with the answers. */
  return { tell: (event: unknown): void => answers.add([EVENT, true, event]) };
}

function failureOf(error: unknown): Failure {
  const { message, stack = "" } = error instanceof Error ? error : new Error(String(error));
  return { message, stack, unavailable: error instanceof StoreUnavailable };
}

function errorOf({ message, stack, unavailable }: Failure): Error {
  const error = unavailable ? new StoreUnavailable(message) : new Error(message);
  error.stack = stack;
  return error;
}

/** The calling end of a port. */
export class ThreadCaller {
  readonly #calls: Gathering<CallEnvelope>;
  readonly #waiting = new SlotMap<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  #lastId = 0;
  #lost: string | null = null;

  constructor(port: MessagePort, onEvent: (event: unknown) => void = () => undefined) {
    this.#calls = new Gathering((items) => port.postMessage({ calls: items } satisfies Envelope));
    port.on("message", (envelope: Envelope) => {
      if (!("answers" in envelope)) return;
      for (const [id, ok, value] of envelope.answers) {
        if (id === EVENT) {
          onEvent(value);
          continue;
        }
        const waiting = this.#waiting.get(id);
        this.#waiting.delete(id);
        if (ok) waiting?.resolve(value);
        else waiting?.reject(errorOf(value));
      }
    });
    port.on("close", () => this.fail("the other thread ended"));
  }

  /** `waitMs`: for so long it may wait for another that cannot. */
  call(name: string, input: unknown, waitMs = 0): Promise<unknown> {
    if (this.#lost !== null) return Promise.reject(new StoreUnavailable(this.#lost));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#calls.add([id, name, input], waitMs);
    });
  }

  /** Nobody will answer any more. */
  fail(reason: string): void {
    this.#lost = reason;
    for (const { reject } of this.#waiting.values()) reject(new StoreUnavailable(reason));
    this.#waiting.clear();
  }
}
