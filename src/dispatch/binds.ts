/**
 * Which carriers this node serves, and over how many of their connections. A carrier allows so many connections (binds) for all nodes
 * together; they are numbered, and the store shares the numbers (slots) out. It is asked every second, for nodes come and go; a node that is
 * alone with its store gets all of them, and asks only while something is still to be done:
 *
 *   not served ──slots──▶ served ──more slots──▶ served ──excess──▶ closing ──▶ closed, and told with the next question
 *        ▲                                                             │
 *        └──────────────────────────the last slot──────────────────────┘
 *
 * A slot is told as closed only when its connection really is, and has been for a second: another node opens it then, and the carrier must
 * not count one connection too many, nor more parts in a second than it allows.
 * While the store is away everything stays as it is; the lease says for how long that is right.
 */
import type { Carrier } from "../carriers/port.ts";
import { type Clock, Interval } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { BindShare } from "../store/port/nodes.ts";
import type { Store } from "../store/port/store.ts";
import type { Dispatcher } from "./dispatcher.ts";

/** A carrier that the operator has set up. */
export interface KnownCarrier {
  readonly id: string;
  /** Connections at a time, for all nodes together. */
  readonly binds: number;
  /** All that was set about it: another text when anything changed. */
  readonly profile: string;
  readonly make: () => Carrier;
}

export interface BindsParts {
  readonly store: Pick<Store, "shareBinds">;
  readonly clock: Clock;
  readonly log: Log;
  /** There are no other nodes, and never will be. */
  readonly isAlone?: boolean;
  readonly dispatcher: Pick<Dispatcher, "addCarrier" | "replaceCarrier" | "handOver" | "removeCarrier">;
}

interface Held {
  /** Null when the operator took it away. */
  known: KnownCarrier | null;
  serving: { readonly carrier: Carrier; readonly profile: string; slots: readonly number[] } | null;
  /** Slots that are closed and not yet told so, and since when (on the monotonic clock). */
  readonly closed: Map<number, number>;
  /** Connections are being closed; what else is to change waits for that. */
  busy: boolean;
}

const ASK_EVERY_MS = 1_000;
/** The second over which a carrier counts parts. */
const QUIET_MS = 1_000;

export class Binds {
  readonly #parts: BindsParts;
  readonly #held = new Map<string, Held>();
  readonly #closing = new Set<Promise<void>>();
  #asking: Promise<void> = Promise.resolve();
  #askAgain = false;
  #isFailed = false;
  #interval: Interval | null = null;
  #stopped = false;

  constructor(parts: BindsParts) {
    this.#parts = parts;
  }

  /** Resolves when the carriers that this node may serve from the start are served. */
  async start(carriers: readonly KnownCarrier[]): Promise<void> {
    await this.set(carriers);
    this.#interval = Interval.together(this.#parts.clock, ASK_EVERY_MS, async () => {
      if (!this.#isSettled) await this.#ask();
    });
  }

  /** What the operator has set now. */
  set(carriers: readonly KnownCarrier[]): Promise<void> {
    const known = new Map(carriers.map((carrier) => [carrier.id, carrier]));
    for (const [id, held] of this.#held) held.known = known.get(id) ?? null;
    for (const carrier of carriers) {
      if (!this.#held.has(carrier.id))
        this.#held.set(carrier.id, { known: carrier, serving: null, closed: new Map(), busy: false });
    }
    return this.#ask();
  }

  /** Nothing that another question could change: all that the operator has set is served as he has set it. */
  get #isSettled(): boolean {
    if (this.#parts.isAlone !== true || this.#isFailed) return false;
    return [...this.#held.values()].every(({ known, serving, closed, busy }) => {
      if (known === null || serving === null || busy || closed.size > 0) return false;
      return serving.profile === known.profile && serving.slots.length === known.binds;
    });
  }

  /** One question at a time; what came up meanwhile is asked in the next. */
  #ask(): Promise<void> {
    if (this.#askAgain) return this.#asking;
    this.#askAgain = true;
    this.#asking = this.#asking.then(async () => {
      this.#askAgain = false;
      if (this.#stopped || this.#held.size === 0) return;
      try {
        await this.#round();
        this.#isFailed = false;
      } catch (error) {
        this.#isFailed = true;
        this.#parts.log.warn(
          { err: error },
          "the carriers' connections could not be shared out; they stay as they are",
        );
      }
    });
    return this.#asking;
  }

  async #round(): Promise<void> {
    const quietSinceMs = this.#parts.clock.monotonic() - QUIET_MS;
    const claims = [...this.#held].map(([carrierId, { known, closed }]) => ({
      carrierId,
      binds: known?.binds ?? 0,
      closed: [...closed].filter(([, sinceMs]) => sinceMs <= quietSinceMs).map(([slot]) => slot),
    }));
    const shares = await this.#parts.store.shareBinds({ claims });
    for (const { carrierId, closed } of claims) {
      for (const slot of closed) this.#held.get(carrierId)?.closed.delete(slot);
    }
    for (const share of shares) {
      const held = this.#held.get(share.carrierId);
      if (held === undefined || held.busy || this.#stopped) continue;
      await this.#follow(held, share).catch((error: unknown) => {
        this.#parts.log.error({ err: error, carrier: share.carrierId }, "a carrier could not be started; trying again");
      });
    }
    // Those that are gone last: what waits for them may go to the new ones.
    for (const [id, held] of this.#held) {
      if (held.known === null && !held.busy && !this.#stopped) this.#drop(id, held);
    }
  }

  /** Opens what was given, and begins to close what has to be given back. */
  async #follow(held: Held, { slots, excess }: BindShare): Promise<void> {
    const { known, serving, closed } = held;
    if (known === null) return;
    const given = slots.filter((slot) => slot < known.binds && !closed.has(slot)).sort((one, other) => one - other);
    const kept = given.slice(0, Math.max(0, given.length - Math.max(0, excess - closed.size)));
    // Also those that a smaller number of connections leaves no place for.
    const had = [...new Set([...given, ...(serving?.slots ?? [])])];
    const back = had.filter((slot) => !kept.includes(slot) && !closed.has(slot));
    const close = (work: Promise<unknown>): void => this.#close(known.id, held, work, back);
    if (serving === null) {
      if (kept.length > 0) await this.#serve(held, known, kept);
      this.#noteClosed(held, back);
    } else if (kept.length === 0) {
      held.serving = null;
      this.#parts.log.info({ carrier: known.id }, "a carrier goes over to other nodes");
      close(this.#parts.dispatcher.handOver(known.id));
    } else if (serving.profile !== known.profile) {
      const carrier = await made(known, kept);
      held.serving = { carrier, profile: known.profile, slots: kept };
      this.#parts.log.info({ carrier: known.id }, "a carrier is started anew");
      close(this.#parts.dispatcher.replaceCarrier(carrier));
    } else if (String(kept) !== String(serving.slots)) {
      serving.slots = kept;
      close(serving.carrier.setSlots?.(kept) ?? Promise.resolve());
    }
  }

  async #serve(held: Held, known: KnownCarrier, slots: readonly number[]): Promise<void> {
    const carrier = await made(known, slots);
    held.serving = { carrier, profile: known.profile, slots };
    try {
      await this.#parts.dispatcher.addCarrier(carrier);
    } catch (error) {
      held.serving = null;
      await this.#parts.dispatcher.handOver(known.id);
      throw error;
    }
    this.#parts.log.info({ carrier: known.id, connections: slots.length }, "a carrier was started");
  }

  #drop(id: string, held: Held): void {
    if (held.serving === null && held.closed.size > 0) return; // told with the next question
    if (held.serving === null) this.#held.delete(id);
    const back = held.serving?.slots ?? [];
    held.serving = null;
    this.#parts.log.info({ carrier: id }, "a carrier was stopped");
    this.#close(id, held, this.#parts.dispatcher.removeCarrier(id), back);
  }

  #close(id: string, held: Held, work: Promise<unknown>, back: readonly number[]): void {
    held.busy = true;
    const closing = work
      .catch((error: unknown) => this.#parts.log.error({ err: error, carrier: id }, "a carrier could not be changed"))
      .then(() => {
        held.busy = false;
        this.#noteClosed(held, back);
        this.#closing.delete(closing);
        // What came up meanwhile is not kept waiting.
        void this.#ask();
      });
    this.#closing.add(closing);
  }

  #noteClosed({ closed }: Held, slots: readonly number[]): void {
    for (const slot of slots) closed.set(slot, this.#parts.clock.monotonic());
  }

  /** Nothing is opened any more. What is being closed is waited for by `settled`. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#interval?.stop();
    await this.#asking;
  }

  async settled(): Promise<void> {
    await Promise.all(this.#closing);
  }
}

async function made(known: KnownCarrier, slots: readonly number[]): Promise<Carrier> {
  const carrier = known.make();
  await carrier.setSlots?.(slots);
  return carrier;
}
