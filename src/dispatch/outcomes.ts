/**
 * What became of messages, on its way to the store: gathered for one turn of the event loop and written together. Nothing is
 * dropped: while the store is out of reach, what is gathered waits and is written when it is back.
 */
import type { Receipt } from "../carriers/port.ts";
import type { MessageKey } from "../message/message.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Ending, Store, SubmittedMessage } from "../store/port.ts";

const TRY_AGAIN_AFTER_MS = 500;

type OutcomeStore = Pick<Store, "submitted" | "finish" | "postpone" | "countUnknown" | "received" | "reroute">;

export class Outcomes {
  readonly #store: OutcomeStore;
  readonly #clock: Clock;
  readonly #log: Log;
  #submitted: SubmittedMessage[] = [];
  #endings: Ending[] = [];
  #postponed: { key: MessageKey; dueAtMs: number }[] = [];
  #unknown: MessageKey[] = [];
  #rerouted: { key: MessageKey; carrierId: string }[] = [];
  #receipts = new Map<string, { receipt: Receipt; safe: () => void }[]>();
  #scheduled = false;
  #writing = 0;
  #idle: (() => void)[] = [];
  readonly #onWritten: () => void;

  constructor(store: OutcomeStore, clock: Clock, log: Log, onWritten: () => void) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#onWritten = onWritten;
  }

  submitted(message: SubmittedMessage): void {
    this.#submitted.push(message);
    this.#schedule();
  }

  ended(ending: Ending): void {
    this.#endings.push(ending);
    this.#schedule();
  }

  postponed(key: MessageKey, dueAtMs: number): void {
    this.#postponed.push({ key, dueAtMs });
    this.#schedule();
  }

  unknown(key: MessageKey): void {
    this.#unknown.push(key);
    this.#schedule();
  }

  rerouted(key: MessageKey, carrierId: string): void {
    this.#rerouted.push({ key, carrierId });
    this.#schedule();
  }

  /** Resolves when the receipt is in the store. */
  receipt(carrierId: string, receipt: Receipt): Promise<void> {
    return new Promise((safe) => {
      const receipts = this.#receipts.get(carrierId);
      if (receipts === undefined) this.#receipts.set(carrierId, [{ receipt, safe }]);
      else receipts.push({ receipt, safe });
      this.#schedule();
    });
  }

  /** Resolves when everything gathered so far is in the store. */
  async settled(): Promise<void> {
    if (!this.#scheduled && this.#writing === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#write());
  }

  #write(): void {
    this.#scheduled = false;
    const [messages, endings, postponed, keys, rerouted, receipts] = [
      this.#submitted,
      this.#endings,
      this.#postponed,
      this.#unknown,
      this.#rerouted,
      this.#receipts,
    ];
    this.#submitted = [];
    this.#endings = [];
    this.#postponed = [];
    this.#unknown = [];
    this.#rerouted = [];
    this.#receipts = new Map();
    // The new lane before what became of the message in it.
    if (rerouted.length > 0) void this.#persist(() => this.#store.reroute({ messages: rerouted }));
    // Submissions before receipts: most receipts then find their message at once.
    if (messages.length > 0) void this.#persist(() => this.#store.submitted({ messages }));
    if (endings.length > 0) void this.#persist(() => this.#store.finish({ endings }));
    if (postponed.length > 0) void this.#persist(() => this.#store.postpone({ messages: postponed }));
    if (keys.length > 0) void this.#persist(() => this.#store.countUnknown({ keys }));
    for (const [carrierId, batch] of receipts) {
      const receipts = batch.map(({ receipt }) => receipt);
      void this.#persist(() => this.#store.received({ carrierId, receipts })).then(() => {
        for (const { safe } of batch) safe();
      });
    }
  }

  async #persist(write: () => Promise<unknown>): Promise<void> {
    this.#writing++;
    for (;;) {
      try {
        await write();
        break;
      } catch (error) {
        this.#log.error({ err: error }, "the store did not take what became of messages; trying again");
        await new Promise<void>((resolve) => this.#clock.after(TRY_AGAIN_AFTER_MS, resolve));
      }
    }
    this.#writing--;
    this.#onWritten();
    if (this.#writing > 0 || this.#scheduled) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
