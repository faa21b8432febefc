/**
 * A client's server that receives delivery reports, on a real socket. How it answers can be changed at any time; it remembers every
 * request, and a test waits for the number it expects.
 */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { XMLParser } from "fast-xml-parser";
import { nullInPush } from "./nulls.ts";

export interface ReceivedReport {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The results, read from JSON or XML by the content type. From XML every value is a string. */
  readonly items: readonly ReceivedItem[];
}

/** As loose as what a client would see: a test looks at the fields it is about. */
// biome-ignore lint/suspicious/noExplicitAny: any field may be looked at
export type ReceivedItem = Record<string, any>;

export interface Tls {
  readonly key: string;
  readonly cert: string;
}

/** Answers one request, or does something worse. */
export type Answering = (request: IncomingMessage, response: ServerResponse) => void;

export function status(code: number, headers: Record<string, string> = {}, body = ""): Answering {
  return (_request, response) => {
    response.writeHead(code, headers).end(body);
  };
}

/** Never says a word. */
export const hang: Answering = () => {};

export const reset: Answering = (request) => {
  request.socket.resetAndDestroy();
};

/** Says 200 and that a body follows, and closes the connection within it. */
export const closeInBody: Answering = (request, response) => {
  response.writeHead(200, { "content-length": "1000" });
  response.write("only this much", () => request.socket.destroy());
};

/** Says a status, and then a little of its body for ever. */
export function dripBody(code: number): Answering {
  return (_request, response) => {
    response.writeHead(code);
    dripInto(response);
  };
}

/** Begins an answer whose head never ends. */
export const dripHead: Answering = (request) => {
  request.socket.write("HTTP/1.1 200 OK\r\nx-endless: ");
  dripInto(request.socket);
};

function dripInto(target: Socket | ServerResponse): void {
  const timer = setInterval(() => target.write("z"), 5);
  target.on("close", () => clearInterval(timer));
  target.on("error", () => clearInterval(timer));
}

const DEFAULT_TIMEOUT_MS = 10_000;

export class ReportReceiver {
  readonly #server: Server;
  #answering: Answering = status(200);
  #waiters: { enough: () => boolean; resolve: () => void }[] = [];
  readonly requests: ReceivedReport[] = [];
  /** Bodies that a strict client could not read. Whoever waits for more, or stops it, is told. */
  readonly #faults: string[] = [];

  readonly #connections = new Set<Socket>();
  #connectionsMade = 0;
  #mostConnections = 0;

  private constructor(tls: Tls | null) {
    const receive = (request: IncomingMessage, response: ServerResponse) => void this.#receive(request, response);
    this.#server = tls === null ? createServer(receive) : createSecureServer(tls, receive);
    this.#server.on("connection", (socket: Socket) => {
      this.#connections.add(socket);
      this.#connectionsMade++;
      this.#mostConnections = Math.max(this.#mostConnections, this.#connections.size);
      socket.on("close", () => this.#connections.delete(socket));
    });
  }

  static async start(tls: Tls | null = null): Promise<ReportReceiver> {
    const receiver = new ReportReceiver(tls);
    await new Promise<void>((resolve) => receiver.#server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/reports`;
  }

  /** Connections that are open now. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Connections since the start. */
  get connectionsMade(): number {
    return this.#connectionsMade;
  }

  /** The most that were ever open at a time. */
  get mostConnections(): number {
    return this.#mostConnections;
  }

  /** The items of all requests so far, in order. */
  get items(): readonly ReceivedItem[] {
    return this.requests.flatMap((request) => request.items);
  }

  /** From the next request on. */
  answer(answering: Answering): void {
    this.#answering = answering;
  }

  async waitForRequests(count: number, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<readonly ReceivedReport[]> {
    await this.#waitFor(() => this.requests.length >= count, `${count} requests`, timeoutMs);
    return this.requests;
  }

  async waitForItems(count: number, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<readonly ReceivedItem[]> {
    await this.#waitFor(() => this.items.length >= count, `${count} items`, timeoutMs);
    return this.items;
  }

  /** Ends connections too, whatever they wait for. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#connections) socket.destroy();
    await closed;
    if (this.#faults.length > 0) throw new Error(`a push has a null: ${this.#faults[0]}`);
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return; // the sender went away in mid-request
    }
    const body = Buffer.concat(chunks).toString();
    const type = request.headers["content-type"] ?? "";
    const fault = nullInPush(type, body);
    if (fault !== null) this.#faults.push(`${fault} in ${body.slice(0, 2_000)}`);
    const items = readItems(type, body);
    const { method = "", url: path = "", headers } = request;
    this.requests.push({ method, path, headers, body, items });
    this.#answering(request, response);
    this.#waiters = this.#waiters.filter(({ enough, resolve }) => !enough() || resolve());
  }

  #waitFor(enough: () => boolean, what: string, timeoutMs: number): Promise<void> {
    if (enough()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(
          new Error(
            `waited ${timeoutMs} ms for ${what}, got ${this.requests.length} requests, ${this.items.length} items`,
          ),
        );
      }, timeoutMs);
      const done = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#waiters.push({ enough, resolve: done });
    });
  }
}

const xml = new XMLParser({ parseTagValue: false, trimValues: false, isArray: (name) => name === "result" });

function readItems(contentType: string, body: string): readonly ReceivedItem[] {
  try {
    if (contentType.startsWith("application/xml")) {
      const { reportResponse, DeliveryReports } = xml.parse(body);
      return (reportResponse ?? DeliveryReports).results.result;
    }
    return JSON.parse(body).results;
  } catch {
    return [];
  }
}
