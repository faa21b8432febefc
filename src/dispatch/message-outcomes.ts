/**
 * What became of messages, and what carriers and phones said, on its way to the store (store/outcome-recorder.ts). Whoever tells it hears when it
 * is safe, and hands no more messages over while the store does not keep up.
 *
 * What the store refuses, whatever it is, is recorded as far as can be, and kept in the table `quarantine`.
 */
import type { IncomingPart } from "../message/incoming.ts";
import type { MessageKey } from "../message/message.ts";
import { type Receipt, unknownId } from "../message/receipt.ts";
import { type Clock, sleep } from "../runtime/clock.ts";
import { perKey } from "../runtime/lazy.ts";
import { type Log, LogLimiter } from "../runtime/log.ts";
import { type BatchFacts, OutcomeRecorder } from "../store/outcome-recorder.ts";
import type { Ending, HandedAgain, HandedAgainAnswer, Postponed, SubmittedMessage } from "../store/port/delivery.ts";
import { isStoreAway } from "../store/port/errors.ts";
import type { ReceivedReceipts } from "../store/port/receipts.ts";
import type { CommandName, Store } from "../store/port/store.ts";
import { lineOfId } from "../store/told-lines.ts";
import type { DispatchCounts } from "./dispatch-metrics.ts";
import { type EndedBy, MessageTrace } from "./message-trace.ts";

type OutcomeStore = Pick<
  Store,
  "submitted" | "finish" | "postpone" | "again" | "received" | "reroute" | "incoming" | "release" | "quarantine"
>;

export interface MessageOutcomesParts {
  readonly store: OutcomeStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when the store has taken something, or has at least answered. */
  readonly onWritten: () => void;
  /** How long what nobody waits for is gathered (OutcomeRecorder). */
  readonly gatherMs?: number;
  /** In how many lines the store writes it (store/told-lines.ts). */
  readonly toldLines?: number;
  readonly counts: DispatchCounts;
  /** What is noted of it for people. */
  readonly trace?: MessageTrace;
}

/**
 * How it ended with what was told. A stranger is what seemed to be a receipt and matches nothing, or a message that does not wait any more: the store does not have
 * it. Nor has it what is early: the message may be one that another node is about to tell of.
 */
type Fate = "recorded" | "kept aside" | "a stranger" | "early";

type Safe = (fate: Fate) => void;

/** Something for the store, and whom to tell when it is safe. */
interface Told<Item> {
  readonly item: Item;
  readonly safe: Safe;
}

interface Rerouted {
  readonly key: MessageKey;
  readonly carrierId: string;
}

/** A message that a carrier took, and its phone: for want of ids, that names its parts. */
interface ToldSubmitted extends Told<SubmittedMessage> {
  readonly to: string;
}

/** What adds something to that which is written next; what may wait, to that which is written a little later. */
type Add<One> = (told: One, mayWait?: boolean) => void;

/** How items of one kind are written. */
interface Kind<Item, One extends Told<Item>, Answer> {
  readonly command: CommandName;
  readonly write: (items: Item[], batch: BatchFacts) => Promise<Answer>;
  /** Gives the places of strangers. */
  readonly strangers?: (answer: Answer) => readonly number[];
  /** The same of those that are early. */
  readonly early?: (answer: Answer) => readonly number[] | undefined;
  /** What names an item. */
  readonly subject: (item: Item) => string;
  /** The same with less, for what is refused. */
  readonly reduced?: (told: One) => One;
  /** Records the least that must be known of what is to be kept aside. */
  readonly leastOf?: (item: Item) => Promise<unknown>;
  /**
   * It is the end of the message that names it: a carrier has that, or nobody gets it. Where not even the least of it is recorded, the message is not
   * handed over again before somebody says so. What is not its end is told again, or the message goes again as it would have.
   */
  readonly isEnd?: true;
}

/**
 * How long a receipt without a message is kept before it is told again, and then for good. It costs nothing but the carrier's patience: where one was kept
 * in vain, the carrier's next are not, for a while.
 */
const EARLY_MS = [25, 75, 150, 300, 600];
const VAIN_MS = 4_000;
const TRY_AGAIN_AFTER_MS = 500;
const TRY_LATER_AFTER_MS = 5_000;
/** How long the answer to a submit may come after what looks like its receipt. */
const OVERTAKEN_MS = 1_000;
const PROFILE_LINES_A_MINUTE = 1;
const FOREIGN_RECEIPTS =
  'receipts name another phone than the message with their id, and were not applied: if these are the carrier\'s own numbers, set receiptAddresses = "carrier" in its profile';
const DOUBTFUL_RECEIPTS =
  "receipts could be about several messages, because the carrier gave these the same id, and were not applied: neither their phone nor their submit date tells which is meant";

export class MessageOutcomes {
  readonly #parts: MessageOutcomesParts;
  readonly recorder: OutcomeRecorder;
  readonly #limiter: LogLimiter;
  /** A carrier of whose receipts there is something to say sends many. */
  readonly #profileLimiter: LogLimiter;
  readonly #trace: MessageTrace;
  readonly #rerouted: Add<Told<Rerouted>>;
  readonly #submitted: readonly Add<ToldSubmitted>[];
  readonly #ended: Add<Told<Ending>>;
  readonly #postponed: Add<Told<Postponed>>;
  readonly #again: Add<Told<HandedAgain>>;
  readonly #released: Add<Told<MessageKey>>;
  /** By carrier, in each line: those that may be told again, and the others. */
  readonly #receiptsOf: (carrierId: string) => readonly Record<"early" | "last", Add<Told<Receipt>>>[];
  /** Until when none of a carrier's receipts is kept. */
  readonly #vainUntilMs = new Map<string, number>();
  readonly #incomingOf: (carrierId: string) => Add<Told<IncomingPart>>;
  /** Of messages that whoever has them next has to know of: how much of that is not in the store yet, and what lets go of them behind it. */
  readonly #unwritten = new Map<MessageKey, { count: number; letGo: (() => void) | null }>();

  constructor(parts: MessageOutcomesParts) {
    const { store, clock, onWritten, toldLines = 1 } = parts;
    this.#parts = parts;
    const inLines = <Of>(make: () => Of): Of[] => Array.from({ length: toldLines }, make);
    this.#limiter = new LogLimiter(clock);
    this.#profileLimiter = new LogLimiter(clock, PROFILE_LINES_A_MINUTE);
    this.#trace = parts.trace ?? new MessageTrace(undefined, clock);
    this.recorder = new OutcomeRecorder({
      ...parts,
      onAnswer: onWritten,
      what: "what carriers said",
      retryMs: TRY_AGAIN_AFTER_MS,
      retryLaterMs: TRY_LATER_AFTER_MS,
    });
    const ofMessages = <Item extends { readonly key: MessageKey }>(
      command: CommandName,
      write: (items: Item[]) => Promise<void>,
    ) => this.#kind<Item>({ command, write, subject: keyOf });
    // In the order in which they are written. The new lane goes before what became of the message in it.
    this.#rerouted = ofMessages<Rerouted>("reroute", (messages) => store.reroute({ messages }));
    // Submissions go before receipts: most receipts then find their message at once.
    const submissions: Kind<SubmittedMessage, ToldSubmitted, void> = {
      command: "submitted",
      write: (messages, { isAwaited }) => store.submitted({ messages, awaited: isAwaited }),
      subject: keyOf,
      // It was taken, and must not be sent again, whatever its parts are called.
      reduced: ({ item, to, safe }) => {
        const parts = item.parts.map((part) => ({ ...part, carrierMessageId: unknownId(to) }));
        return { item: { ...item, parts }, to, safe };
      },
      // What became of it is not known, and its charge stays.
      leastOf: ({ key }) => store.finish({ endings: [{ key, event: "gave up", errorId: 0, atMs: clock.now() }] }),
      isEnd: true,
    };
    this.#submitted = inLines(() => this.#kind(submissions));
    this.#ended = this.#kind<Ending>({
      command: "finish",
      write: (endings) => store.finish({ endings }),
      subject: keyOf,
      isEnd: true,
    });
    this.#postponed = ofMessages<Postponed>("postpone", (messages) => store.postpone({ messages }));
    this.#again = this.#kind<HandedAgain, Told<HandedAgain>, HandedAgainAnswer>({
      command: "again",
      write: (messages) => store.again({ messages }),
      strangers: ({ gone }) => gone,
      subject: keyOf,
    });
    this.#released = this.#kind<MessageKey>({
      command: "release",
      write: (keys) => store.release({ keys }),
      subject: (key) => key,
    });
    const receipts = (carrierId: string, mayBeEarly: boolean): Add<Told<Receipt>> =>
      this.#kind<Receipt, Told<Receipt>, ReceivedReceipts>({
        command: "received",
        write: async (some) => {
          const answer = await store.received({ carrierId, receipts: some, mayBeEarly });
          this.#countReceipts(carrierId, answer);
          return answer;
        },
        strangers: ({ strangers }) => strangers,
        early: ({ early }) => early,
        subject: ({ carrierMessageId }) => `${carrierId} ${carrierMessageId}`,
      });
    this.#receiptsOf = perKey((carrierId) =>
      inLines(() => ({ early: receipts(carrierId, true), last: receipts(carrierId, false) })),
    );
    this.#incomingOf = perKey((carrierId) =>
      this.#kind<IncomingPart>({
        command: "incoming",
        write: async (some, { atMs: nowMs }) => {
          parts.counts.incomingUnmatched += (await store.incoming({ carrierId, parts: some, nowMs })).unmatched;
        },
        subject: ({ from }) => `${carrierId} ${from}`,
      }),
    );
  }

  /** `safe` is called when the store knows of it, here and below. `status` is what the carrier called a refusal, for people. */
  submitted(message: SubmittedMessage, to: string, safe: Safe = nobody, status?: string): void {
    const add = this.#ofLine(this.#submitted, message.parts[0]?.carrierMessageId ?? "");
    // What was told of it before is in another line.
    this.#whenKnown(message.key, () => add({ item: message, to, safe }, true));
    this.#trace.submitted(message, to, status);
  }

  ended(ending: Ending, safe: Safe = nobody, by: EndedBy = {}): void {
    this.#ended({ item: ending, safe });
    this.#trace.ended(ending, by);
  }

  postponed(message: Postponed): void {
    this.#whenKnown(message.key, () => this.#postponed({ item: message, safe: nobody }));
    this.#trace.postponed(message);
  }

  again(message: HandedAgain, safe: Safe = nobody): void {
    this.#again({ item: message, safe: this.#beforeRelease(message.key, safe) });
  }

  rerouted(key: MessageKey, carrierId: string): void {
    this.#rerouted({ item: { key, carrierId }, safe: this.#beforeRelease(key, nobody) });
    this.#trace.rerouted(key, carrierId);
  }

  /** From then on another node may have it. */
  released(key: MessageKey): void {
    this.#whenKnown(key, () => this.#released({ item: key, safe: nobody }));
  }

  #ofLine<Of>(lines: readonly Of[], carrierMessageId: string): Of {
    return lines[lineOfId(carrierMessageId, lines.length)]!;
  }

  /** From then on it is not ours, and what is told of it comes too late. */
  #whenKnown(key: MessageKey, letGo: () => void): void {
    const unwritten = this.#unwritten.get(key);
    if (unwritten === undefined) letGo();
    else unwritten.letGo = letGo;
  }

  #beforeRelease(key: MessageKey, safe: Safe): Safe {
    const unwritten = this.#unwritten.get(key) ?? { count: 0, letGo: null };
    unwritten.count++;
    this.#unwritten.set(key, unwritten);
    return (fate) => {
      safe(fate);
      if (--unwritten.count > 0) return;
      this.#unwritten.delete(key);
      unwritten.letGo?.();
    };
  }

  /** Resolves when the receipt is in the store, or kept aside; one that is none after all, as the message that it is. `mayWait`: a moment, for others. */
  receipt(
    carrierId: string,
    receipt: Receipt,
    asMessage?: IncomingPart,
    raw: string | null = null,
    mayWait = false,
  ): Promise<void> {
    const fate = new Promise<Fate>((safe) => this.#tellReceipt(carrierId, receipt, safe, mayWait));
    this.#trace.receipt(carrierId, receipt, raw);
    // Nearly all are receipts, whatever the store finds to them: no more promises than the one.
    return asMessage === undefined
      ? (fate as Promise<unknown> as Promise<void>)
      : this.#orMessage(carrierId, receipt, asMessage, fate);
  }

  /** Tells it, and again a little later as long as it may be early. */
  #tellReceipt(carrierId: string, receipt: Receipt, safe: Safe, mayWait: boolean, tries = 0): void {
    const { clock } = this.#parts;
    const { early, last } = this.#ofLine(this.#receiptsOf(carrierId), receipt.carrierMessageId);
    const waitMs = EARLY_MS[tries];
    if (waitMs === undefined) this.#vainUntilMs.set(carrierId, clock.monotonic() + VAIN_MS);
    if (waitMs === undefined || clock.monotonic() < (this.#vainUntilMs.get(carrierId) ?? 0)) {
      last({ item: receipt, safe }, mayWait);
      return;
    }
    const toldAgain: Safe = (fate) => {
      if (fate !== "early") safe(fate);
      else clock.after(waitMs, () => this.#tellReceipt(carrierId, receipt, safe, false, tries + 1));
    };
    early({ item: receipt, safe: toldAgain }, mayWait);
  }

  async #orMessage(carrierId: string, receipt: Receipt, asMessage: IncomingPart, first: Promise<Fate>): Promise<void> {
    if ((await first) !== "a stranger") return;
    // The answer to its submit may be on its way.
    await sleep(this.#parts.clock, OVERTAKEN_MS);
    const again = await new Promise<Fate>((safe) =>
      this.#ofLine(this.#receiptsOf(carrierId), receipt.carrierMessageId).last({ item: receipt, safe }),
    );
    if (again === "a stranger") await this.incoming(carrierId, asMessage);
  }

  /** Resolves when the part is in the store, or kept aside. */
  async incoming(carrierId: string, part: IncomingPart): Promise<void> {
    await new Promise<Fate>((safe) => this.#incomingOf(carrierId)({ item: part, safe }));
  }

  #countReceipts(carrierId: string, { unmatched, foreign, doubtful, repeated, later }: ReceivedReceipts): void {
    const { counts, log } = this.#parts;
    counts.receiptsUnmatched += unmatched;
    counts.receiptsRepeated += repeated;
    counts.receiptsForeign += foreign;
    counts.receiptsDoubtful += doubtful;
    counts.receiptsLater += later;
    // A carrier whose receipts are all about other phones has the wrong profile, and its messages wait in vain: the log says so.
    if (foreign > 0)
      this.#profileLimiter.write(`foreign ${carrierId}`, (more) =>
        log.warn({ carrier: carrierId, foreign, ...more }, FOREIGN_RECEIPTS),
      );
    if (doubtful > 0)
      this.#profileLimiter.write(`doubtful ${carrierId}`, (more) =>
        log.warn({ carrier: carrierId, doubtful, ...more }, DOUBTFUL_RECEIPTS),
      );
  }

  #kind<Item, One extends Told<Item> = Told<Item>, Answer = void>(kind: Kind<Item, One, Answer>): Add<One> {
    const { command, write, strangers, early } = kind;
    return this.recorder.kind<One>({
      ...kind,
      name: command,
      write: async (all, batch) => {
        const answer = await write(
          all.map(({ item }) => item),
          batch,
        );
        const fates = new Map<number, Fate>();
        for (const index of strangers?.(answer) ?? []) fates.set(index, "a stranger");
        for (const index of early?.(answer) ?? []) fates.set(index, "early");
        for (let index = 0; index < all.length; index++) all[index]!.safe(fates.get(index) ?? "recorded");
      },
      setAside: (told, error) => this.#setAside(kind, told, error),
    });
  }

  async #setAside<Item, One extends Told<Item>, Answer>(
    { command, subject, leastOf, isEnd }: Kind<Item, One, Answer>,
    told: One,
    error: unknown,
  ): Promise<boolean> {
    const { store, log, clock, counts } = this.#parts;
    const what = { command, subject: subject(told.item) };
    const tell = (kind: string, err: unknown, says: string): void =>
      this.#limiter.write(kind, (more) => log.error({ ...what, err, ...more }, says));
    let heldKey = isEnd === true ? what.subject : null;
    try {
      if (leastOf !== undefined) {
        await this.recorder.call(() => leastOf(told.item));
        heldKey = null;
      }
    } catch (failure) {
      if (isStoreAway(failure)) return false;
      tell(`least ${command}`, failure, "the store refuses even the least that must be recorded");
    }
    const reason = error instanceof Error ? error.message : String(error);
    const aside = { ...what, atMs: clock.now(), reason, detail: JSON.stringify(told), heldKey };
    try {
      await this.recorder.call(() => store.quarantine({ items: [aside] }));
    } catch (failure) {
      tell("quarantine", failure, "what the store refuses could not be kept aside; trying again");
      return false;
    }
    counts.quarantined++;
    tell(`refused ${command}`, error, "the store refuses what a carrier said; it is kept aside");
    told.safe("kept aside");
    return true;
  }
}

const keyOf = ({ key }: { readonly key: MessageKey }): MessageKey => key;

const nobody = (): void => undefined;
