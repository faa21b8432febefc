/** Follows the store: keeps a snapshot of what the operator has set and makes a new one within a second of a change. While nothing is written it asks nothing. */
import { SeenWrites, type WriteMark } from "../node/write-mark.ts";
import { type Clock, Interval } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Store } from "../store/port/store.ts";
import { Snapshot } from "./snapshot.ts";

/** At most so often. */
const LOOK_EVERY_MS = 500;

export class Catalogue {
  readonly #store: Pick<Store, "catalogue" | "changeCounter">;
  readonly #listeners: ((snapshot: Snapshot) => void)[] = [];
  readonly #log: Log;
  readonly #writes: SeenWrites;
  #current = new Snapshot([]);
  #changes = -1;
  #following: Interval | null = null;

  constructor(store: Pick<Store, "catalogue" | "changeCounter">, log: Log, mark?: WriteMark | null) {
    this.#store = store;
    this.#log = log;
    this.#writes = new SeenWrites(mark);
  }

  get current(): Snapshot {
    return this.#current;
  }

  /** Called after every change of the catalogue or of an account. */
  onChange(listener: (snapshot: Snapshot) => void): void {
    this.#listeners.push(listener);
  }

  async start(clock: Clock): Promise<void> {
    await this.look();
    this.#following = Interval.together(clock, LOOK_EVERY_MS, async () => {
      try {
        if (await this.#writes.untilNew()) await this.look();
      } catch (error) {
        this.#log.warn({ err: error }, "the catalogue could not be read; the last one stays in force");
      }
    });
  }

  /** Reads the catalogue if it has changed. */
  look(): Promise<void> {
    return this.#writes.ask(async () => {
      const changes = await this.#store.changeCounter();
      if (changes === this.#changes) return;
      this.#current = new Snapshot(await this.#store.catalogue());
      this.#changes = changes;
      for (const listener of this.#listeners) listener(this.#current);
    });
  }

  async stop(): Promise<void> {
    this.#writes.leave();
    await this.#following?.stop();
  }
}
