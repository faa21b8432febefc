/**
 * A bound on a server's connections that silence cannot use up. Where there is no room, the one that has been silent for longest makes room for the new
 * one; only where all have shown what they want is the new one closed.
 */
import { once } from "node:events";
import type { AddressInfo, Server, Socket } from "node:net";

export class ConnectionRoom {
  readonly #max: number;
  readonly #all = new Set<Socket>();
  /** Of these, those that have not shown what they want; the oldest first. */
  readonly #silent = new Set<Socket>();

  constructor(max: number) {
    this.#max = max;
  }

  /** False when there was none; the socket is destroyed then. */
  enter(socket: Socket): boolean {
    if (this.#all.size >= this.#max && !this.#makeRoom()) {
      socket.destroy();
      return false;
    }
    this.#all.add(socket);
    this.#silent.add(socket);
    socket.once("close", () => this.#leave(socket));
    return true;
  }

  /** It has shown what it wants: it makes room for nobody. */
  settle(socket: Socket): void {
    this.#silent.delete(socket);
  }

  #makeRoom(): boolean {
    const [oldest] = this.#silent;
    if (oldest === undefined) return false;
    this.#leave(oldest);
    oldest.destroy();
    return true;
  }

  #leave(socket: Socket): void {
    this.#all.delete(socket);
    this.#silent.delete(socket);
  }
}

/** Has a server listen, and gives its port. Rejects when the address cannot be had. */
export async function listenAt(server: Server, port: number, host: string): Promise<number> {
  server.listen(port, host);
  await once(server, "listening");
  // A connection that fails before it is ours (too many open files) is the peer's trouble, not the end of the process.
  server.on("error", () => undefined);
  return (server.address() as AddressInfo).port;
}
