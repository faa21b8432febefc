/** What cannot be read as HTTP, or does not come in time, is told so, and the connection ends: by itself, or destroyed. */
import type { Socket } from "node:net";
import type { ClientConnection } from "./client-connection.ts";
import type { ClientConnections } from "./client-connections.ts";
import { ApiError, type ErrorName } from "./errors.ts";

// Not imported: an import of this module reads all that it offers, and with it loads Node's WebSocket and fetch, a tenth of a second at each start.
const { STATUS_CODES } = process.getBuiltinModule("node:http");

const BROKEN_REQUESTS: Readonly<Record<string, ErrorName>> = {
  HPE_HEADER_OVERFLOW: "headersTooLarge",
  ERR_HTTP_REQUEST_TIMEOUT: "requestTimeout",
};
const TOO_LATE = "ERR_HTTP_REQUEST_TIMEOUT";

type ParserError = { readonly code?: string };

/** Writes the answer by hand: there is no request that it could be the answer to. */
function tell(code: string, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const error = new ApiError(BROKEN_REQUESTS[code] ?? "badRequest", {
    description: code === TOO_LATE ? "The request did not come whole in time." : "The request could not be read.",
  });
  const body = JSON.stringify(error.body());
  const { status } = error.kind;
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** The end of a connection whose newest request did not come whole. Whoever has been answered, if only in part, is not told anything else in between. */
function tellUnlessAnswered(code: string, { socket, newest, underWay }: ClientConnection): void {
  // A stream goes on before it, without end.
  if (underWay.some(({ response }) => response.headersSent && !response.writableEnded)) socket.destroy();
  else if (newest === null || newest.req.complete || !newest.headersSent) tell(code, socket);
  else if (!newest.writableEnded) socket.destroy();
  else if (newest.closed) socket.end();
  else newest.once("close", () => socket.end());
}

export function tellLate(connection: ClientConnection): void {
  tellUnlessAnswered(TOO_LATE, connection);
}

/**
 * For what the parser objects to. Our side of the connection ends once the requests before are answered, the client's when it has written what it
 * had to say (what is reset while it writes, it cannot read) or when its time is over: then it is destroyed.
 */
export function brokenRequestAnswerer(
  connections: ClientConnections,
  onBroken: (code: string, socket: Socket) => void,
) {
  const told = new WeakSet<Socket>();
  return (error: ParserError, socket: Socket): void => {
    const connection = connections.find(socket);
    // Unknown is a socket whose handshake of TLS did not come to its end: nothing can be said on it.
    if (error.code === "ECONNRESET" || connection === undefined) {
      socket.destroy();
      return;
    }
    // Each further piece of the same broken request comes here again.
    if (told.has(socket)) return;
    told.add(socket);
    const code = error.code ?? "";
    onBroken(code, socket);
    connection.onceAnswered(() => {
      tellUnlessAnswered(code, connection);
      connections.linger(connection);
    });
  };
}
