/**
 * The simulated network's controls over HTTP, for whoever cannot call it in code: faults, the record, messages from phones. It listens
 * on the loopback only, and web pages that a browser on this machine has open cannot use it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { ConnectionRoom, listenAt } from "../runtime/connection-room.ts";
import { hasOtherCoding, hasSeveralHosts } from "../runtime/request-smuggling.ts";
import { readHex } from "../sms/binary.ts";
import { BadFaults, readFaults } from "./faults.ts";
import type { PartRecord } from "./part.ts";
import type { IncomingOctets, IncomingText, RecordQuery, Smsc } from "./smsc.ts";

const HOST = "127.0.0.1";
const MAX_BODY_OCTETS = 1_048_576;
/** How much of a body that is too large is read, so that its sender hears why. */
const MAX_DROPPED_OCTETS = 4 * MAX_BODY_OCTETS;
const MAX_CONNECTIONS = 100;
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 100_000;
/** A page on another site reaches this machine under that site's name. */
const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/** What is wrong with a request, for whoever sent it. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

type Handler = (smsc: Smsc, request: { readonly query: URLSearchParams; readonly body: string }) => unknown;

const ROUTES: Readonly<Record<string, Readonly<Record<string, Handler>>>> = {
  "/faults": {
    GET: (smsc) => smsc.faults,
    PUT: (smsc, { body }) => {
      smsc.faults = readFaults(parse(body));
      return smsc.faults;
    },
  },
  "/messages": { GET: (smsc, { query }) => ({ messages: smsc.find(readQuery(query)).map(shown) }) },
  "/incoming": {
    POST: (smsc, { body }) => {
      const message = readIncoming(parse(body));
      try {
        // Whether anyone has taken it shows in the counters.
        return { parts: smsc.incoming(message).parts };
      } catch (error) {
        throw error instanceof RangeError ? new Refusal(400, error.message) : error;
      }
    },
  },
  "/disconnect": {
    POST: (smsc) => {
      const connections = smsc.connections.length;
      smsc.disconnect();
      return { connections };
    },
  },
  "/status": { GET: (smsc) => ({ connections: smsc.connections, counters: smsc.counters }) },
};

export interface Control {
  readonly port: number;
  stop(): Promise<void>;
}

/** How long a request may take to come. */
export interface ControlTimes {
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
}

const TIMES: ControlTimes = { headersTimeoutMs: 10_000, requestTimeoutMs: 30_000 };

/** Listens. Rejects when the port cannot be had. */
export async function startControl(smsc: Smsc, port: number, times = TIMES): Promise<Control> {
  const { headersTimeoutMs: headersTimeout, requestTimeoutMs: requestTimeout } = times;
  const room = new ConnectionRoom(MAX_CONNECTIONS);
  const connectionsCheckingInterval = Math.min(1_000, headersTimeout);
  const server = createServer({ headersTimeout, requestTimeout, connectionsCheckingInterval }, (request, response) => {
    room.settle(request.socket);
    void answer(smsc, request, response);
  });
  server.on("connection", (socket) => room.enter(socket));
  return {
    port: await listenAt(server, port, HOST),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(smsc: Smsc, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { socket } = request;
  try {
    const handler = handlerOf(request);
    const body = await bodyOf(request);
    send(response, 200, handler(smsc, { query: urlOf(request).searchParams, body }));
  } catch (error) {
    if (!request.complete && request.destroyed) response.once("finish", () => socket.destroy());
    if (error instanceof Refusal) send(response, error.status, { error: error.message });
    else if (error instanceof BadFaults) send(response, 400, { error: error.message });
    else send(response, 500, { error: (error as Error).message });
  }
}

function handlerOf(request: IncomingMessage): Handler {
  const { method = "", headers } = request;
  if (hasSeveralHosts(request)) throw new Refusal(400, "the Host header must be given once");
  if (hasOtherCoding(request)) throw new Refusal(501, "of the transfer codings only chunked is known");
  if (headers.origin !== undefined || !LOOPBACK_HOST.test(headers.host ?? "")) {
    throw new Refusal(403, "this is not for web pages");
  }
  const { pathname } = urlOf(request);
  const handlers = Object.hasOwn(ROUTES, pathname) ? ROUTES[pathname] : undefined;
  if (handlers === undefined)
    throw new Refusal(404, `there is no ${pathname}; there are ${Object.keys(ROUTES).join(", ")}`);
  const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined;
  if (handler === undefined)
    throw new Refusal(405, `${pathname} takes ${Object.keys(handlers).join(" and ")}, not ${method}`);
  return handler;
}

function urlOf(request: IncomingMessage): URL {
  return new URL(request.url ?? "/", `http://${HOST}`);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let octets = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    octets += chunk.length;
    // The rest is read and dropped: who is cut off in the middle of its request does not hear why.
    if (octets <= MAX_BODY_OCTETS) chunks.push(chunk);
    if (octets > MAX_DROPPED_OCTETS) break; // it is not waited for any longer
  }
  if (octets > MAX_BODY_OCTETS) throw new Refusal(413, `a body has at most ${MAX_BODY_OCTETS} octets`);
  return Buffer.concat(chunks).toString("utf8");
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(`${JSON.stringify(body, null, 2)}\n`);
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw new Refusal(400, `the body is not JSON: ${(error as Error).message}`);
  }
}

function readQuery(query: URLSearchParams): RecordQuery {
  return {
    from: query.get("from") ?? undefined,
    to: query.get("to") ?? undefined,
    after: wholeNumber(query, "after"),
    limit: wholeNumber(query, "limit") ?? DEFAULT_LIMIT,
  };
}

function wholeNumber(query: URLSearchParams, name: "limit" | "after"): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const most = name === "limit" ? MAX_LIMIT : Number.MAX_SAFE_INTEGER;
  if (!/^\d{1,16}$/.test(text) || Number(text) > most) {
    throw new Refusal(400, `${name} must be a whole number from 0 to ${most}, not "${text}"`);
  }
  return Number(text);
}

const hex = (octets: Uint8Array): string => Buffer.from(octets).toString("hex");

function shown({ octets, tlvs, atMs, ...part }: PartRecord): object {
  return {
    ...part,
    octets: hex(octets),
    tlvs: tlvs.map(({ tag, value }) => ({ tag: `0x${tag.toString(16)}`, value: hex(value) })),
    at: new Date(atMs).toISOString(),
  };
}

/** What an address of deliver_sm holds. */
const ADDRESS = /^[\x20-\x7e]{1,20}$/;

/** What message_payload holds. */
const MAX_OCTETS = 65_535;

function readIncoming(value: unknown): IncomingText | IncomingOctets {
  const { from, to, text, hex, systemId, ...octetFields } = (value ?? {}) as Partial<Record<string, unknown>>;
  if (!isText(from) || !ADDRESS.test(from))
    throw new Refusal(400, "from must be a number or name of up to 20 characters");
  if (!isText(to) || !ADDRESS.test(to)) throw new Refusal(400, "to must be a number or name of up to 20 characters");
  if (systemId !== undefined && !isText(systemId)) throw new Refusal(400, "systemId must be a string");
  const phone = { from, to, ...(systemId === undefined ? {} : { systemId }) };
  if (hex !== undefined) return { ...phone, ...readOctets(hex, octetFields) };
  if (!isText(text)) throw new Refusal(400, "text must be a string, unless there are octets as hex");
  return { ...phone, text };
}

function readOctets(hex: unknown, { dataCoding = 0, esmClass = 0 }: Partial<Record<string, unknown>>) {
  const octets = isText(hex) ? readHex(hex) : undefined;
  if (octets === undefined || octets.length > MAX_OCTETS)
    throw new Refusal(400, `hex must be up to ${MAX_OCTETS} octets of two hexadecimal digits each`);
  if (!isOctet(dataCoding)) throw new Refusal(400, "dataCoding must be a whole number from 0 to 255");
  if (!isOctet(esmClass)) throw new Refusal(400, "esmClass must be a whole number from 0 to 255");
  return { octets, dataCoding, esmClass };
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isOctet(value: unknown): value is number {
  return typeof value === "number" && value === (value & 0xff);
}
