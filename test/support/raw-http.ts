/**
 * A client that speaks HTTP by hand: it writes whatever a test wants, well formed or not, and reads answers one by one. For what no
 * decent client library can be made to send.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { PATIENT_MS } from "./patience.ts";

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export class RawClient {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #ended = false;
  /** What went wrong with the connection, such as ECONNRESET; null when nothing did. */
  failure: string | null = null;
  #wake: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setTimeout(PATIENT_MS, () => socket.destroy(new Error("nothing happened on the connection")));
    socket.on("data", (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    // A test sees what did not arrive; whoever wants to know why looks at `failure`.
    socket.on("error", (error: NodeJS.ErrnoException) => {
      this.failure = error.code ?? error.message;
    });
    for (const event of ["end", "close"]) {
      socket.on(event, () => {
        this.#ended = true;
        this.#wake();
      });
    }
  }

  /** One that is stubborn does not close its side when the service has closed its own. */
  static async connect(url: string, { stubborn = false } = {}): Promise<RawClient> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: stubborn });
    await once(socket, "connect");
    return new RawClient(socket);
  }

  /** Resolves when the system has taken all of it; rejects when the other side has closed meanwhile. */
  write(data: string | Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.write(data, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Reads nothing until `resume`: what comes waits in the system's buffers. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** We say nothing more, and still listen. */
  end(): void {
    this.#socket.end();
  }

  /** Closes the connection, whatever is still to come. */
  destroy(): void {
    this.#socket.destroy();
  }

  /** Goes away without a word, as a phone that loses its network: the other side gets a reset. */
  vanish(): void {
    this.#socket.resetAndDestroy();
  }

  /** The next answer. `head` is for the answer to a HEAD request, which has no body whatever its length says. */
  async answer({ head = false } = {}): Promise<RawAnswer> {
    for (;;) {
      const answer = this.#take(head);
      if (answer !== null) return answer;
      if (this.#ended) throw new Error(`the connection ended within an answer: ${this.#received}`);
      await this.#more();
    }
  }

  /** Waits until the service has closed; gives what came that nobody has read. */
  async closed(): Promise<string> {
    while (!this.#ended) await this.#more();
    return this.#received.toString("latin1");
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #take(head: boolean): RawAnswer | null {
    const headEnd = this.#received.indexOf("\r\n\r\n");
    if (headEnd < 0) return null;
    const [statusLine = "", ...lines] = this.#received.toString("latin1", 0, headEnd).split("\r\n");
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
      }),
    );
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    const length = head || status < 200 || status === 204 ? 0 : Number(headers.get("content-length"));
    const bodyStart = headEnd + 4;
    if (this.#received.length < bodyStart + length) return null;
    const body = this.#received.toString("utf8", bodyStart, bodyStart + length);
    this.#received = this.#received.subarray(bodyStart + length);
    return { status, headers, body };
  }
}

/** A request with these headers, and a body whose length it names. */
export function rawRequestText(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string | null = null,
): string {
  const lines = Object.entries({ host: "localhost", ...headers }).map(([name, value]) => `${name}: ${value}`);
  const length = body === null ? [] : [`content-length: ${Buffer.byteLength(body)}`];
  return [`${method} ${path} HTTP/1.1`, ...lines, ...length, "", body ?? ""].join("\r\n");
}

/** One request on a connection of its own, written as it stands; the service's answer. */
export async function rawCall(url: string, request: string | Uint8Array): Promise<RawAnswer> {
  const client = await RawClient.connect(url);
  try {
    await client.write(request);
    return await client.answer();
  } finally {
    client.destroy();
  }
}
