/**
 * What clients still write when they have their answer. A small body is read and dropped, and its connection stays. Behind any other the connection ends,
 * and the answer says so: our side of it ends, and a little more is read, so that a client which writes all before it reads gets to see the answer. Only of
 * a few connections at a time; the others wait unread. However it goes, each is destroyed when its time is over.
 */
import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ClientConnection } from "./client-connection.ts";

/** A body of so many octets is dropped for less than a new connection costs. */
const MAX_DROPPED_OCTETS = 262_144;
/** Connections that are read at a time, and octets of each: of a stranger's, and of one on which a caller has shown who it is. */
const READ_AT_A_TIME = 4;
const STRANGERS_OCTETS = 2_097_152;
const CALLERS_OCTETS = 16_777_216;

/** An answer that is about to be sent, maybe before the body of its request has come. */
export function leaveBody(
  { raw, progress }: FastifyRequest,
  reply: FastifyReply,
  connections: { lastAnswer(connection: ClientConnection, isWriting: boolean): void },
): void {
  if (raw.complete || progress === null) return;
  const { "content-length": length = "0", "transfer-encoding": coding } = raw.headers;
  const octets = coding === undefined ? Number(length) : Number.POSITIVE_INFINITY;
  if (octets === 0 || (octets <= MAX_DROPPED_OCTETS && reply.raw.shouldKeepAlive)) return;
  reply.header("connection", "close");
  connections.lastAnswer(progress.connection, true);
  // Node reads and drops the whole of a body that nobody has begun to read.
  raw.pause().read(0);
}

export class Lingering {
  readonly #waiting = new Map<Socket, number>();
  #reading = 0;

  /** Our side of the connection has ended, or is about to. */
  read({ socket, known }: ClientConnection): void {
    socket.removeAllListeners("data").pause();
    socket.once("close", () => this.#waiting.delete(socket));
    // The end of a chunk makes Node read on.
    setImmediate(() => {
      if (socket.destroyed) return;
      socket.pause();
      this.#waiting.set(socket, known ? CALLERS_OCTETS : STRANGERS_OCTETS);
      this.#next();
    });
  }

  #next(): void {
    for (const [socket, most] of this.#waiting) {
      if (this.#reading >= READ_AT_A_TIME) return;
      this.#waiting.delete(socket);
      this.#reading++;
      socket.once("close", () => {
        this.#reading--;
        this.#next();
      });
      let octets = 0;
      socket.on("data", (chunk: Buffer) => {
        octets += chunk.length;
        if (octets > most) socket.destroy();
      });
      socket.resume();
    }
  }
}
