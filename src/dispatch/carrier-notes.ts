/**
 * What this node and the operators tell each other of its carriers, through the store. The node says how it stands with them, for whoever asks on any
 * node or on the command line: when something has changed, looked for every second, and now and then when nothing has, so that a node which is gone can
 * be told from one that is silent. And it reads which carriers are to be tried at once.
 */
import { carrierState, STATE_NOTE_MS } from "../carriers/state.ts";
import { type Clock, Interval, within } from "../runtime/clock.ts";
import { type Log, LogLimiter } from "../runtime/log.ts";
import type { CarrierNote } from "../store/port/carriers.ts";
import type { Store } from "../store/port/store.ts";
import type { Dispatcher } from "./dispatcher.ts";

export interface CarrierNotesParts {
  readonly store: Pick<Store, "noteCarriers" | "reconnects">;
  /** The machine's own. */
  readonly clock: Clock;
  readonly log: Log;
  readonly dispatcher: Pick<Dispatcher, "stateFacts" | "connectNow">;
  /** For people: machine and process. */
  readonly node: string;
}

const LOOK_EVERY_MS = 1_000;
/** For the goodbye: messages still go to the carriers meanwhile, and whoever says none is shown for a while more. */
const STOP_MS = 1_000;

export class CarrierNotes {
  readonly #parts: CarrierNotesParts;
  readonly #limiter: LogLimiter;
  #looking: Interval | null = null;
  #said = "";
  #saidMs = Number.NEGATIVE_INFINITY;
  /** How often operators have asked for each carrier to be tried at once; null before the first look. */
  #asked: ReadonlyMap<string, number> | null = null;
  /** The last look failed. */
  #isUnread = false;
  /** Something of this node may be in the store. */
  #isNoted = false;
  #isStopping = false;

  constructor(parts: CarrierNotesParts) {
    this.#parts = parts;
    this.#limiter = new LogLimiter(parts.clock);
  }

  /** Resolves when it is known what was asked for before this start, which counts no more. */
  async start(): Promise<void> {
    await this.read();
    this.#looking = Interval.together(this.#parts.clock, LOOK_EVERY_MS, async () => {
      if (this.#isUnread) await this.read();
      await this.#look();
    });
  }

  /** Does what operators have asked for since the last look. */
  async read(): Promise<void> {
    const { store, dispatcher } = this.#parts;
    try {
      const rows = await store.reconnects();
      const before = this.#asked;
      this.#asked = new Map(rows.map(({ carrierId, times }) => [carrierId, times]));
      this.#isUnread = false;
      if (before === null || this.#isStopping) return;
      for (const [id, times] of this.#asked) if (times > (before.get(id) ?? 0)) dispatcher.connectNow(id);
    } catch (error) {
      this.#isUnread = true;
      this.#warn(error, "it could not be read which carriers are to be tried at once; trying again");
    }
  }

  async #look(): Promise<void> {
    if (this.#isStopping) return;
    const { clock, dispatcher, node } = this.#parts;
    const body = JSON.stringify(dispatcher.stateFacts().map((facts) => carrierState(facts)));
    if (body === this.#said && clock.monotonic() - this.#saidMs < STATE_NOTE_MS.again) return;
    this.#isNoted = true;
    if (!(await this.#say({ node, body }))) return;
    this.#said = body;
    this.#saidMs = clock.monotonic();
  }

  async #say(note: CarrierNote | null): Promise<boolean> {
    const { store } = this.#parts;
    try {
      await store.noteCarriers({ note, goneMs: STATE_NOTE_MS.gone });
      return true;
    } catch (error) {
      this.#warn(error, "the store could not be told how it stands with the carriers; trying again");
      return false;
    }
  }

  #warn(error: unknown, says: string): void {
    const { log } = this.#parts;
    // Nothing is tried again then.
    if (this.#isStopping) return;
    this.#limiter.write(says, (more) => log.warn({ err: error, ...more }, says));
  }

  /** A store that does not answer is not waited for any longer than a second, for all that is to be asked of it together. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await within(this.#parts.clock, STOP_MS, this.#leave(), undefined);
  }

  /** What is under way comes first: the store must not hear of this node after the goodbye. */
  async #leave(): Promise<void> {
    await this.#looking?.stop();
    if (this.#isNoted) await this.#say(null);
  }
}
