/**
 * Live events: what happens to messages, told as it happens to whoever watches (`heliograph listen`, the sandbox's output). They are for people, and
 * nothing depends on them: what is not taken in time is dropped and counted.
 *
 *   store, delivery ──LiveTap──▶ (other thread) ──▶ LiveHub ──▶ each subscriber
 *
 * Most of the time nobody watches. One word of shared memory says so to all threads, and as long as it does nothing is made.
 */
import { type Clock, systemClock, type Timer } from "../runtime/clock.ts";

export const LIVE_KINDS = [
  "accepted",
  "rejected",
  "sent",
  "delivered",
  "failed",
  "report",
  "incoming",
  "warning",
] as const;
export type LiveKind = (typeof LIVE_KINDS)[number];

export interface LiveEvent {
  readonly kind: LiveKind;
  readonly accountId: number;
  readonly atMs: number;
  /** As its client knows the message. Of a report, the first that it is about. */
  readonly messageId?: string;
  readonly from?: string;
  readonly to?: string;
  /** The beginning of it, as people may read it. */
  readonly text?: string;
  readonly status?: string;
  readonly error?: string;
  readonly carrier?: string;
  /** When a message is to go that does not go now. */
  readonly dueAtMs?: number;
  readonly report?: LiveTry;
  /** Of a warning: the operation, and what is odd about the request. */
  readonly request?: string;
  readonly warnings?: readonly string[];
}

/** A try to push a report. */
export interface LiveTry {
  readonly url: string;
  readonly items: number;
  readonly try: number;
  /** The status of the receiver's answer; null where there was none. */
  readonly answer: number | null;
  readonly tookMs: number | null;
  /** Why it was not taken; null where it was. */
  readonly reason: string | null;
  /** When it is tried again; null where it is not. */
  readonly retryAtMs: number | null;
}

export interface LiveBatch {
  readonly events: readonly LiveEvent[];
  /** How many others there were, by account. */
  readonly missed: ReadonlyMap<number, number>;
}

/** How many others there were in all. */
export function missedIn({ missed }: LiveBatch): number {
  return [...missed.values()].reduce((sum, count) => sum + count, 0);
}

const MAX_TEXT_LENGTH = 160;
/** What one thread tells in a second: more than anybody can read, and next to nothing beside the messages themselves. */
const MAX_A_SECOND = 1_000;
/** Of those, what one account may have: whoever watches another one still hears of it. */
const MAX_OF_ACCOUNT = 250;
const SECOND_MS = 1_000;
/** How long events of all threads are gathered, so that they can be told in the order of time. */
const GATHER_MS = 100;

const NONE_MISSED: ReadonlyMap<number, number> = new Map();

/** The beginning of a message's text. */
export function liveText(text: string): string {
  return text.length <= MAX_TEXT_LENGTH ? text : `${text.slice(0, MAX_TEXT_LENGTH).toWellFormed()}…`;
}

/**
 * Where events begin, on any thread. Its clock tells the time of day as all else does, a sandbox's that was moved included: a line has the time of its event
 * beside the one at which a message is to go. Its seconds are real ones, because people watch in real time.
 */
export class LiveTap {
  readonly #watchers: Int32Array;
  readonly #send: (batch: LiveBatch) => void;
  readonly #clock: Clock;
  #sinceMs = Number.NEGATIVE_INFINITY;
  #told = 0;
  /** By account, of this second. */
  readonly #toldOf = new Map<number, number>();

  constructor(memory: SharedArrayBuffer, send: (batch: LiveBatch) => void, clock: Clock = systemClock) {
    this.#watchers = new Int32Array(memory);
    this.#send = send;
    this.#clock = clock;
  }

  /** A tap that nobody listens at. */
  static none(): LiveTap {
    return new LiveTap(new SharedArrayBuffer(4), () => undefined);
  }

  /** Whether somebody watches. Ask before an event is made. */
  get isOn(): boolean {
    return this.#watchers[0] !== 0;
  }

  /** Events of one account. `missed` are others of it that were not made. */
  tell(events: readonly Omit<LiveEvent, "atMs">[], missed = 0): void {
    const [first] = events;
    if (first === undefined) return;
    const { accountId } = first;
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#sinceMs >= SECOND_MS) {
      this.#sinceMs = nowMs;
      this.#told = 0;
      this.#toldOf.clear();
    }
    const before = this.#toldOf.get(accountId) ?? 0;
    const room = Math.max(0, Math.min(MAX_A_SECOND - this.#told, MAX_OF_ACCOUNT - before));
    const atMs = this.#clock.now();
    const told = events.slice(0, room).map((event) => ({ ...event, atMs }));
    this.#told += told.length;
    if (told.length > 0) this.#toldOf.set(accountId, before + told.length);
    const others = missed + events.length - told.length;
    this.#send({ events: told, missed: others === 0 ? NONE_MISSED : new Map([[accountId, others]]) });
  }
}

export type LiveListener = (batch: LiveBatch) => void;

/** Where events end: those who watch, on the edge's thread. */
export class LiveHub {
  /** For the taps: how many watch. */
  readonly memory = new SharedArrayBuffer(4);
  readonly #watchers = new Int32Array(this.memory);
  readonly #listeners = new Set<LiveListener>();
  readonly #clock: Clock;
  #gathered: LiveEvent[] = [];
  #missed = new Map<number, number>();
  #timer: Timer | null = null;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  get isOn(): boolean {
    return this.#listeners.size > 0;
  }

  /** What a tap on this thread, or another one, has told. */
  take({ events, missed }: LiveBatch): void {
    if (!this.isOn) return;
    for (const event of events) this.#gathered.push(event);
    for (const [accountId, count] of missed) this.#missed.set(accountId, (this.#missed.get(accountId) ?? 0) + count);
    this.#timer ??= this.#clock.after(GATHER_MS, () => this.#publish());
  }

  /** Returns how to end it. */
  subscribe(listener: LiveListener): () => void {
    this.#listeners.add(listener);
    Atomics.store(this.#watchers, 0, this.#listeners.size);
    return () => {
      this.#listeners.delete(listener);
      Atomics.store(this.#watchers, 0, this.#listeners.size);
      if (!this.isOn) this.#drop();
    };
  }

  #publish(): void {
    const batch = { events: this.#gathered.sort((one, other) => one.atMs - other.atMs), missed: this.#missed };
    this.#drop();
    for (const listener of this.#listeners) listener(batch);
  }

  #drop(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#gathered = [];
    this.#missed = new Map();
  }
}
