/** A connection that only listens: another node has something to say. Lost, it is opened again; without it, everyone still looks by himself. */
import type { Clock, Timer } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import { faultReason } from "./faults.ts";
import { PostgresLink } from "./link.ts";

export interface ListenerParts {
  readonly url: string;
  readonly leaseMs: number;
  readonly channel: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly onNews: () => void;
}

const AGAIN_AFTER_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 5_000;
const STOP_WAIT_MS = 1_000;

export class Listener {
  readonly #parts: ListenerParts;
  #link: PostgresLink | null = null;
  #timer: Timer | null = null;
  #stopped = false;

  constructor(parts: ListenerParts) {
    this.#parts = parts;
  }

  start(): void {
    const link = new PostgresLink(
      { ...this.#parts, statementTimeoutMs: STATEMENT_TIMEOUT_MS },
      "heliograph listener",
      this.#parts.clock,
    );
    this.#link = link;
    void this.#listen(link);
  }

  async #listen(link: PostgresLink): Promise<void> {
    const { channel, onNews, log } = this.#parts;
    try {
      await link.connect(() => this.#lost(link));
      await link.listen(channel, onNews);
    } catch (error) {
      log.debug({ code: faultReason(error) }, "cannot listen to the other nodes; looking instead");
      this.#lost(link);
    }
  }

  #lost(link: PostgresLink): void {
    if (this.#link !== link || this.#stopped) return;
    this.#link = null;
    link.destroy();
    this.#timer = this.#parts.clock.after(AGAIN_AFTER_MS, () => this.start());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    const link = this.#link;
    if (link?.alive !== true) return link?.destroy();
    // A network that swallows everything must not hold up the end.
    const limit = this.#parts.clock.after(STOP_WAIT_MS, () => link.destroy());
    await link.end();
    limit.cancel();
  }
}
