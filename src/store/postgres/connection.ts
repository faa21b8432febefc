/**
 * How the engine reaches the database: one connection that writes, and a bounded pool for reads beside it. While the database is
 * away both say so at once, and try again one attempt at a time, less and less often, so that its return is no stampede.
 */
import { type Clock, systemClock, type Timer } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import { type Random, systemRandom } from "../../runtime/random.ts";
import { StoreUnavailable } from "../port.ts";
import { asConnectError, faultReason, PoolBusy } from "./faults.ts";
import { Link, type Session } from "./link.ts";

export { asStoreError, type FaultKind, faultKind } from "./faults.ts";
export type { Session } from "./link.ts";

export interface ConnectionOptions {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  /** All that this process may have: one writes, the others read. */
  readonly connections: number;
  /** How long one statement may take, and how long a read waits for a connection. 0 for no limit. */
  readonly statementTimeoutMs: number;
  readonly leaseMs: number;
  readonly log: Log;
}

/**
 * An attempt that failed is followed by another after 100 to 200 ms, then after twice that, up to 5 s; but no later than a third of the lease:
 * whoever finds the database again first waits for a lease before it takes the others for dead, and they must all have tried by then.
 */
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5_000;
const MAX_PAUSE_OF_LEASE = 1 / 3;
/** Where statements have no time limit, waiting for a free connection has. */
const MAX_WAIT_MS = 30_000;

/** When to try to connect: the state between attempts. */
class Attempts {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Log;
  readonly #name: string;
  readonly #longestMs: number;
  #failures = 0;
  #nextAt = 0;
  #reason = "";

  constructor({ log, leaseMs }: ConnectionOptions, name: string, clock: Clock, random: Random) {
    this.#log = log;
    this.#longestMs = Math.min(MAX_PAUSE_MS, leaseMs * MAX_PAUSE_OF_LEASE);
    this.#name = name;
    this.#clock = clock;
    this.#random = random;
  }

  /** The last one failed. */
  get failing(): boolean {
    return this.#failures > 0;
  }

  get due(): boolean {
    return !this.failing || this.#clock.monotonic() >= this.#nextAt;
  }

  refusal(): StoreUnavailable {
    return new StoreUnavailable(`the database is away (${this.#reason})`);
  }

  failed(error: unknown): void {
    this.#reason = faultReason(error);
    if (!this.failing) this.#log.warn({ connection: this.#name, reason: this.#reason }, "the database is away");
    const longest = Math.min(this.#longestMs, FIRST_PAUSE_MS * 2 ** this.#failures);
    this.#nextAt = this.#clock.monotonic() + (longest / 2) * (1 + this.#random.next());
    this.#failures += 1;
  }

  succeeded(): void {
    if (this.failing)
      this.#log.info({ connection: this.#name, failedAttempts: this.#failures }, "the database is back");
    this.#failures = 0;
  }

  lost(): void {
    this.#log.warn({ connection: this.#name }, "a connection to the database was lost");
  }
}

/** The connection that writes. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #name: string;
  readonly #clock: Clock;
  readonly #attempts: Attempts;
  #link: Link | null = null;
  #opening: { readonly link: Link; readonly done: Promise<Link> } | null = null;
  #closed = false;

  constructor(options: ConnectionOptions, name: string, clock: Clock = systemClock, random: Random = systemRandom) {
    this.#options = options;
    this.#name = name;
    this.#clock = clock;
    this.#attempts = new Attempts(options, name, clock, random);
  }

  /** A live one: the same until it is lost or discarded. Fails at once while the database is away. */
  async session(): Promise<Session> {
    if (this.#closed) throw new StoreUnavailable("the connection was closed");
    if (this.#link?.alive) return this.#link;
    if (this.#opening !== null) {
      // While it is known to be away, only the one who asked for the attempt waits for it.
      if (this.#attempts.failing) throw this.#attempts.refusal();
      return this.#opening.done;
    }
    if (!this.#attempts.due) throw this.#attempts.refusal();
    const link = new Link(this.#options, this.#name, this.#clock);
    const done = this.#open(link);
    this.#opening = { link, done };
    return done;
  }

  async #open(link: Link): Promise<Link> {
    try {
      await link.connect(() => this.#attempts.lost());
      if (this.#closed) throw new StoreUnavailable("the connection was closed");
      this.#attempts.succeeded();
      this.#link = link;
      return link;
    } catch (error) {
      link.destroy();
      if (!this.#closed) this.#attempts.failed(error);
      throw asConnectError(error);
    } finally {
      this.#opening = null;
    }
  }

  /** Its state is not known: whatever is under way on it fails, and the next session is a new one. */
  discard(): void {
    this.#link?.destroy();
    this.#link = null;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const opening = this.#opening;
    opening?.link.destroy();
    await opening?.done.catch(() => {});
    const link = this.#link;
    this.#link = null;
    if (link?.alive) await link.end();
  }
}

interface Waiter {
  readonly take: (link: Link) => void;
  readonly refuse: (error: unknown) => void;
  readonly limit: Timer;
}

/** Connections for reads, made when they are needed and kept. */
export class Pool {
  readonly #options: ConnectionOptions;
  readonly #name: string;
  readonly #clock: Clock;
  readonly #attempts: Attempts;
  readonly #bound: number;
  readonly #idle: Link[] = [];
  readonly #links = new Set<Link>();
  readonly #waiters = new Set<Waiter>();
  #opening: { readonly link: Link; readonly done: Promise<void> } | null = null;
  #closed = false;
  #emptied: (() => void) | null = null;

  constructor(options: ConnectionOptions, name: string, clock: Clock = systemClock, random: Random = systemRandom) {
    this.#options = options;
    this.#name = name;
    this.#clock = clock;
    this.#attempts = new Attempts(options, name, clock, random);
    this.#bound = Math.max(1, options.connections - 1);
  }

  /** Gives a connection of its own to the work, for as long as it lasts. */
  async use<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    const link = await this.#take();
    try {
      return await work(link);
    } finally {
      this.#giveBack(link);
    }
  }

  #take(): Promise<Link> {
    if (this.#closed) return Promise.reject(new StoreUnavailable("the connections were closed"));
    const idle = this.#idle.pop();
    if (idle !== undefined) return Promise.resolve(idle);
    // With none left, and while it is known to be away, only the one who asks for the next attempt waits for it.
    if (this.#links.size === 0 && this.#attempts.failing && (this.#opening !== null || !this.#attempts.due))
      return Promise.reject(this.#attempts.refusal());
    return new Promise((take, refuse) => {
      const limit = this.#clock.after(this.#options.statementTimeoutMs || MAX_WAIT_MS, () => {
        this.#waiters.delete(waiter);
        refuse(new PoolBusy("every connection to the database is busy"));
      });
      const waiter = { take, refuse, limit };
      this.#waiters.add(waiter);
      this.#grow();
    });
  }

  /** One attempt at a time, for as long as somebody waits and there is room. */
  #grow(): void {
    if (this.#closed || this.#waiters.size === 0 || this.#opening !== null) return;
    if (this.#links.size >= this.#bound || !this.#attempts.due) return;
    try {
      const link = new Link(this.#options, this.#name, this.#clock);
      this.#opening = { link, done: this.#open(link) };
    } catch (error) {
      this.#refuseAll(error);
    }
  }

  async #open(link: Link): Promise<void> {
    try {
      await link.connect(() => this.#lost(link));
      this.#opening = null;
      this.#attempts.succeeded();
      this.#links.add(link);
      this.#giveBack(link);
      this.#grow();
    } catch (error) {
      this.#opening = null;
      link.destroy();
      if (!this.#closed) this.#attempts.failed(error);
      // Those who wait get one of the others, if there are any.
      if (this.#links.size === 0) this.#refuseAll(asConnectError(error));
    }
  }

  #lost(link: Link): void {
    this.#attempts.lost();
    this.#drop(link);
  }

  #drop(link: Link): void {
    this.#links.delete(link);
    const place = this.#idle.indexOf(link);
    if (place >= 0) this.#idle.splice(place, 1);
    if (this.#links.size === 0) this.#emptied?.();
    if (this.#links.size === 0 && !this.#attempts.due) this.#refuseAll(this.#attempts.refusal());
    this.#grow();
  }

  #giveBack(link: Link): void {
    // What was left in the middle of something would go on in the next one's work.
    if (!link.alive || !link.atRest || this.#closed) {
      link.destroy();
      this.#drop(link);
      return;
    }
    const [waiter] = this.#waiters;
    if (waiter === undefined) {
      this.#idle.push(link);
      return;
    }
    this.#waiters.delete(waiter);
    waiter.limit.cancel();
    waiter.take(link);
  }

  #refuseAll(error: unknown): void {
    for (const waiter of this.#waiters) {
      waiter.limit.cancel();
      waiter.refuse(error);
    }
    this.#waiters.clear();
  }

  /** Waits for the work under way. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#refuseAll(new StoreUnavailable("the connections were closed"));
    const opening = this.#opening;
    opening?.link.destroy();
    await opening?.done;
    const idle = this.#idle.splice(0);
    await Promise.all(
      idle.map(async (link) => {
        await link.end();
        this.#links.delete(link);
      }),
    );
    if (this.#links.size > 0)
      await new Promise<void>((resolve) => {
        this.#emptied = resolve;
      });
  }
}
