/**
 * Hosts of a carrier that take their time, on a virtual clock and over real sockets: time stands still while anything is on the wire, so that what a
 * connection does in ten minutes is the same on every machine.
 */
import { Socket } from "node:net";
import type { TestContext } from "node:test";
import { TLSSocket } from "node:tls";
import type { Pdu } from "../../../src/carriers/smpp/codec/pdu.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";
import { CERTIFICATE, KEY } from "./session-certificate.ts";
import { listen, Peer } from "./session-support.ts";

export interface TimedHost {
  readonly port: number;
  /** When each bind came, by the clock. */
  readonly bindsMs: readonly number[];
}

export interface HostManners {
  /** For the handshake of TLS; plain TCP without it. */
  readonly tlsAfterMs?: number;
  /** After a bind; it is never answered without it. */
  readonly answerAfterMs?: number;
  /** What the bind that came at this time is answered with; it is accepted without it. */
  readonly status?: (atMs: number) => number;
}

export class TimedHosts {
  readonly clock = new VirtualClock();
  readonly #t: TestContext;
  /** Our ends that have not said that they are closed. `closed` of a socket is true before that. */
  readonly #sockets = new Set<Socket>();
  /** By both their ports, for two connections to two hosts may have one port of ours: those for which the next thing to happen is that time passes. */
  readonly #atRest = new Set<string>();
  readonly #peers: Socket[] = [];
  #mostOpen = 0;

  constructor(t: TestContext) {
    this.#t = t;
    const sockets = this.#sockets;
    const { connect } = Socket.prototype;
    t.mock.method(Socket.prototype, "connect", function (this: Socket, ...args: unknown[]) {
      sockets.add(this);
      this.once("close", () => sockets.delete(this));
      return Reflect.apply(connect, this, args) as Socket;
    });
    this.clock.waitFor(() => {
      this.#mostOpen = Math.max(this.#mostOpen, this.open);
      return [...sockets].every(({ localPort, remotePort }) => this.#atRest.has(`${localPort} ${remotePort}`));
    });
  }

  /** Our ends that are not closed. */
  get open(): number {
    return this.#sockets.size;
  }

  get mostOpen(): number {
    return this.#mostOpen;
  }

  /** The carrier drops all connections. */
  cut(): void {
    for (const peer of this.#peers.splice(0)) peer.destroy();
    this.#atRest.clear();
  }

  async add(manners: HostManners = {}): Promise<TimedHost> {
    const bindsMs: number[] = [];
    const port = await listen(this.#t, (socket) => {
      this.#peers.push(socket);
      const id = `${socket.remotePort} ${socket.localPort}`;
      socket.once("close", () => this.#atRest.delete(id));
      if (manners.tlsAfterMs === undefined) this.#take(socket, id, manners, bindsMs);
      else
        this.#after(id, manners.tlsAfterMs, () => {
          if (socket.destroyed) return;
          const secure = new TLSSocket(socket, { isServer: true, key: KEY, cert: CERTIFICATE });
          secure.on("error", () => {});
          this.#take(secure, id, manners, bindsMs);
        });
    });
    return { port, bindsMs };
  }

  #take(socket: Socket, id: string, { answerAfterMs, status }: HostManners, bindsMs: number[]): void {
    const { clock } = this;
    const peer = new Peer(socket);
    const answer = ({ sequence }: Pdu, atMs: number) => {
      if (socket.destroyed) return;
      const code = status?.(atMs) ?? 0;
      peer.send({ command: "bind_transceiver_resp", sequence, status: code, systemId: "network" });
      // Whoever is refused closes.
      if (code === 0) this.#atRest.add(id);
    };
    const take = (): void => {
      const pdu = peer.received.shift();
      if (pdu?.command !== "bind_transceiver") return;
      const atMs = clock.now();
      bindsMs.push(atMs);
      if (answerAfterMs === undefined) this.#atRest.add(id);
      else if (answerAfterMs === 0) answer(pdu, atMs);
      else this.#after(id, answerAfterMs, () => answer(pdu, atMs));
    };
    socket.on("data", take);
  }

  #after(id: string, waitMs: number, run: () => void): void {
    this.#atRest.add(id);
    this.clock.after(waitMs, () => {
      this.#atRest.delete(id);
      run();
    });
  }
}
