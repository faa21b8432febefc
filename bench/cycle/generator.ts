/**
 * The load. Each connection has the bytes of its request, changes the digits in it, writes it, and waits for the answer's end; answers
 * are looked at just enough to know that they are good. Two ways to run:
 *
 * - closed: a connection sends its next request when the last one is answered, but while more than `backlog` messages are
 *   under way it waits. The service is then as busy as it can be with whole cycles, and no queue grows.
 * - open: requests start at set times, whatever the answers do; one for which no connection is free waits, and its time runs.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Count, nowMs, serveParent } from "./child.ts";
import { writeCounter } from "./numbers.ts";
import type { Template } from "./requests.ts";

export interface GeneratorTarget {
  readonly port: number;
  readonly template: Template;
}

export interface GeneratorSetup {
  /** Connections are spread over them evenly, and each has one at least. */
  readonly targets: readonly GeneratorTarget[];
  /** So many requests are under way at most. */
  readonly connections: number;
}

export interface LoadOrder {
  readonly first: number;
  readonly requests: number;
  readonly backlog: number;
  /** Requests a second; null for the closed way. */
  readonly perSecond: number | null;
  readonly countEveryMs: number;
}

export interface LoadFigures {
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** When each request was to start: its intended time in the open way, the time of the write in the closed one. */
  readonly startedAtMs: Float64Array;
  readonly answeredAtMs: Float64Array;
}

const END_OF_HEAD = Buffer.from("\r\n\r\n");
/** As it ends in any spelling: Content-Length, content-length. */
const LENGTH = Buffer.from("ength: ");
const REJECTED = Buffer.from("REJECTED");
const READ_BYTES = 64 * 1024;

const count = new Count();
let connections: Connection[] = [];
let atOnce = 0;
let load: Load | null = null;

class Connection {
  readonly #port: number;
  readonly #bytes: Buffer;
  readonly #numbers: readonly number[];
  #socket: Socket;
  #head: Buffer | null = null;
  #bodyLeft = 0;
  #busy = false;
  #closed = false;
  request = 0;

  constructor({ port, template }: GeneratorTarget) {
    this.#port = port;
    this.#bytes = Buffer.from(template.bytes);
    this.#numbers = template.numbers;
    this.#socket = this.#open();
  }

  #open(): Socket {
    const socket = connect({
      host: "127.0.0.1",
      port: this.#port,
      noDelay: true,
      // One buffer for as long as the connection lives.
      onread: {
        buffer: Buffer.allocUnsafeSlow(READ_BYTES),
        callback: (length, buffer) => {
          this.#read((buffer as Buffer).subarray(0, length));
          return true;
        },
      },
    });
    socket.on("error", (error) => {
      if (this.#busy) load?.fail(error);
    });
    socket.on("close", () => {
      if (this.#busy) load?.fail(new Error("a connection was closed before the answer"));
      // A service closes connections on which nothing is said for long.
      else if (!this.#closed) this.#socket = this.#open();
    });
    return socket;
  }

  async ready(): Promise<void> {
    if (this.#socket.connecting) await once(this.#socket, "connect");
  }

  get destinations(): number {
    return this.#numbers.length;
  }

  send(request: number, first: number): void {
    this.request = request;
    this.#busy = true;
    let sequence = first + request * this.#numbers.length;
    for (const offset of this.#numbers) writeCounter(this.#bytes, offset, sequence++);
    // The bytes may be changed again when the answer is there: by then they have been sent.
    this.#socket.write(this.#bytes);
  }

  close(): void {
    this.#closed = true;
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    // A word of farewell.
    if (!this.#busy) return;
    if (chunk.includes(REJECTED)) load?.fail(new Error(`a message was rejected: ${chunk.subarray(0, 2000)}`));
    let bytes = chunk;
    if (this.#head !== null) {
      bytes = Buffer.concat([this.#head, chunk]);
      this.#head = null;
    }
    if (this.#bodyLeft > 0) {
      this.#bodyLeft -= bytes.length;
    } else {
      const end = bytes.indexOf(END_OF_HEAD);
      if (end < 0) {
        this.#head = Buffer.from(bytes);
        return;
      }
      // "HTTP/1.1 2…"
      if (bytes[9] !== 0x32) {
        load?.fail(new Error(`a request was answered: ${bytes.subarray(0, 2000)}`));
        return;
      }
      let length = 0;
      let at = bytes.indexOf(LENGTH) + LENGTH.length;
      for (; bytes[at] !== 0x0d && at < end; at++) length = length * 10 + (bytes[at]! - 0x30);
      this.#bodyLeft = length - (bytes.length - end - END_OF_HEAD.length);
    }
    if (this.#bodyLeft === 0) {
      this.#busy = false;
      load?.answered(this);
    } else if (!(this.#bodyLeft > 0)) load?.fail(new Error("an answer is longer than it says"));
  }
}

/** One round. */
class Load {
  readonly #order: LoadOrder;
  readonly #finished = Promise.withResolvers<LoadFigures>();
  readonly #startedAtMs: Float64Array;
  readonly #answeredAtMs: Float64Array;
  readonly #perRequest: number;
  /** The one that has been idle longest comes next, so that all are used. */
  readonly #idle: Connection[];
  #begunAtMs = 0;
  #sent = 0;
  #answered = 0;
  /** Messages whose cycle is over, as far as we know. */
  #done = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(order: LoadOrder) {
    this.#order = order;
    this.#startedAtMs = new Float64Array(order.requests);
    this.#answeredAtMs = new Float64Array(order.requests);
    this.#perRequest = connections[0]!.destinations;
    this.#idle = [...connections];
  }

  run(): Promise<LoadFigures> {
    this.#begunAtMs = nowMs();
    this.#start();
    return this.#finished.promise;
  }

  #start(): void {
    const { first, requests, perSecond, backlog } = this.#order;
    const atMs = nowMs();
    while (this.#sent < requests && this.#sent - this.#answered < atOnce) {
      const index = this.#sent;
      if (perSecond === null) {
        if ((index + 1) * this.#perRequest - this.#done > Math.max(backlog, this.#perRequest)) return;
        this.#startedAtMs[index] = atMs;
      } else {
        const dueAtMs = this.#begunAtMs + (index * 1000) / perSecond;
        if (dueAtMs > atMs) {
          this.#timer ??= setTimeout(() => {
            this.#timer = null;
            this.#start();
          }, dueAtMs - atMs);
          return;
        }
        this.#startedAtMs[index] = dueAtMs;
      }
      this.#sent++;
      this.#idle.shift()!.send(index, first);
    }
  }

  answered(connection: Connection): void {
    const atMs = nowMs();
    this.#answeredAtMs[connection.request] = atMs;
    this.#answered++;
    this.#idle.push(connection);
    count.set(this.#answered * this.#perRequest);
    if (this.#answered < this.#order.requests) {
      this.#start();
      return;
    }
    count.flush();
    this.#finished.resolve({
      firstAtMs: this.#begunAtMs,
      lastAtMs: atMs,
      startedAtMs: this.#startedAtMs,
      answeredAtMs: this.#answeredAtMs,
    });
    load = null;
  }

  done(messages: number): void {
    this.#done = messages;
    this.#start();
  }

  fail(error: Error): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#finished.reject(error);
    load = null;
  }
}

serveParent({
  async connect({ targets, connections: number }: GeneratorSetup) {
    atOnce = number;
    connections = Array.from(
      { length: Math.max(number, targets.length) },
      (_, index) => new Connection(targets[index % targets.length]!),
    );
    await Promise.all(connections.map((connection) => connection.ready()));
  },
  disconnect() {
    for (const connection of connections) connection.close();
    connections = [];
  },
  run(order: LoadOrder) {
    count.everyMs = order.countEveryMs;
    load = new Load(order);
    return load.run();
  },
  done: (messages: number) => load?.done(messages),
});
