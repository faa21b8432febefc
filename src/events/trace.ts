/**
 * The trace: what happened to messages on their way, kept for people who ask why. It is an explanation beside the truth, which is in the rows of
 * the messages. So it may never delay or fail anything: notes are gathered in memory, within a bound, and written together a few times a second.
 * While the store does not keep up, the oldest are dropped and counted. What a kill takes along is missed by nobody but the reader.
 *
 * "trouble" notes what does not go smoothly: refusals, retries, errors, reports that fail. "all" notes every step.
 */
import { type Clock, type Timer, within } from "../runtime/clock.ts";
import { type Log, LogLimiter } from "../runtime/log.ts";
import { counter, type Metric } from "../runtime/metrics.ts";

export const TRACE_LEVELS = ["all", "trouble", "off"] as const;
export type TraceLevel = (typeof TRACE_LEVELS)[number];

/** What a carrier itself called it that it did not take something: ESME_RINVDSTADR. */
interface Said {
  status?: string | undefined;
}

/** What is told of each kind of step. */
export interface TraceDetails {
  /** A request made messages: by which door it came, and with which API key or as which user. */
  request: { door: string; apiKey: string | null; user: string | null; firstKey: string; messages: number };
  /** A carrier took it, or parts of it. */
  submitted: { carrier: string; ids: string[]; refusedErrorId: number | null } & Said;
  /** How long the carrier took to answer, and how much of its window was in use. */
  answer: { carrier: string; tookMs: number; inFlight: number; window: number };
  /** It goes again, and why. */
  again: { carrier: string; cause: string; afterMs: number; isUnknown: boolean; tookMs: number | null } & Said;
  postponed: { event: string; dueAtMs: number };
  rerouted: { carrier: string };
  ended: { event: string; errorId: number; carrier?: string } & Said;
  receipt: {
    carrier: string;
    id: string;
    outcome: string;
    errorId: number;
    network: string | null;
    raw: string | null;
  };
  /** The messages of these names were in this report, which was taken. */
  reported: { report: string; names: string[] };
  /** A try to push a report. */
  attempt: {
    try: number;
    url: string;
    items: number;
    body: string | null;
    status: number | null;
    reason: string | null;
    excerpt: string;
    tookMs: number;
    retryAtMs: number | null;
    isDead: boolean;
  };
}

export type TraceKind = keyof TraceDetails;

export interface TraceNote {
  readonly subject: string;
  readonly atMs: number;
  readonly kind: TraceKind;
  /** TraceDetails of the kind, as JSON. */
  readonly detail: string;
}

/** Messages of an account that ended in one such span of time are looked for together. */
const ENDED_SPAN_MS = 10_000;

/** What a note can be about. A client chooses the names of its bulks, so its account stands before them. */
export const SUBJECT = {
  message: (key: string): string => `m${key}`,
  /** Those of an account's messages that ended about then. */
  ended: (accountId: number, doneAtMs: number): string => `e${accountId}/${Math.floor(doneAtMs / ENDED_SPAN_MS)}`,
  report: (id: string): string => `r${id}`,
  bulk: (accountId: number, bulkId: string): string => `b${accountId}/${bulkId}`,
} as const;

/** Where notes go. */
export interface Trace {
  readonly isOn: boolean;
  /** Every step is noted, and not only trouble. */
  readonly all: boolean;
  /** `atMs` is when it happened, unless that is now. */
  note<Kind extends TraceKind>(subject: string, kind: Kind, detail: TraceDetails[Kind], atMs?: number): void;
  /** A step could not be noted: what it is about goes on all the same. */
  failed(error: unknown): void;
}

export const NO_TRACE: Trace = { isOn: false, all: false, note: () => undefined, failed: () => undefined };

export interface TraceRecorderParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly level: TraceLevel;
  readonly write: (notes: readonly TraceNote[]) => Promise<unknown>;
}

const FLUSH_AFTER_MS = 200;
const FLUSH_NOTES = 500;
/** Of all notes in memory, those that are being written among them. */
const MAX_OCTETS = 4_000_000;
/** What is left after the oldest were dropped: many at a time, because each time all that stay are moved. */
const KEPT_OCTETS = MAX_OCTETS * 0.9;
/** A character may take two octets in memory, and a note takes some for itself. */
const OCTETS_A_CHARACTER = 2;
const OCTETS_A_NOTE = 100;
const MAX_DETAIL_LENGTH = 4_096;
/** How long a stop waits for the store. */
const STOP_WAIT_MS = 500;

export class TraceRecorder implements Trace {
  readonly #parts: TraceRecorderParts;
  readonly #limiter: LogLimiter;
  #notes: TraceNote[] = [];
  #octets = 0;
  #writing: Promise<void> | null = null;
  /** Runs while there is something to write: a service in which nothing happens does nothing. */
  #timer: Timer | null = null;
  /** Notes that found no room, or that the store did not take. */
  dropped = 0;

  constructor(parts: TraceRecorderParts) {
    this.#parts = parts;
    this.#limiter = new LogLimiter(parts.clock);
  }

  get isOn(): boolean {
    return this.#parts.level !== "off";
  }

  get all(): boolean {
    return this.#parts.level === "all";
  }

  note<Kind extends TraceKind>(subject: string, kind: Kind, detail: TraceDetails[Kind], atMs?: number): void {
    if (!this.isOn) return;
    const text = JSON.stringify(detail);
    if (text.length > MAX_DETAIL_LENGTH) {
      this.dropped++;
      return;
    }
    const note = { subject, atMs: atMs ?? this.#parts.clock.now(), kind, detail: text };
    this.#notes.push(note);
    this.#octets += octetsOf(note);
    if (this.#octets > MAX_OCTETS) this.#dropOldest();
    if (this.#notes.length >= FLUSH_NOTES) this.#flush();
    else this.#wait();
  }

  failed(error: unknown, notes = 1): void {
    this.dropped += notes;
    this.#limiter.write("trace", (more) =>
      this.#parts.log.warn({ err: error, notes, ...more }, "steps of messages could not be noted and are dropped"),
    );
  }

  metric(thread: "edge" | "delivery"): Metric {
    const help = "Steps of messages that could not be noted for the console's timeline";
    return counter("heliograph_trace_dropped_total", help, [{ labels: { thread }, value: this.dropped }]);
  }

  /** Writes what is left, if the store takes it soon. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    const written = (async () => {
      while (this.#notes.length > 0 || this.#writing !== null) {
        this.#flush();
        await this.#writing;
      }
    })();
    await within(this.#parts.clock, STOP_WAIT_MS, written, undefined);
  }

  /** Those that are being written stay: they are not here any more. */
  #dropOldest(): void {
    let count = 0;
    for (; count < this.#notes.length && this.#octets > KEPT_OCTETS; count++)
      this.#octets -= octetsOf(this.#notes[count]!);
    this.#notes.splice(0, count);
    this.dropped += count;
  }

  #wait(): void {
    this.#timer ??= this.#parts.clock.after(FLUSH_AFTER_MS, () => {
      this.#timer = null;
      this.#flush();
    });
  }

  /** One write at a time: what comes meanwhile is in the next one. */
  #flush(): void {
    if (this.#writing !== null || this.#notes.length === 0) return;
    const notes = this.#notes.splice(0, FLUSH_NOTES);
    this.#writing = this.#write(notes).finally(() => {
      this.#writing = null;
      for (const note of notes) this.#octets -= octetsOf(note);
      if (this.#notes.length >= FLUSH_NOTES) this.#flush();
      else if (this.#notes.length > 0) this.#wait();
    });
  }

  async #write(notes: readonly TraceNote[]): Promise<void> {
    try {
      await this.#parts.write(notes);
    } catch (error) {
      this.failed(error, notes.length);
    }
  }
}

function octetsOf({ subject, detail }: TraceNote): number {
  return (subject.length + detail.length) * OCTETS_A_CHARACTER + OCTETS_A_NOTE;
}
