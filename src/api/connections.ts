/** The connections that requests come on: what is under way on each, and whose API key was seen there. */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { SeenCaller } from "./auth.ts";

/** A request under way: however it ends, answered or abandoned, it ends once. */
export class Progress {
  /** The path of its route; undefined where there is none. */
  readonly route: string | undefined;
  readonly #connection: Connection;
  readonly #onEnd: () => void;
  #release: (() => void) | null = null;
  #ended = false;

  constructor(connection: Connection, route: string | undefined, onEnd: () => void) {
    this.route = route;
    this.#connection = connection;
    this.#onEnd = onEnd;
    connection.underWay.push(this);
  }

  /** Calls this too when it ends, at once if it has: its client may go away while it is looked at. */
  holds(release: () => void): void {
    if (this.#ended) release();
    else this.#release = release;
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    const { underWay } = this.#connection;
    underWay.splice(underWay.indexOf(this), 1);
    this.#onEnd();
    this.#release?.();
  }
}

export class Connection {
  /** Mostly one; more where a client does not wait for answers. No Set: see runtime/slots.ts. */
  readonly underWay: Progress[] = [];
  /** The newest answer on it, begun or not. */
  newest: ServerResponse | null = null;
  caller: SeenCaller | null = null;
}

export class Connections {
  readonly #connections = new WeakMap<Socket, Connection>();

  find(socket: Socket): Connection | undefined {
    return this.#connections.get(socket);
  }

  of(socket: Socket): Connection {
    const known = this.#connections.get(socket);
    if (known !== undefined) return known;
    const connection = new Connection();
    this.#connections.set(socket, connection);
    // An answer that waits behind another is not told when its connection breaks.
    socket.once("close", () => {
      for (const progress of [...connection.underWay]) progress.end();
    });
    return connection;
  }
}
