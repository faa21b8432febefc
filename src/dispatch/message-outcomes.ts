/**
 * What became of messages, and what carriers and phones said, on its way to the store. Whoever handed a message over hears when the store
 * knows what became of it (`recorded`), and hands no more over while the store does not keep up.
 */
import type { IncomingPart } from "../message/incoming.ts";
import type { MessageKey } from "../message/message.ts";
import { type Receipt, unknownId } from "../message/receipt.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Batch } from "../runtime/outcome-recorder.ts";
import type { Ending, HandedAgain, Postponed, SubmittedMessage } from "../store/port/delivery.ts";
import type { CommandName, Store } from "../store/port/store.ts";
import { CarrierInbox, type CarrierInboxCounts } from "./carrier-inbox.ts";
import { type Add, type DispatchKind, DispatchRecorder } from "./dispatch-recorder.ts";
import { type EndedBy, MessageTrace } from "./message-trace.ts";

type OutcomeStore = Pick<
  Store,
  "submitted" | "finish" | "postpone" | "again" | "received" | "reroute" | "incoming" | "release" | "quarantine"
>;

export interface OutcomeCounts extends CarrierInboxCounts {
  /** What the store refused and was kept aside. */
  quarantined: number;
}

export interface MessageOutcomesParts {
  readonly store: OutcomeStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when the store has taken something, or has at least answered. */
  readonly onWritten: () => void;
  /** How long what nobody waits for is gathered (OutcomeRecorder). */
  readonly gatherMs?: number;
  readonly counts: OutcomeCounts;
  /** What is noted of it for people. */
  readonly trace?: MessageTrace;
}

/** What became of a message that was handed over, and whom to tell when the store knows. */
interface OfHanded<Item> {
  readonly item: Item;
  /** False if the store refuses it, and it is kept aside. */
  readonly recorded: (isTold: boolean) => void;
}

type Recorded = OfHanded<unknown>["recorded"];

interface Rerouted {
  readonly key: MessageKey;
  readonly carrierId: string;
}

/** A message that a carrier took, and its phone: for want of ids, that names its parts. */
interface Submitted extends OfHanded<SubmittedMessage> {
  readonly to: string;
}

export class MessageOutcomes {
  readonly #recorder: DispatchRecorder;
  readonly #trace: MessageTrace;
  readonly #inbox: CarrierInbox;
  readonly #rerouted: Add<OfHanded<Rerouted>>;
  readonly #submitted: Add<Submitted>;
  readonly #ended: Add<OfHanded<Ending>>;
  readonly #postponed: Add<Postponed>;
  readonly #again: Add<OfHanded<HandedAgain>>;
  readonly #released: Add<MessageKey>;
  /** Of messages that whoever has them next has to know of: how much of that is not in the store yet. What lets go of them is told after it. */
  readonly #unwritten = new Map<MessageKey, number>();
  readonly #afterwards = new Map<MessageKey, () => void>();

  constructor(parts: MessageOutcomesParts) {
    const { store, clock, onWritten } = parts;
    const recorder = new DispatchRecorder({
      ...parts,
      onAnswer: onWritten,
    });
    this.#recorder = recorder;
    this.#trace = parts.trace ?? new MessageTrace(undefined, clock);
    this.#inbox = new CarrierInbox({ ...parts, recorder });
    // In the order in which they are written. The new lane goes before what became of the message in it.
    this.#rerouted = recorder.add(ofHanded<Rerouted>("reroute", (messages) => store.reroute({ messages })));
    // Submissions go before receipts: most receipts then find their message at once.
    this.#submitted = recorder.add<Submitted>({
      ...ofHanded<SubmittedMessage>("submitted", (messages, { isAwaited }) =>
        store.submitted({ messages, awaited: isAwaited }),
      ),
      // It was taken, and must not be sent again, whatever its parts are called.
      reduced: ({ item, to, recorded }) => {
        const parts = item.parts.map((part) => ({ ...part, carrierMessageId: unknownId(to) }));
        return { item: { ...item, parts }, to, recorded };
      },
      // What became of it is not known, and its charge stays.
      leastOf: ({ item: { key } }) =>
        store.finish({ endings: [{ key, event: "gave up", errorId: 0, atMs: clock.now() }] }),
    });
    this.#ended = recorder.add(ofHanded<Ending>("finish", (endings) => store.finish({ endings })));
    this.#postponed = recorder.add<Postponed>({
      command: "postpone",
      write: (messages) => store.postpone({ messages }),
      subject: ({ key }) => key,
    });
    this.#again = recorder.add(ofHanded<HandedAgain>("again", (messages) => store.again({ messages })));
    this.#released = recorder.add<MessageKey>({
      command: "release",
      write: (keys) => store.release({ keys }),
      subject: (key) => key,
    });
  }

  /** What is gathered now keeps others from going on. */
  hurry(): void {
    this.#recorder.hurry();
  }

  /** Whether the store takes what it is told, and in time. */
  get keepsUp(): boolean {
    return this.#recorder.keepsUp;
  }

  /** `recorded` is called when the store knows of it, here and below. `status` is what the carrier called a refusal, for people. */
  submitted(message: SubmittedMessage, to: string, recorded: Recorded = nobody, status?: string): void {
    this.#submitted({ item: message, to, recorded }, true);
    this.#trace.submitted(message, to, status);
  }

  ended(ending: Ending, recorded: Recorded = nobody, by: EndedBy = {}): void {
    this.#ended({ item: ending, recorded });
    this.#trace.ended(ending, by);
  }

  postponed(message: Postponed): void {
    this.#whenKnown(message.key, () => this.#postponed(message));
    this.#trace.postponed(message);
  }

  again(message: HandedAgain, recorded: Recorded = nobody): void {
    this.#again({ item: message, recorded: this.#beforeRelease(message.key, recorded) });
  }

  rerouted(key: MessageKey, carrierId: string): void {
    this.#rerouted({ item: { key, carrierId }, recorded: this.#beforeRelease(key, nobody) });
    this.#trace.rerouted(key, carrierId);
  }

  /** From then on another node may have it. */
  released(key: MessageKey): void {
    this.#whenKnown(key, () => this.#released(key));
  }

  /** Resolves when the receipt is in the store; one that is none after all, as the message that it is. `mayWait`: a moment, for others. */
  receipt(
    carrierId: string,
    receipt: Receipt,
    asMessage?: IncomingPart,
    raw: string | null = null,
    mayWait = false,
  ): Promise<void> {
    const safe = this.#inbox.receipt(carrierId, receipt, asMessage, mayWait);
    this.#trace.receipt(carrierId, receipt, raw);
    return safe;
  }

  /** Resolves when the part is in the store. */
  incoming(carrierId: string, part: IncomingPart): Promise<void> {
    return this.#inbox.incoming(carrierId, part);
  }

  /** The process ends: what the store does not take now is left to whoever takes over. */
  abandon(): void {
    this.#recorder.abandon();
  }

  /** Resolves when everything gathered so far is in the store. */
  settled(): Promise<void> {
    return this.#recorder.settled();
  }

  /** From then on it is not ours, and what is told of it comes too late. */
  #whenKnown(key: MessageKey, letGo: () => void): void {
    if (this.#unwritten.has(key)) this.#afterwards.set(key, letGo);
    else letGo();
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
}

function ofHanded<Item extends { key: MessageKey }>(
  command: CommandName,
  write: (items: Item[], batch: Batch) => Promise<unknown>,
): DispatchKind<OfHanded<Item>> {
  return {
    command,
    write: async (all, batch) => {
      await write(
        all.map(({ item }) => item),
        batch,
      );
      for (const { recorded } of all) recorded(true);
    },
    subject: ({ item }) => item.key,
    // What is not its end is told again, or the message goes again as it would have.
    ...(ENDINGS.has(command) ? { holds: ({ item }: OfHanded<Item>) => item.key } : {}),
    isAside: ({ recorded }) => recorded(false),
  };
}

/** After these a carrier has the message, or nobody gets it. */
const ENDINGS: ReadonlySet<CommandName> = new Set(["submitted", "finish"]);

const nobody = (): void => undefined;
