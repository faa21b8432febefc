/** Receipts and messages from phones on their way to the store. A carrier hears that one is safe as soon as it is in the store, or kept aside. */
import type { IncomingPart } from "../message/incoming.ts";
import type { Receipt } from "../message/receipt.ts";
import type { Clock } from "../runtime/clock.ts";
import { type Log, LogLimiter } from "../runtime/log.ts";
import type { Store } from "../store/port/store.ts";
import type { Add, DispatchRecorder } from "./dispatch-recorder.ts";

/** How long the answer to a submit may come after what looks like its receipt. */
const OVERTAKEN_MS = 1_000;
const PROFILE_LINES_A_MINUTE = 1;
const FOREIGN_RECEIPTS =
  'receipts name another phone than the message with their id, and were not applied: if these are the carrier\'s own numbers, set receiptAddresses = "carrier" in its profile';
const DOUBTFUL_RECEIPTS =
  "receipts could be about several messages, because the carrier gave these the same id, and were not applied: neither their phone nor their submit date tells which is meant";

/** What the store said of what came from carriers and phones. */
export interface CarrierInboxCounts {
  /** Messages from phones to a number that is nobody's. */
  incomingUnmatched: number;
  receiptsUnmatched: number;
  receiptsForeign: number;
  /** Receipts that could be about several messages of one id. */
  receiptsDoubtful: number;
  /** Receipts that came after the last word about their message, and say something else. */
  receiptsLater: number;
  /** Receipts that had come before. */
  receiptsRepeated: number;
}

export interface CarrierInboxParts {
  readonly store: Pick<Store, "received" | "incoming">;
  readonly clock: Clock;
  readonly log: Log;
  readonly recorder: DispatchRecorder;
  readonly counts: CarrierInboxCounts;
}

/** What a carrier said, and whom to tell when it is safe: whether it was taken for what it seemed to be. */
interface Said<Item> {
  readonly item: Item;
  readonly safe: (isTaken: boolean) => void;
}

export class CarrierInbox {
  readonly #parts: CarrierInboxParts;
  /** A carrier of whose receipts there is something to say sends many. */
  readonly #limiter: LogLimiter;
  /** By carrier. */
  readonly #receipts = new Map<string, Add<Said<Receipt>>>();
  readonly #incoming = new Map<string, Add<Said<IncomingPart>>>();

  constructor(parts: CarrierInboxParts) {
    this.#parts = parts;
    this.#limiter = new LogLimiter(parts.clock, PROFILE_LINES_A_MINUTE);
  }

  /** Resolves when the receipt is in the store; one that is none after all, as the message that it is. */
  receipt(carrierId: string, receipt: Receipt, asMessage?: IncomingPart, mayWait = false): Promise<void> {
    if (asMessage !== undefined) return this.#receiptOrMessage(carrierId, receipt, asMessage, mayWait);
    const add = this.#receiptsOf(carrierId);
    // Nearly all are receipts, whatever the store finds to them: no more promises than the one.
    return new Promise((safe) => add({ item: receipt, safe: safe as () => void }, mayWait));
  }

  async #receiptOrMessage(
    carrierId: string,
    receipt: Receipt,
    asMessage: IncomingPart,
    mayWait: boolean,
  ): Promise<void> {
    const keep = (): Promise<boolean> =>
      new Promise((safe) => this.#receiptsOf(carrierId)({ item: receipt, safe }, mayWait));
    if (await keep()) return;
    // The answer to its submit may be on its way.
    await new Promise<void>((resolve) => this.#parts.clock.after(OVERTAKEN_MS, resolve));
    if (!(await keep())) await this.incoming(carrierId, asMessage);
  }

  /** Resolves when the part is in the store. */
  async incoming(carrierId: string, part: IncomingPart): Promise<void> {
    await new Promise((safe) => this.#incomingOf(carrierId)({ item: part, safe }));
  }

  #receiptsOf(carrierId: string): Add<Said<Receipt>> {
    const known = this.#receipts.get(carrierId);
    if (known !== undefined) return known;
    const { store, counts, log } = this.#parts;
    const add = this.#parts.recorder.add<Said<Receipt>>({
      command: "received",
      write: async (batch) => {
        const receipts = batch.map(({ item }) => item);
        const { unmatched, foreign, doubtful, repeated, later, strangers } = await store.received({
          carrierId,
          receipts,
        });
        counts.receiptsUnmatched += unmatched;
        counts.receiptsRepeated += repeated;
        counts.receiptsForeign += foreign;
        counts.receiptsDoubtful += doubtful;
        counts.receiptsLater += later;
        // A carrier whose receipts are all about other phones has the wrong profile, and its messages wait in vain: the log says so.
        if (foreign > 0)
          this.#limiter.write(`foreign ${carrierId}`, (more) =>
            log.warn({ carrier: carrierId, foreign, ...more }, FOREIGN_RECEIPTS),
          );
        if (doubtful > 0)
          this.#limiter.write(`doubtful ${carrierId}`, (more) =>
            log.warn({ carrier: carrierId, doubtful, ...more }, DOUBTFUL_RECEIPTS),
          );
        const untaken = new Set(strangers);
        for (let index = 0; index < batch.length; index++) batch[index]!.safe(!untaken.has(index));
      },
      subject: ({ item }) => `${carrierId} ${item.carrierMessageId}`,
      isAside: ({ safe }) => safe(true),
    });
    this.#receipts.set(carrierId, add);
    return add;
  }

  #incomingOf(carrierId: string): Add<Said<IncomingPart>> {
    const known = this.#incoming.get(carrierId);
    if (known !== undefined) return known;
    const { store, counts } = this.#parts;
    const add = this.#parts.recorder.add<Said<IncomingPart>>({
      command: "incoming",
      write: async (batch, { atMs: nowMs }) => {
        const parts = batch.map(({ item }) => item);
        const { unmatched } = await store.incoming({ carrierId, parts, nowMs });
        counts.incomingUnmatched += unmatched;
        for (const { safe } of batch) safe(true);
      },
      subject: ({ item }) => `${carrierId} ${item.from}`,
      isAside: ({ safe }) => safe(true),
    });
    this.#incoming.set(carrierId, add);
    return add;
  }
}
