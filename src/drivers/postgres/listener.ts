/** A connection that only listens: another node has something to say. Lost, it is opened again; without it, everyone still looks by himself. */
import pg from "pg";
import type { Clock, Timer } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";

export interface ListenerParts {
  readonly url: string;
  readonly channel: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly onNews: () => void;
}

const AGAIN_AFTER_MS = 5_000;
const CONNECT_TIMEOUT_MS = 5_000;
const STOP_WAIT_MS = 1_000;

export class Listener {
  readonly #parts: ListenerParts;
  #client: pg.Client | null = null;
  #timer: Timer | null = null;
  #stopped = false;

  constructor(parts: ListenerParts) {
    this.#parts = parts;
  }

  start(): void {
    const { url, channel, onNews, log } = this.#parts;
    const client = new pg.Client({
      connectionString: url,
      application_name: "heliograph listener",
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    this.#client = client;
    client.on("error", () => this.#lost(client));
    client.on("end", () => this.#lost(client));
    client.on("notification", onNews);
    client
      .connect()
      .then(() => client.query(`LISTEN ${channel}`))
      .catch((error: { code?: string }) => {
        log.debug({ code: error.code }, "cannot listen to the other nodes; looking instead");
        this.#lost(client);
      });
  }

  #lost(client: pg.Client): void {
    if (this.#client !== client || this.#stopped) return;
    this.#client = null;
    client.end().catch(() => undefined);
    this.#timer = this.#parts.clock.after(AGAIN_AFTER_MS, () => this.start());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    const client = this.#client;
    if (client === null) return;
    // A network that swallows everything must not hold up the end.
    const limit = this.#parts.clock.after(STOP_WAIT_MS, () => client.connection.stream.destroy());
    await client.end().catch(() => undefined);
    limit.cancel();
  }
}
