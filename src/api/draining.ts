/**
 * How the server stops without cutting anybody off:
 *
 *   serving ──stop──▶ leaving: all is served, /readyz says 503 ──stopDelayMs──▶ draining: nobody new ──▶ every connection is over
 *
 * The listener closes first, so that whoever is told to leave does not come again here. From then on the last answer of each connection says
 * `Connection: close`. A connection without a request is kept for `stopGraceMs`, because a request may be on its way to it; then it ends, and so does
 * one whose answer had begun before and did not say so. Each ends as TCP wants it: our side is closed and theirs is read on for a moment, for whatever
 * comes to a socket that is destroyed is answered with a reset, and a reset takes with it what its client has not read yet. After `stopTimeoutMs` what is left is destroyed.
 */
import type { Server } from "node:http";
import type { Server as Listener } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type Clock, Interval, sleep } from "../runtime/clock.ts";
import type { Settings } from "../settings/settings.ts";
import type { ClientConnections } from "./client-connections.ts";

/** While somebody connects at every turn of the loop, the listener waits so many turns for one without. */
const MAX_TURNS = 100;
/** How often those are looked for that are idle. */
const LOOK_EVERY_MS = 100;

export interface DrainingParts {
  readonly server: Server;
  readonly connections: ClientConnections;
  /** The machine's own: what clients do takes real time. */
  readonly clock: Clock;
  readonly settings: Pick<Settings["server"], "stopDelayMs" | "stopGraceMs" | "stopTimeoutMs">;
}

export class Draining {
  readonly #parts: DrainingParts;
  /** The service is about to stop: nobody is to send it more. */
  isLeaving = false;
  /** Every connection is over with its next answer. */
  isDraining = false;
  /** Listeners that hand their sockets to the server (listening.ts). */
  besides: readonly Listener[] = [];

  constructor(parts: DrainingParts) {
    this.#parts = parts;
  }

  /** An answer that is about to be sent. Behind it may stand others, of requests that came without waiting for it; the last one ends the connection. */
  mark({ progress }: FastifyRequest, reply: FastifyReply): void {
    const connection = progress?.connection;
    if (connection !== undefined && connection.newest !== reply.raw) return;
    reply.header("connection", "close");
    if (connection !== undefined) this.#parts.connections.lastAnswer(connection);
  }

  /** Resolves when there is no connection any more. */
  async stop(): Promise<void> {
    const { server, connections, clock, settings } = this.#parts;
    this.isLeaving = true;
    if (!server.listening) return;
    if (settings.stopDelayMs > 0) await sleep(clock, settings.stopDelayMs);
    await this.#quietTurn();
    // Node would destroy them with the listener.
    server.closeIdleConnections = () => undefined;
    const closed = Promise.all(
      [server, ...this.besides].map((one) => new Promise<void>((resolve) => one.close(() => resolve()))),
    );
    this.isDraining = true;
    const { stopTimeoutMs } = settings;
    const graceMs = Math.min(settings.stopGraceMs, stopTimeoutMs);
    connections.endIdle(graceMs);
    const looking = new Interval(clock, LOOK_EVERY_MS, async () => connections.endIdle(graceMs));
    const impatient = clock.after(stopTimeoutMs, () => connections.destroyAll());
    await closed;
    impatient.cancel();
    await looking.stop();
  }

  /** Connections that the system has made and nobody has taken yet are reset when the listener closes: a turn in which none came leaves next to none. */
  async #quietTurn(): Promise<void> {
    const { server } = this.#parts;
    let opened = 0;
    const count = (): void => {
      opened++;
    };
    server.on("connection", count);
    for (let turn = 0, before = -1; turn < MAX_TURNS && opened !== before; turn++) {
      before = opened;
      await new Promise((resolve) => setImmediate(resolve));
    }
    server.off("connection", count);
  }
}
