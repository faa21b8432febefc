/** A bounded pool of connections for reads, made when they are needed and kept. While the database is away it says so at once. */
import { type Clock, systemClock, type Timer } from "../../runtime/clock.ts";
import { DatabaseUnavailable } from "../errors.ts";
import { Attempts, type PostgresConnectionOptions } from "./attempts.ts";
import { asConnectError, PoolBusy } from "./faults.ts";
import { PostgresLink, type Session } from "./link.ts";

/** Where statements have no time limit, waiting for a free connection has. */
const MAX_WAIT_MS = 30_000;

interface Waiter {
  readonly take: (link: PostgresLink) => void;
  readonly refuse: (error: unknown) => void;
  readonly limit: Timer;
}

export class PostgresPool {
  readonly #options: PostgresConnectionOptions;
  readonly #name: string;
  readonly #clock: Clock;
  readonly #attempts: Attempts;
  readonly #bound: number;
  readonly #idle: PostgresLink[] = [];
  readonly #links = new Set<PostgresLink>();
  readonly #waiters = new Set<Waiter>();
  #opening: { readonly link: PostgresLink; readonly done: Promise<void> } | null = null;
  #closed = false;
  #emptied: (() => void) | null = null;

  constructor(options: PostgresConnectionOptions, name: string, clock: Clock = systemClock) {
    this.#options = options;
    this.#name = name;
    this.#clock = clock;
    this.#attempts = new Attempts(options, name, clock);
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

  #take(): Promise<PostgresLink> {
    if (this.#closed) return Promise.reject(new DatabaseUnavailable("the connections were closed"));
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
    const link = new PostgresLink(this.#options, this.#name, this.#clock);
    this.#opening = { link, done: this.#open(link) };
  }

  async #open(link: PostgresLink): Promise<void> {
    try {
      await link.connect((reason) => this.#lost(link, reason));
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

  #lost(link: PostgresLink, reason: string | null): void {
    this.#attempts.lost(reason);
    this.#drop(link);
  }

  #drop(link: PostgresLink): void {
    this.#links.delete(link);
    const place = this.#idle.indexOf(link);
    if (place >= 0) this.#idle.splice(place, 1);
    if (this.#links.size === 0) this.#emptied?.();
    if (this.#links.size === 0 && !this.#attempts.due) this.#refuseAll(this.#attempts.refusal());
    this.#grow();
  }

  #giveBack(link: PostgresLink): void {
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
    this.#refuseAll(new DatabaseUnavailable("the connections were closed"));
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
