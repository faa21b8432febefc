/**
 * Two PostgreSQL servers, of which one follows the other as its standby, and what can become of them: the primary is killed or cut off, the standby
 * promoted, the way between them lost. Every way leads through a door of the test, as a network would have it:
 *
 *   clients ──▶ a door for each server ──▶ the server          `hosts` names both, and the client finds the primary
 *   clients ──▶ a door to the primary of the moment            `switching`, as an operator's proxy or address does it
 *   standby ──▶ a door for each server ──▶ the primary         what a standby follows by
 */
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { eventually } from "./patience.ts";
import { command, type PostgresServer, startPostgres } from "./postgres-server.ts";

/** A way to a port, which can be closed, and led elsewhere. */
export class Door {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #target: number;
  #isOpen = true;

  static async to(target: number): Promise<Door> {
    const door = new Door(target);
    door.#server.listen(0, "127.0.0.1");
    await once(door.#server, "listening");
    return door;
  }

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer({ noDelay: true }, (near) => {
      if (!this.#isOpen) {
        near.destroy();
        return;
      }
      const far = connect({ host: "127.0.0.1", port: this.#target, noDelay: true });
      this.#join(near, far);
      this.#join(far, near);
    });
  }

  #join(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.on("error", () => undefined);
    from.on("close", () => {
      this.#sockets.delete(from);
      to.destroy();
    });
    from.pipe(to);
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  /** From the next connection on: those that there are stay where they are. */
  leadTo(target: number): void {
    this.#target = target;
  }

  /** Whoever is connected is so no more. */
  breakAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Nobody gets through, until it is opened again. */
  shut(): void {
    this.#isOpen = false;
    this.breakAll();
  }

  open(): void {
    this.#isOpen = true;
  }

  async remove(): Promise<void> {
    this.shut();
    this.#server.close();
    await once(this.#server, "close");
  }
}

interface Place {
  server: PostgresServer;
  /** For clients. */
  readonly door: Door;
  /** For the other server, when it is the standby. */
  readonly feed: Door;
}

/** How clients name the database. */
export type UrlKind = "hosts" | "switching";
export const URL_KINDS: readonly UrlKind[] = ["hosts", "switching"];

export interface PairOptions {
  /** A commit waits until the standby has it on its disk. */
  readonly synchronous: boolean;
}

/** Quick to notice, so that tests need not wait; and what the standby lacks is kept for it. */
const SETTINGS = ["wal_retrieve_retry_interval=100ms", "wal_keep_size=512MB"];

const portOf = (server: PostgresServer): number => Number(new URL(server.url).port);

export class Pair {
  readonly #options: PairOptions;
  /** To whoever is the primary. */
  readonly switching: Door;
  #primary: Place;
  #standby: Place;

  /** The primary alone, until `follow`. */
  static async start(t: { after(clean: () => Promise<void>): void }, options: PairOptions): Promise<Pair> {
    const server = await startPostgres({ durable: true, settings: SETTINGS });
    t.after(() => server.remove());
    const doors = await Promise.all([0, 1, 2, 3, 4].map(() => Door.to(portOf(server))));
    const primary: Place = { server, door: doors[0]!, feed: doors[1]! };
    const standby: Place = { server, door: doors[2]!, feed: doors[3]! };
    const pair = new Pair(options, primary, standby, doors[4]!);
    t.after(() => pair.#remove(doors));
    return pair;
  }

  private constructor(options: PairOptions, primary: Place, standby: Place, switching: Door) {
    this.#options = options;
    this.#primary = primary;
    this.#standby = standby;
    this.switching = switching;
  }

  /** The server itself, by no door. */
  direct(role: "primary" | "standby"): string {
    return (role === "primary" ? this.#primary : this.#standby).server.url;
  }

  portOf(role: "primary" | "standby"): number {
    return Number(new URL(this.direct(role)).port);
  }

  url(kind: UrlKind): string {
    const url = new URL(this.#primary.server.url);
    if (kind === "switching") {
      url.port = String(this.switching.port);
      return url.href;
    }
    // In an order that says nothing of who is the primary.
    const ports = [this.#primary, this.#standby].map(({ door }) => door.port).toSorted((one, other) => one - other);
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join();
    return `postgres://${url.username}:${url.password}@${hosts}${url.pathname}?target_session_attrs=read-write`;
  }

  /** On the primary itself, by no door. */
  onPrimary(...texts: readonly string[]): Promise<Record<string, unknown>[]> {
    return command(this.#primary.server.url, ...texts);
  }

  /** The primary dies, and whoever is connected learns it at once. */
  async kill(): Promise<void> {
    await this.#primary.server.kill();
  }

  /** The primary lives on, and nobody reaches it any more, nor it the standby. */
  isolate(): void {
    this.#primary.door.shut();
    this.#primary.feed.shut();
    this.switching.shut();
  }

  /** The standby hears nothing of the primary until `join`; the clients of both notice nothing of that. */
  part(): void {
    this.#primary.feed.shut();
  }

  join(): void {
    this.#primary.feed.open();
  }

  /** The standby becomes the primary; it waits for no standby of its own, until there is one. Unless `keeping`, the switching door leads there from now on. */
  async promote(options: { keeping?: boolean } = {}): Promise<void> {
    const rows = await command(this.#standby.server.url, "SELECT pg_promote() AS promoted");
    if (rows[0]?.promoted !== true) throw new Error("the standby was not promoted");
    [this.#primary, this.#standby] = [this.#standby, this.#primary];
    this.switching.leadTo(portOf(this.#primary.server));
    if (options.keeping === true) return;
    this.switching.breakAll();
    this.switching.open();
  }

  /** A standby is made of what the primary has now, in place of a former primary: it can be promoted. */
  async follow(): Promise<void> {
    const { server, feed } = this.#primary;
    this.#standby.door.shut();
    if (this.#standby.server !== server) await this.#standby.server.remove();
    const { username, password } = new URL(server.url);
    feed.leadTo(portOf(server));
    feed.open();
    const from = `host=127.0.0.1 port=${feed.port} user=${username} password=${password} application_name=standby`;
    this.#standby.server = await startPostgres({
      durable: true,
      settings: [...SETTINGS, `primary_conninfo=${from}`],
      standbyOf: server,
    });
    this.#standby.door.leadTo(portOf(this.#standby.server));
    this.#standby.door.open();
    await this.#caughtUp("streaming");
    if (!this.#options.synchronous) return;
    await this.onPrimary("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()");
    await this.#caughtUp("sync");
  }

  /** What was committed before it came to this state is there too. */
  async #caughtUp(state: "streaming" | "sync"): Promise<void> {
    const lsn = await eventually(async () => {
      const rows = await this.onPrimary(
        `SELECT pg_current_wal_lsn() AS lsn FROM pg_stat_replication WHERE '${state}' IN (state, sync_state)`,
      );
      return rows[0]?.lsn;
    });
    const sql = `SELECT flush_lsn >= '${lsn}' AS there FROM pg_stat_replication`;
    await eventually(async () => (await this.onPrimary(sql))[0]?.there === true);
  }

  async #remove(doors: readonly Door[]): Promise<void> {
    await Promise.all(doors.map((door) => door.remove()));
    await Promise.all([this.#primary.server, this.#standby.server].map((server) => server.remove()));
  }
}
