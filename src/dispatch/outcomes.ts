/**
 * What became of messages, and what phones sent, on its way to the store: gathered for one turn of the event loop and written
 * together. Nothing is dropped: while the store is out of reach, what is gathered waits and is written when it is back.
 */
import type { IncomingPart, Receipt } from "../carriers/port.ts";
import type { MessageKey } from "../message/message.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Ending, Store, SubmittedMessage } from "../store/port.ts";

const TRY_AGAIN_AFTER_MS = 500;

type OutcomeStore = Pick<
  Store,
  "submitted" | "finish" | "postpone" | "countUnknown" | "received" | "reroute" | "incoming" | "release"
>;

export interface OutcomesParts {
  readonly store: OutcomeStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when the store has taken something. */
  readonly onWritten: () => void;
  /** Told how many messages from phones were to a number that is nobody's. */
  readonly onUnmatched: (count: number) => void;
}

/** What each carrier said, and whom to tell when it is safe. */
type ByCarrier<Item> = Map<string, { item: Item; safe: () => void }[]>;

export class Outcomes {
  readonly #parts: OutcomesParts;
  #submitted: SubmittedMessage[] = [];
  #endings: Ending[] = [];
  #postponed: { key: MessageKey; dueAtMs: number }[] = [];
  #unknown: MessageKey[] = [];
  #rerouted: { key: MessageKey; carrierId: string }[] = [];
  #released: MessageKey[] = [];
  #receipts: ByCarrier<Receipt> = new Map();
  #incoming: ByCarrier<IncomingPart> = new Map();
  #scheduled = false;
  #writing = 0;
  #abandoned = false;
  #idle: (() => void)[] = [];

  constructor(parts: OutcomesParts) {
    this.#parts = parts;
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

  released(key: MessageKey): void {
    this.#released.push(key);
    this.#schedule();
  }

  /** Resolves when the receipt is in the store. */
  receipt(carrierId: string, receipt: Receipt): Promise<void> {
    return this.#keep(this.#receipts, carrierId, receipt);
  }

  /** Resolves when the part is in the store. */
  incoming(carrierId: string, part: IncomingPart): Promise<void> {
    return this.#keep(this.#incoming, carrierId, part);
  }

  #keep<Item>(kept: ByCarrier<Item>, carrierId: string, item: Item): Promise<void> {
    return new Promise((safe) => {
      const items = kept.get(carrierId);
      if (items === undefined) kept.set(carrierId, [{ item, safe }]);
      else items.push({ item, safe });
      this.#schedule();
    });
  }

  /** The process ends: what the store does not take now is left to whoever takes over. */
  abandon(): void {
    this.#abandoned = true;
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
    const { store, clock, onUnmatched } = this.#parts;
    const [messages, endings, postponed, keys, rerouted, released, receipts, incoming] = [
      this.#submitted,
      this.#endings,
      this.#postponed,
      this.#unknown,
      this.#rerouted,
      this.#released,
      this.#receipts,
      this.#incoming,
    ];
    this.#submitted = [];
    this.#endings = [];
    this.#postponed = [];
    this.#unknown = [];
    this.#rerouted = [];
    this.#released = [];
    this.#receipts = new Map();
    this.#incoming = new Map();
    // The new lane before what became of the message in it.
    const known = rerouted.length === 0 ? [] : [this.#persist(() => store.reroute({ messages: rerouted }))];
    // Submissions before receipts: most receipts then find their message at once.
    if (messages.length > 0) void this.#persist(() => store.submitted({ messages }));
    if (endings.length > 0) void this.#persist(() => store.finish({ endings }));
    if (postponed.length > 0) void this.#persist(() => store.postpone({ messages: postponed }));
    if (keys.length > 0) known.push(this.#persist(() => store.countUnknown({ keys })));
    // Last, for from then on another node has them.
    if (released.length > 0) void this.#persist(() => Promise.all(known).then(() => store.release({ keys: released })));
    for (const [carrierId, batch] of receipts) {
      const receipts = batch.map(({ item }) => item);
      void this.#persist(() => store.received({ carrierId, receipts })).then((isKept) => {
        if (isKept) for (const { safe } of batch) safe();
      });
    }
    const nowMs = clock.now();
    for (const [carrierId, batch] of incoming) {
      const parts = batch.map(({ item }) => item);
      void this.#persist(async () => {
        const { unmatched } = await store.incoming({ carrierId, parts, nowMs });
        onUnmatched(unmatched);
      }).then((isKept) => {
        if (isKept) for (const { safe } of batch) safe();
      });
    }
  }

  /** False when it was given up. */
  async #persist(write: () => Promise<unknown>): Promise<boolean> {
    this.#writing++;
    for (;;) {
      try {
        await write();
        break;
      } catch (error) {
        if (this.#abandoned) return false;
        const { log, clock } = this.#parts;
        log.error({ err: error }, "the store did not take what carriers said; trying again");
        await new Promise<void>((resolve) => clock.after(TRY_AGAIN_AFTER_MS, resolve));
      }
    }
    this.#writing--;
    this.#parts.onWritten();
    if (this.#writing === 0 && !this.#scheduled) for (const resolve of this.#idle.splice(0)) resolve();
    return true;
  }
}
