/**
 * The recorder of dispatch. What the store refuses, whatever it is, is recorded as far as can be, and kept in the table `quarantine`.
 */
import type { MessageKey } from "../message/message.ts";
import type { Clock } from "../runtime/clock.ts";
import { MAX_TRIES } from "../runtime/isolate.ts";
import { type Log, LogLimiter } from "../runtime/log.ts";
import { type Batch, OutcomeRecorder, type OutcomeRecorderParts } from "../runtime/outcome-recorder.ts";
import { StoreUnavailable } from "../store/port/errors.ts";
import type { CommandName, Store } from "../store/port/store.ts";

const TRY_AGAIN_AFTER_MS = 500;
/** For what is refused and cannot be kept aside: what is wrong will take a while. */
const TRY_LATER_AFTER_MS = 5_000;

export interface DispatchRecorderParts extends Pick<OutcomeRecorderParts, "onAnswer" | "gatherMs"> {
  readonly store: Pick<Store, "quarantine">;
  readonly clock: Clock;
  readonly log: Log;
  /** What was kept aside. */
  readonly counts: { quarantined: number };
}

/** How items of one kind are written. */
export interface DispatchKind<Item> {
  readonly command: CommandName;
  readonly write: (items: readonly Item[], batch: Batch) => Promise<unknown>;
  /** What names an item. */
  readonly subject: (item: Item) => string;
  /** The same with less, for an item that is refused. */
  readonly reduced?: (item: Item) => Item;
  /** Records the least that must be known of an item that is to be kept aside. */
  readonly leastOf?: (item: Item) => Promise<unknown>;
  /** The message whose outcome it is: where not even the least of it is recorded, it is not handed over again before somebody says so. */
  readonly holds?: (item: Item) => MessageKey;
  /** Told when an item is kept aside. */
  readonly isAside?: (item: Item) => void;
}

/** What adds an item of a kind to those that are written next; one that may wait, to those that are written a little later. */
export type Add<Item> = (item: Item, mayWait?: boolean) => void;

export class DispatchRecorder extends OutcomeRecorder {
  readonly #parts: DispatchRecorderParts;
  readonly #limiter: LogLimiter;

  constructor(parts: DispatchRecorderParts) {
    super({
      ...parts,
      what: "what carriers said",
      isStoreAway,
      pauseMs: (refusals) => (refusals < MAX_TRIES ? TRY_AGAIN_AFTER_MS : TRY_LATER_AFTER_MS),
    });
    this.#parts = parts;
    this.#limiter = new LogLimiter(parts.clock);
  }

  /** Gives what adds an item of this kind. */
  add<Item>(kind: DispatchKind<Item>): Add<Item> {
    return this.kind({
      ...kind,
      name: kind.command,
      setAside: async (item, error) => {
        const least = await this.#recordLeast(kind, item);
        if (least === "later") return false;
        return this.#quarantine(kind, item, error, least === "recorded" ? null : (kind.holds?.(item) ?? null));
      },
    });
  }

  async #recordLeast<Item>(
    { command, subject, leastOf }: DispatchKind<Item>,
    item: Item,
  ): Promise<"recorded" | "not recorded" | "later"> {
    if (leastOf === undefined) return "not recorded";
    try {
      await this.call(() => leastOf(item));
      return "recorded";
    } catch (error) {
      if (isStoreAway(error)) return "later";
      const told = { command, subject: subject(item) };
      this.#limiter.write(`least ${command}`, (more) =>
        this.#parts.log.error(
          { ...told, err: error, ...more },
          "the store refuses even the least that must be recorded",
        ),
      );
      return "not recorded";
    }
  }

  async #quarantine<Item>(
    { command, subject, isAside }: DispatchKind<Item>,
    item: Item,
    error: unknown,
    heldKey: MessageKey | null,
  ): Promise<boolean> {
    const { store, log, clock, counts } = this.#parts;
    const reason = error instanceof Error ? error.message : String(error);
    const told = { command, subject: subject(item) };
    try {
      const aside = { ...told, atMs: clock.now(), reason, detail: JSON.stringify(item), heldKey };
      await this.call(() => store.quarantine({ items: [aside] }));
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
}

/** The store is away or ill; all else is about what it was told. */
function isStoreAway(error: unknown): boolean {
  return error instanceof StoreUnavailable;
}
