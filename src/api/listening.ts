/**
 * Where the server listens. Under the name localhost that is 127.0.0.1, and ::1 too where the machine has it. Fastify would open a second HTTP server
 * for the other address, which nobody drains; here the second listener only hands its sockets to the one server, so that they are drained with all others.
 */
import type { Server as HttpServer } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { Log } from "../runtime/log.ts";

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const LOCAL = { first: "127.0.0.1", second: "::1" } as const;
/** The machine has no such address. */
const NO_ADDRESS = new Set(["EADDRNOTAVAIL", "EAFNOSUPPORT", "EINVAL"]);

/** `open` makes the server itself listen. Gives the listeners besides it. */
export async function listenAt(
  server: HttpServer,
  open: (place: ListenAddress) => Promise<unknown>,
  { host, port }: ListenAddress,
  log: Log,
): Promise<Server[]> {
  if (host !== "localhost") {
    await open({ host, port });
    return [];
  }
  await open({ host: LOCAL.first, port });
  // As Node's HTTP server takes its sockets.
  const second = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => {
    server.emit("connection", socket);
  });
  const place = { host: LOCAL.second, port: (server.address() as AddressInfo).port };
  const problem = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
    second.once("error", resolve);
    second.listen({ ...place, ipv6Only: true }, () => resolve(null));
  });
  if (problem === null) return [second];
  if (!NO_ADDRESS.has(problem.code ?? ""))
    log.warn({ ...place, code: problem.code }, "localhost has another address at which the service cannot listen");
  return [];
}
