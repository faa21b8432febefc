/**
 * What became of messages, and what phones sent, on its way to the store: gathered for one turn of the event loop and written
 * together. Nothing is dropped: while the store is out of reach, what is gathered waits and is written when it is back. What the
 * store refuses, whatever it is, stops nothing else (runtime/isolate.ts): it is recorded as far as can be, or kept aside. A carrier hears
 * that something is safe as soon as that is in the store, as it was said or aside, and never before. Whoever handed a message over hears
 * it too (`recorded`), and hands no more over while the store does not keep up.
 */
import type { IncomingPart } from "../message/incoming.ts";
import type { MessageKey } from "../message/message.ts";
import { type Receipt, unknownId } from "../message/receipt.ts";
import type { Clock } from "../runtime/clock.ts";
import { type Isolation, MAX_TRIES, SetAsideLimit, writeIsolated } from "../runtime/isolate.ts";
import { type Log, LogLimiter } from "../runtime/log.ts";
import {
  type CommandName,
  type Ending,
  type HandedAgain,
  type Postponed,
  type Store,
  StoreUnavailable,
  type SubmittedMessage,
} from "../store/port.ts";

const TRY_AGAIN_AFTER_MS = 500;
/** For what is refused and cannot be kept aside: what is wrong will take a while. */
const TRY_LATER_AFTER_MS = 5_000;
/** How long the answer to a submit may come after what looks like its receipt. */
const OVERTAKEN_MS = 1_000;
/** A store that takes longer for one call is behind. */
const BEHIND_MS = 1_000;

type OutcomeStore = Pick<
  Store,
  "submitted" | "finish" | "postpone" | "again" | "received" | "reroute" | "incoming" | "release" | "quarantine"
>;

/** What the store said of what came from carriers and phones. */
export interface OutcomeCounts {
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
  /** What the store refused and was kept aside. */
  quarantined: number;
}

const PROFILE_LINES_A_MINUTE = 1;
const FOREIGN_RECEIPTS =
  'receipts name another phone than the message with their id, and were not applied: if these are the carrier\'s own numbers, set receiptAddresses = "carrier" in its profile';
const DOUBTFUL_RECEIPTS =
  "receipts could be about several messages, because the carrier gave these the same id, and were not applied: neither their phone nor their submit date tells which is meant";

export interface OutcomesParts {
  readonly store: OutcomeStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when the store has taken something, or has at least answered. */
  readonly onWritten: () => void;
  readonly counts: OutcomeCounts;
}

/** What a carrier said, and whom to tell when it is safe: whether it was taken for what it seemed to be. */
interface Said<Item> {
  readonly item: Item;
  readonly safe: (isTaken: boolean) => void;
}

type ByCarrier<Item> = Map<string, Said<Item>[]>;

/** What became of a message that was handed over, and whom to tell when the store knows. */
interface OfHanded<Item> {
  readonly item: Item;
  /** False if the store refuses it, and it is kept aside. */
  readonly recorded: (isTold: boolean) => void;
}

type Recorded = OfHanded<unknown>["recorded"];

/** A message that a carrier took, and its phone: for want of ids, that names its parts. */
interface Submitted extends OfHanded<SubmittedMessage> {
  readonly to: string;
}

/** How items of one kind are written. */
interface Kind<Item> {
  readonly command: CommandName;
  readonly write: (items: readonly Item[]) => Promise<unknown>;
  /** What names an item. */
  readonly subject: (item: Item) => string;
  /** The same with less, for an item that is refused. */
  readonly reduced?: (item: Item) => Item;
  /** Records the least that must be known of an item that is to be kept aside. */
  readonly leastOf?: (item: Item) => Promise<unknown>;
  /** Told when an item is kept aside. */
  readonly isAside?: (item: Item) => void;
}

export class Outcomes {
  readonly #parts: OutcomesParts;
  readonly #limiter: LogLimiter;
  /** A carrier of whose receipts there is something to say sends many. */
  readonly #profileLimiter: LogLimiter;
  readonly #asideLimit: SetAsideLimit;
  #submitted: Submitted[] = [];
  #endings: OfHanded<Ending>[] = [];
  #postponed: Postponed[] = [];
  #again: OfHanded<HandedAgain>[] = [];
  #rerouted: OfHanded<{ key: MessageKey; carrierId: string }>[] = [];
  #released: MessageKey[] = [];
  /** Of messages that whoever has them next has to know of: how much of that is not in the store yet. What lets go of them is told after it. */
  readonly #unwritten = new Map<MessageKey, number>();
  readonly #afterwards = new Map<MessageKey, () => void>();
  #receipts: ByCarrier<Receipt> = new Map();
  #incoming: ByCarrier<IncomingPart> = new Map();
  #scheduled = false;
  /** Somebody waits for the next write. */
  #hurries = false;
  #writing = 0;
  #abandoned = false;
  /** The store's last word was that it is away or ill; and how many writes wait because it was. */
  #isAway = false;
  #waiting = 0;
  /** When each call of the store began that is under way, oldest first. */
  readonly #calls = new Set<{ readonly sinceMs: number }>();
  #idle: (() => void)[] = [];

  constructor(parts: OutcomesParts) {
    this.#parts = parts;
    this.#limiter = new LogLimiter(parts.clock);
    this.#profileLimiter = new LogLimiter(parts.clock, PROFILE_LINES_A_MINUTE);
    this.#asideLimit = new SetAsideLimit(parts.clock);
  }

  /** What is gathered now keeps others from going on. */
  hurry(): void {
    this.#hurries = true;
  }

  /** Whether the store takes what it is told, and in time. While it does not, nothing more should happen of which it has to be told. */
  get keepsUp(): boolean {
    if (this.#isAway || this.#waiting > 0) return false;
    const [oldest] = this.#calls;
    return oldest === undefined || this.#parts.clock.monotonic() - oldest.sinceMs < BEHIND_MS;
  }

  /** `recorded` is called when the store knows of it, here and below. */
  submitted(message: SubmittedMessage, to: string, recorded: Recorded = nobody): void {
    this.#submitted.push({ item: message, to, recorded });
    this.#schedule();
  }

  ended(ending: Ending, recorded: Recorded = nobody): void {
    this.#endings.push({ item: ending, recorded });
    this.#schedule();
  }

  postponed(message: Postponed): void {
    this.#whenKnown(message.key, () => this.#postponed.push(message));
  }

  again(message: HandedAgain, recorded: Recorded = nobody): void {
    this.#again.push({ item: message, recorded: this.#beforeRelease(message.key, recorded) });
    this.#schedule();
  }

  rerouted(key: MessageKey, carrierId: string): void {
    this.#rerouted.push({ item: { key, carrierId }, recorded: this.#beforeRelease(key, nobody) });
    this.#schedule();
  }

  /** From then on another node may have it. */
  released(key: MessageKey): void {
    this.#whenKnown(key, () => this.#released.push(key));
  }

  /** From then on it is not ours, and what is told of it comes too late. */
  #whenKnown(key: MessageKey, letGo: () => void): void {
    if (this.#unwritten.has(key)) {
      this.#afterwards.set(key, letGo);
      return;
    }
    letGo();
    this.#schedule();
  }

  #beforeRelease(key: MessageKey, recorded: Recorded): Recorded {
    this.#unwritten.set(key, (this.#unwritten.get(key) ?? 0) + 1);
    return (isTold) => {
      recorded(isTold);
      const left = this.#unwritten.get(key)! - 1;
      if (left > 0) {
        this.#unwritten.set(key, left);
        return;
      }
      this.#unwritten.delete(key);
      const letGo = this.#afterwards.get(key);
      this.#afterwards.delete(key);
      if (letGo !== undefined) this.#whenKnown(key, letGo);
    };
  }

  /** Resolves when the receipt is in the store; one that is none after all, as the message that it is. */
  async receipt(carrierId: string, receipt: Receipt, asMessage?: IncomingPart): Promise<void> {
    if ((await this.#keep(this.#receipts, carrierId, receipt)) || asMessage === undefined) return;
    // The answer to its submit may be on its way.
    await this.#wait(OVERTAKEN_MS);
    if (!(await this.#keep(this.#receipts, carrierId, receipt))) await this.incoming(carrierId, asMessage);
  }

  /** Resolves when the part is in the store. */
  async incoming(carrierId: string, part: IncomingPart): Promise<void> {
    await this.#keep(this.#incoming, carrierId, part);
  }

  #keep<Item>(kept: ByCarrier<Item>, carrierId: string, item: Item): Promise<boolean> {
    return new Promise((safe) => {
      const said = { item, safe };
      const items = kept.get(carrierId);
      if (items === undefined) kept.set(carrierId, [said]);
      else items.push(said);
      this.#schedule();
    });
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.#parts.clock.after(ms, resolve));
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
    const [submitted, endings, postponed, again, rerouted, released, receipts, incoming] = [
      this.#submitted,
      this.#endings,
      this.#postponed,
      this.#again,
      this.#rerouted,
      this.#released,
      this.#receipts,
      this.#incoming,
    ];
    this.#submitted = [];
    this.#endings = [];
    this.#postponed = [];
    this.#again = [];
    this.#rerouted = [];
    this.#released = [];
    this.#receipts = new Map();
    this.#incoming = new Map();
    // The new lane before what became of the message in it.
    void this.#persist(this.#kinds.rerouted, rerouted);
    // Submissions before receipts: most receipts then find their message at once.
    void this.#persist(this.#submittedOf(this.#hurries), submitted);
    this.#hurries = false;
    void this.#persist(this.#kinds.ended, endings);
    void this.#persist(this.#kinds.postponed, postponed);
    void this.#persist(this.#kinds.again, again);
    void this.#persist(this.#kinds.released, released);
    for (const [carrierId, batch] of receipts) void this.#persist(this.#receiptsOf(carrierId), batch);
    const nowMs = this.#parts.clock.now();
    for (const [carrierId, batch] of incoming) void this.#persist(this.#incomingOf(carrierId, nowMs), batch);
  }

  /** What was given up is never settled. */
  async #persist<Item>(kind: Kind<Item>, items: readonly Item[]): Promise<void> {
    if (items.length === 0) return;
    this.#writing++;
    if (!(await writeIsolated(items, this.#isolation(kind)))) return;
    this.#writing--;
    if (this.#writing === 0 && !this.#scheduled) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #isolation<Item>(kind: Kind<Item>): Isolation<Item> {
    const { command } = kind;
    return {
      write: (items) => this.#call(() => kind.write(items)),
      isPassing,
      pause: async (error, refusals) => {
        if (this.#abandoned) return false;
        const { log } = this.#parts;
        this.#limiter.write(`retry ${command}`, (more) =>
          log.error({ err: error, command, ...more }, "the store did not take what carriers said; trying again"),
        );
        // An item that is refused keeps nobody waiting.
        const others = isPassing(error) ? 1 : 0;
        this.#waiting += others;
        await this.#wait(refusals < MAX_TRIES ? TRY_AGAIN_AFTER_MS : TRY_LATER_AFTER_MS);
        this.#waiting -= others;
        return !this.#abandoned;
      },
      setAside: (item, error) => this.#refused(kind, item, error),
    };
  }

  /** Every call of the store: whether it is there is known by how the last one ended. */
  async #call(work: () => Promise<unknown>): Promise<void> {
    const call = { sinceMs: this.#parts.clock.monotonic() };
    this.#calls.add(call);
    try {
      await work();
      this.#isAway = false;
    } catch (error) {
      this.#isAway = isPassing(error);
      throw error;
    } finally {
      this.#calls.delete(call);
      if (!this.#isAway) this.#parts.onWritten();
    }
  }

  /** An item that the store refuses alone: recorded without what may be wrong with it, and else kept aside. Gives whether it is. */
  async #refused<Item>(kind: Kind<Item>, item: Item, error: unknown): Promise<boolean> {
    const { command, reduced } = kind;
    let why = error;
    try {
      if (reduced !== undefined) {
        await this.#call(() => kind.write([reduced(item)]));
        return true;
      }
    } catch (refusal) {
      if (isPassing(refusal)) return false;
      why = refusal;
    }
    const { log } = this.#parts;
    if (!this.#asideLimit.take(command)) {
      this.#limiter.write(`held ${command}`, (more) =>
        log.error(
          { err: why, command, ...more },
          "the store refuses one item after the other; they wait, and are not acknowledged",
        ),
      );
      return false;
    }
    if ((await this.#recordLeast(kind, item)) && (await this.#setAside(kind, item, why))) return true;
    this.#asideLimit.giveBack(command);
    return false;
  }

  /** Gives false if that may work later. */
  async #recordLeast<Item>({ command, subject, leastOf }: Kind<Item>, item: Item): Promise<boolean> {
    try {
      if (leastOf !== undefined) await this.#call(() => leastOf(item));
    } catch (error) {
      if (isPassing(error)) return false;
      const told = { command, subject: subject(item) };
      this.#limiter.write(`least ${command}`, (more) =>
        this.#parts.log.error(
          { ...told, err: error, ...more },
          "the store refuses even the least that must be recorded",
        ),
      );
    }
    return true;
  }

  async #setAside<Item>({ command, subject, isAside }: Kind<Item>, item: Item, error: unknown): Promise<boolean> {
    const { store, log, clock, counts } = this.#parts;
    const reason = error instanceof Error ? error.message : String(error);
    const told = { command, subject: subject(item) };
    try {
      const aside = { ...told, atMs: clock.now(), reason, detail: JSON.stringify(item) };
      await this.#call(() => store.quarantine({ items: [aside] }));
    } catch (failure) {
      this.#limiter.write("quarantine", (more) =>
        log.error({ ...told, err: failure, ...more }, "what the store refuses could not be kept aside; trying again"),
      );
      return false;
    }
    counts.quarantined++;
    this.#limiter.write(`refused ${command}`, (more) =>
      log.error({ ...told, err: error, ...more }, "the store refuses what a carrier said; it is kept aside"),
    );
    isAside?.(item);
    return true;
  }

  readonly #kinds: {
    readonly ended: Kind<OfHanded<Ending>>;
    readonly postponed: Kind<Postponed>;
    readonly again: Kind<OfHanded<HandedAgain>>;
    readonly rerouted: Kind<OfHanded<{ key: MessageKey; carrierId: string }>>;
    readonly released: Kind<MessageKey>;
  } = {
    ended: {
      command: "finish",
      ...this.#ofHanded((endings: Ending[]) => this.#parts.store.finish({ endings })),
    },
    postponed: {
      command: "postpone",
      write: (messages) => this.#parts.store.postpone({ messages }),
      subject: ({ key }) => key,
    },
    again: {
      command: "again",
      ...this.#ofHanded((messages: HandedAgain[]) => this.#parts.store.again({ messages })),
    },
    rerouted: {
      command: "reroute",
      ...this.#ofHanded((messages: { key: MessageKey; carrierId: string }[]) =>
        this.#parts.store.reroute({ messages }),
      ),
    },
    released: {
      command: "release",
      write: (keys) => this.#parts.store.release({ keys }),
      subject: (key) => key,
    },
  };

  #submittedOf(awaited: boolean): Kind<Submitted> {
    return {
      command: "submitted",
      ...this.#ofHanded((messages: SubmittedMessage[]) => this.#parts.store.submitted({ messages, awaited })),
      // It was taken, and must not be sent again, whatever its parts are called.
      reduced: ({ item, to, recorded }) => {
        const parts = item.parts.map((part) => ({ ...part, carrierMessageId: unknownId(to) }));
        return { item: { ...item, parts }, to, recorded };
      },
      // A message that is still ours goes out again with the next start. What became of it is not known, and its charge stays.
      leastOf: ({ item: { key } }) => {
        const { store, clock } = this.#parts;
        return store.finish({ endings: [{ key, event: "gave up", errorId: 0, atMs: clock.now() }] });
      },
    };
  }

  #ofHanded<Item extends { key: MessageKey }>(
    write: (items: Item[]) => Promise<unknown>,
  ): Pick<Kind<OfHanded<Item>>, "write" | "subject" | "isAside"> {
    return {
      write: async (all) => {
        await write(all.map(({ item }) => item));
        for (const { recorded } of all) recorded(true);
      },
      subject: ({ item }) => item.key,
      isAside: ({ recorded }) => recorded(false),
    };
  }

  #receiptsOf(carrierId: string): Kind<Said<Receipt>> {
    const { store, counts, log } = this.#parts;
    return {
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
          this.#profileLimiter.write(`foreign ${carrierId}`, (more) =>
            log.warn({ carrierId, foreign, ...more }, FOREIGN_RECEIPTS),
          );
        if (doubtful > 0)
          this.#profileLimiter.write(`doubtful ${carrierId}`, (more) =>
            log.warn({ carrierId, doubtful, ...more }, DOUBTFUL_RECEIPTS),
          );
        const untaken = new Set(strangers);
        for (const [index, { safe }] of batch.entries()) safe(!untaken.has(index));
      },
      subject: ({ item }) => `${carrierId} ${item.carrierMessageId}`,
      isAside: ({ safe }) => safe(true),
    };
  }

  #incomingOf(carrierId: string, nowMs: number): Kind<Said<IncomingPart>> {
    const { store, counts } = this.#parts;
    return {
      command: "incoming",
      write: async (batch) => {
        const { unmatched } = await store.incoming({ carrierId, parts: batch.map(({ item }) => item), nowMs });
        counts.incomingUnmatched += unmatched;
        for (const { safe } of batch) safe(true);
      },
      subject: ({ item }) => `${carrierId} ${item.from}`,
      isAside: ({ safe }) => safe(true),
    };
  }
}

const nobody = (): void => undefined;

/** The store is away or ill; all else is about what it was told. */
function isPassing(error: unknown): boolean {
  return error instanceof StoreUnavailable;
}
