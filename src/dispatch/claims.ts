/**
 * What is brought in from the store: more of the lanes of which some is left there, and what comes due. Both ask for a few hundred messages at a time; they come
 * with the feed, and the answers only say whether there are more.
 */
import type { Clock, Timer } from "../runtime/clock.ts";
import { onceEach } from "../runtime/lazy.ts";
import type { Log } from "../runtime/log.ts";
import type { LaneName } from "../store/port/delivery.ts";
import type { Store } from "../store/port/store.ts";
import type { CarrierQueues } from "./carrier-queue.ts";
import type { Lane } from "./lane.ts";

export interface ClaimsParts {
  readonly store: Pick<Store, "claimLane" | "claimDue">;
  readonly clock: Clock;
  readonly log: Log;
  /** Messages brought in one go. */
  readonly claimMessages: number;
  readonly queues: CarrierQueues;
  /** Whether the operator has such a carrier, which other nodes may serve. */
  readonly knows: (carrierId: string) => boolean;
}

/** However far away the next due message is, the store is asked this often: the clock may be set. */
const MAX_SLEEP_MS = 60_000;
/** How long to wait with a claim that failed or found no room. */
const AGAIN_AFTER_MS = 500;
const DUE_AGAIN_AFTER_MS = 1_000;

export class Claims {
  readonly #parts: ClaimsParts;
  readonly #timers = new Set<Timer>();
  /** Lanes with messages in the store, of carriers that other nodes serve: by carrier, the accounts. */
  readonly #elsewhere = new Map<string, Set<number>>();
  readonly #accountsOf = onceEach(this.#elsewhere, () => new Set<number>());
  #dueTimer: Timer | null = null;
  #dueAtMs = Number.POSITIVE_INFINITY;
  #claimingDue = false;
  /** Something came due while a claim was under way, which may have been too early for it. */
  #claimAgain = false;
  #stopped = false;

  constructor(parts: ClaimsParts) {
    this.#parts = parts;
  }

  /** Brings in more of a overflowed lane when less is left of it than is brought at a time. */
  refill(lane: Lane): void {
    const { claimMessages, queues, knows, store, log } = this.#parts;
    if (!lane.overflowed || lane.claiming || this.#stopped || lane.length > claimMessages) return;
    const { carrierId } = lane.name;
    if (queues.serving(carrierId) === null && knows(carrierId)) {
      this.leave(lane.name);
      return;
    }
    lane.claiming = true;
    // It may overflow again while the claim is under way, and the feed that says so comes before the claim's own answer.
    lane.overflowed = false;
    store.claimLane({ ...lane.name, limit: claimMessages }).then(
      ({ claimed, more }) => {
        lane.claiming = false;
        lane.overflowed ||= more;
        if (claimed > 0 || !more) this.refill(lane);
        // There is no room for it just now: a lane is looked at again when something moves, unless its carrier is not there.
        else if (queues.serving(carrierId) === null) this.#refillSoon(lane);
      },
      (error: unknown) => {
        log.warn({ err: error }, "messages could not be claimed; trying again");
        lane.claiming = false;
        lane.overflowed = true;
        this.#refillSoon(lane);
      },
    );
  }

  /** A lane that is for other nodes. */
  leave({ accountId, carrierId }: LaneName): void {
    this.#accountsOf(carrierId).add(accountId);
  }

  /** The lanes that were left to other nodes: they are this one's too, from now on. */
  recall(carrierId: string): LaneName[] {
    const accounts = [...(this.#elsewhere.get(carrierId) ?? [])];
    this.#elsewhere.delete(carrierId);
    return accounts.map((accountId) => ({ accountId, carrierId }));
  }

  #refillSoon(lane: Lane): void {
    if (lane.claimingSoon) return;
    lane.claimingSoon = true;
    this.soon(() => {
      lane.claimingSoon = false;
      this.refill(lane);
    });
  }

  /** Unless there is a stop before. */
  soon(run: () => void): void {
    if (this.#stopped) return;
    const timer = this.#parts.clock.after(AGAIN_AFTER_MS, () => {
      this.#timers.delete(timer);
      run();
    });
    this.#timers.add(timer);
  }

  /** Something comes due then. */
  wakeAt(atMs: number): void {
    if (atMs >= this.#dueAtMs || this.#stopped) return;
    const { clock } = this.#parts;
    this.#dueAtMs = atMs;
    this.#dueTimer?.cancel();
    const sleepMs = Math.min(Math.max(atMs - clock.now(), 0), MAX_SLEEP_MS);
    this.#dueTimer = clock.after(sleepMs, () => void this.#claimDue());
  }

  async #claimDue(): Promise<void> {
    this.#dueAtMs = Number.POSITIVE_INFINITY;
    if (this.#claimingDue) this.#claimAgain = true;
    if (this.#claimingDue || this.#stopped) return;
    this.#claimingDue = true;
    this.#claimAgain = false;
    const { store, clock, claimMessages, log } = this.#parts;
    let nextAtMs: number;
    try {
      const { more, nextDueAtMs } = await store.claimDue({ nowMs: clock.now(), limit: claimMessages });
      nextAtMs = more || this.#claimAgain ? clock.now() : (nextDueAtMs ?? Number.POSITIVE_INFINITY);
    } catch (error) {
      log.warn({ err: error }, "due messages could not be claimed; trying again");
      nextAtMs = clock.now() + DUE_AGAIN_AFTER_MS;
    }
    this.#claimingDue = false;
    this.wakeAt(Math.min(nextAtMs, clock.now() + MAX_SLEEP_MS));
  }

  stop(): void {
    this.#stopped = true;
    this.#dueTimer?.cancel();
    for (const timer of this.#timers) timer.cancel();
  }
}
