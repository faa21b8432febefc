/**
 * One HTTP request to a receiver, from the connection to the end of its answer. It knows nothing of reports, retries or queues:
 * it says what happened.
 */
import type { Dispatcher } from "undici";
import type { Clock, Timer } from "../runtime/clock.ts";
import { onceEach } from "../runtime/lazy.ts";
import { guardedConnector, type Resolve, resolveName } from "./connector.ts";
import type { AddressPolicy } from "./guard.ts";
import { undici } from "./undici.ts";

export interface Post {
  readonly method: "POST" | "PUT" | "GET";
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty for a GET. */
  readonly body: string;
}

export type Answer =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly retryAfter: string | null;
      /** The beginning of the answer's body, its control characters as spaces. */
      readonly excerpt: string;
      /** It came to its end, within its bounds. */
      readonly isWhole: boolean;
    }
  | { readonly kind: "unreachable"; readonly reason: string } // there was no connection
  | { readonly kind: "broken"; readonly reason: string }; // there was one, and it ended or fell silent before the answer

export interface Transport {
  /** Never rejects. `onHead` is told the headers of the answer. */
  post(post: Post, onHead?: (headers: AnswerHeaders) => void): Promise<Answer>;
  /** Nothing goes to this origin for now: its connections may be closed. */
  forget(origin: string): void;
  /** Ends all connections, requests under way included. */
  close(): Promise<void>;
}

export interface TransportSettings {
  readonly connectionsPerHost: number;
  readonly connectTimeoutMs: number;
  /** From the request to the head of its answer. */
  readonly headersTimeoutMs: number;
  /** From the head of the answer to its end, however busily it drips. */
  readonly bodyTimeoutMs: number;
  /** Of an answer longer than this the rest is not read: the connection is closed. */
  readonly answerLimitBytes: number;
  /** So much of an answer's body is kept. */
  readonly excerptBytes: number;
}

export interface TransportOptions {
  readonly clock: Clock;
  readonly settings: TransportSettings;
  readonly policy: AddressPolicy;
  readonly resolve?: Resolve;
  /** The URL of a proxy that all requests go through; it looks the names up itself. */
  readonly proxy?: string;
  /** Certificate authorities in PEM, in place of the system's. */
  readonly authority?: string;
}

export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * An idle connection is given up before common servers close it: a request that meets a closing connection would count as
 * failed, and wait a minute. A server that says how long it keeps connections (Keep-Alive: timeout=…) is believed.
 */
const IDLE_CONNECTION_MS = 1000;

export class HttpTransport implements Transport {
  readonly #options: TransportOptions;
  readonly #connect: ReturnType<typeof guardedConnector>;
  readonly #origins = new Map<string, Connections>();
  readonly #connectionsTo = onceEach(this.#origins, (): Connections => ({ idle: [], busy: new Set() }));
  #closed = false;

  constructor(options: TransportOptions) {
    this.#options = options;
    const timeoutMs = options.settings.connectTimeoutMs;
    this.#connect = guardedConnector({ resolve: resolveName, ...options, timeoutMs });
  }

  async post(post: Post, onHead?: (headers: AnswerHeaders) => void): Promise<Answer> {
    if (this.#closed) return { kind: "unreachable", reason: "stopping" };
    const connections = this.#connectionsTo(post.origin);
    const client = connections.idle.pop() ?? this.#newClient(post.origin);
    connections.busy.add(client);
    const { answer, reusable } = await new Promise<Ending>((resolve) => {
      const exchange = new Exchange(this.#options, resolve, onHead);
      const { method, path, headers, body } = post;
      client.dispatch({ origin: post.origin, method, path, headers, body: method === "GET" ? null : body }, exchange);
    });
    connections.busy.delete(client);
    if (reusable && this.#origins.get(post.origin) === connections) connections.idle.push(client);
    else client.destroy().catch(ignore);
    return answer;
  }

  forget(origin: string): void {
    const connections = this.#origins.get(origin);
    this.#origins.delete(origin);
    for (const client of connections?.idle ?? []) client.destroy().catch(ignore);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const clients = [...this.#origins.values()].flatMap(({ idle, busy }) => [...idle, ...busy]);
    this.#origins.clear();
    await Promise.all(clients.map((client) => client.destroy().catch(ignore)));
  }

  #newClient(origin: string): Dispatcher {
    const { Client, ProxyAgent } = undici();
    const { proxy, authority } = this.#options;
    if (proxy !== undefined)
      return new ProxyAgent({
        uri: proxy,
        ...(authority === undefined ? {} : { requestTls: { ca: authority } }),
        connections: 1,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
    return new Client(origin, {
      connect: this.#connect,
      keepAliveTimeout: IDLE_CONNECTION_MS,
      // Ours run by the clock, and the one for the body bounds the whole of it: undici's starts again with every byte.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }
}

/**
 * The connections to one origin, as undici's clients, one connection each; the one used last is used next. It is a Pool of our own,
 * because a Pool's client whose request was cut off connects anew at once, to no purpose, and the hosts whose requests are cut off
 * are the very ones to leave alone. How many there are is the caller's care: as many as it posts at a time.
 */
interface Connections {
  readonly idle: Dispatcher[];
  readonly busy: Set<Dispatcher>;
}

interface Ending {
  readonly answer: Answer;
  /** The answer was read to its end: the connection is ready for the next request. */
  readonly reusable: boolean;
}

/** One request and its answer, as undici tells of them. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #options: TransportOptions;
  readonly #resolve: (ending: Ending) => void;
  readonly #onHead: ((headers: AnswerHeaders) => void) | undefined;
  #timer: Timer | null = null;
  #connected = false;
  #answer: Extract<Answer, { kind: "answered" }> | null = null;
  #bodyBytes = 0;
  #excerpt = "";

  constructor(options: TransportOptions, resolve: (ending: Ending) => void, onHead?: (headers: AnswerHeaders) => void) {
    this.#options = options;
    this.#resolve = resolve;
    this.#onHead = onHead;
  }

  onRequestStart(): void {
    this.#connected = true;
    this.#limit(this.#options.settings.headersTimeoutMs, "no answer in time");
  }

  onResponseStart(_controller: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    if (status < 200) return;
    const retryAfter = headers["retry-after"];
    this.#answer = {
      kind: "answered",
      status,
      retryAfter: typeof retryAfter === "string" ? retryAfter : null,
      excerpt: "",
      isWhole: false,
    };
    this.#onHead?.(headers);
    this.#limit(this.#options.settings.bodyTimeoutMs, "no end of the answer in time");
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#bodyBytes += chunk.length;
    const { excerptBytes, answerLimitBytes } = this.#options.settings;
    if (this.#excerpt.length < excerptBytes)
      this.#excerpt += chunk.toString("latin1", 0, excerptBytes - this.#excerpt.length);
    if (this.#bodyBytes > answerLimitBytes) this.#end("the answer is too long");
  }

  onResponseEnd(): void {
    this.#end(null);
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#end(wordsFor(error));
  }

  #limit(timeoutMs: number, problem: string): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(timeoutMs, () => this.#end(problem));
  }

  /** The status decides: once it is here, it does not matter how the body ends. */
  #end(problem: string | null): void {
    this.#timer?.cancel();
    const kind = this.#connected ? "broken" : "unreachable";
    const answered =
      this.#answer === null ? null : { ...this.#answer, excerpt: readable(this.#excerpt), isWhole: problem === null };
    this.#resolve({ answer: answered ?? { kind, reason: problem ?? "no answer" }, reusable: problem === null });
  }
}

/** What was gathered an octet a character, as text that a log and a database can hold. */
function readable(excerpt: string): string {
  return Buffer.from(excerpt, "latin1")
    .toString("utf8")
    .replace(/\p{Cc}+/gu, " ");
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  EPIPE: "connection reset",
  UND_ERR_SOCKET: "connection closed before the answer",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
  ETIMEDOUT: "no connection in time",
  EHOSTUNREACH: "host unreachable",
  ENETUNREACH: "network unreachable",
  ENOTFOUND: "name not found",
  EAI_AGAIN: "name server does not answer",
  ETIMEOUT: "name server does not answer",
  ERR_TLS_CERT_ALTNAME_INVALID: "certificate of another name",
  CERT_HAS_EXPIRED: "certificate expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "certificate not trusted",
  SELF_SIGNED_CERT_IN_CHAIN: "certificate not trusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "certificate not trusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "certificate not trusted",
};

function wordsFor(error: Error & { code?: unknown }): string {
  return (typeof error.code === "string" ? (WORDS[error.code] ?? error.code) : null) ?? error.message;
}

function ignore(): void {}
