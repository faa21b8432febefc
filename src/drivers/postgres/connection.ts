/** One connection, made when it is wanted, and made anew when it is lost. While the database is away it says so at once. */
import { type Clock, systemClock } from "../../runtime/clock.ts";
import { DatabaseUnavailable } from "../errors.ts";
import { Attempts, type PostgresConnectionOptions } from "./attempts.ts";
import { asConnectError } from "./faults.ts";
import { PostgresLink, type Session } from "./link.ts";

export class PostgresConnection {
  readonly #options: PostgresConnectionOptions;
  readonly #name: string;
  readonly #clock: Clock;
  readonly #attempts: Attempts;
  #link: PostgresLink | null = null;
  #opening: { readonly link: PostgresLink; readonly done: Promise<PostgresLink> } | null = null;
  #closed = false;

  constructor(options: PostgresConnectionOptions, name: string, clock: Clock = systemClock) {
    this.#options = options;
    this.#name = name;
    this.#clock = clock;
    this.#attempts = new Attempts(options, name, clock);
  }

  /** A live one: the same until it is lost or discarded. Fails at once while the database is away. */
  async session(): Promise<Session> {
    if (this.#closed) throw new DatabaseUnavailable("the connection was closed");
    if (this.#link?.alive) return this.#link;
    if (this.#opening !== null) {
      // While it is known to be away, only the one who asked for the attempt waits for it.
      if (this.#attempts.failing) throw this.#attempts.refusal();
      return this.#opening.done;
    }
    if (!this.#attempts.due) throw this.#attempts.refusal();
    const link = new PostgresLink(this.#options, this.#name, this.#clock);
    const done = this.#open(link);
    this.#opening = { link, done };
    return done;
  }

  async #open(link: PostgresLink): Promise<PostgresLink> {
    try {
      await link.connect((reason) => this.#attempts.lost(reason));
      if (this.#closed) throw new DatabaseUnavailable("the connection was closed");
      this.#attempts.succeeded();
      this.#link = link;
      return link;
    } catch (error) {
      link.destroy();
      if (this.#closed) throw new DatabaseUnavailable("the connection was closed");
      this.#attempts.failed(error);
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
