/**
 * A connection that writes requests as they stand, octet by octet, and reads whatever answer comes: with a length, in chunks, or up to
 * the end. It connects again by itself when the service has closed.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface WireAnswer {
  /** 0 where the service closed without a word. */
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

const NOTHING: WireAnswer = { status: 0, headers: new Map(), body: "" };
/** How long to wait at most for what is bound to come. */
const PATIENCE_MS = 20_000;
const HEAD_END = "\r\n\r\n";

export class Wire {
  readonly #url: URL;
  #socket: Socket | null = null;
  #received: Buffer = Buffer.alloc(0);
  #ended = false;
  #wake: () => void = () => undefined;

  constructor(url: string) {
    this.#url = new URL(url);
  }

  /** Sends one request and reads its answer. `isLast` is for one that asks the service to close after it. */
  async call(request: Uint8Array, { isHead = false, isLast = false } = {}): Promise<WireAnswer> {
    if (this.#socket === null || this.#ended) await this.#connect();
    this.#socket!.write(request);
    let answer: WireAnswer | null = null;
    while (answer === null || (answer.status >= 100 && answer.status < 200)) {
      if (answer === null && this.#ended) return this.#received.length === 0 ? NOTHING : this.#cut();
      if (answer === null) await this.#more();
      answer = this.#take(isHead);
    }
    if (isLast || answer.headers.get("connection")?.toLowerCase() === "close") this.close();
    return answer;
  }

  close(): void {
    this.#socket?.destroy();
    this.#ended = true;
  }

  async #connect(): Promise<void> {
    this.#received = Buffer.alloc(0);
    this.#ended = false;
    const socket = connect({ host: this.#url.hostname, port: Number(this.#url.port), noDelay: true });
    this.#socket = socket;
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.on("error", () => undefined); // seen as an end
    await once(socket, "connect");
    socket.on("data", (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    for (const event of ["end", "close"]) {
      socket.on(event, () => {
        if (this.#socket !== socket) return;
        this.#ended = true;
        this.#wake();
      });
    }
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #cut(): never {
    throw new Error(`the connection ended within an answer: ${this.#received.toString("latin1").slice(0, 2_000)}`);
  }

  #take(isHead: boolean): WireAnswer | null {
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd < 0) return null;
    const [statusLine = "", ...lines] = this.#received.toString("latin1", 0, headEnd).split("\r\n");
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
      }),
    );
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    const start = headEnd + HEAD_END.length;
    const found = this.#bodyAt(start, status, headers, isHead);
    if (found === null) return null;
    this.#received = this.#received.subarray(found.end);
    return { status, headers, body: found.body };
  }

  #bodyAt(
    start: number,
    status: number,
    headers: ReadonlyMap<string, string>,
    isHead: boolean,
  ): { body: string; end: number } | null {
    if (isHead || status < 200 || status === 204 || status === 304) return { body: "", end: start };
    if (headers.get("transfer-encoding") === "chunked") return this.#chunksAt(start);
    const end = start + Number(headers.get("content-length"));
    return this.#received.length < end ? null : { body: this.#received.toString("utf8", start, end), end };
  }

  #chunksAt(start: number): { body: string; end: number } | null {
    const pieces: Buffer[] = [];
    for (let at = start; ; ) {
      const lineEnd = this.#received.indexOf("\r\n", at);
      if (lineEnd < 0) return null;
      const length = Number.parseInt(this.#received.toString("latin1", at, lineEnd), 16);
      const end = lineEnd + 2 + length;
      if (this.#received.length < end + 2) return null;
      if (length === 0) return { body: Buffer.concat(pieces).toString("utf8"), end: end + 2 };
      pieces.push(this.#received.subarray(lineEnd + 2, end));
      at = end + 2;
    }
  }
}
