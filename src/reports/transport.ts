/**
 * One HTTP request to a receiver, from the connection to the end of its answer. It knows nothing of reports, retries or queues:
 * it says what happened.
 */
import { type Dispatcher, Pool } from "undici";
import type { Clock, Timer } from "../runtime/clock.ts";
import { guardedConnector, type Resolve, resolveName } from "./connector.ts";
import type { AddressPolicy } from "./guard.ts";

export interface Post {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Answer =
  | { readonly kind: "answered"; readonly status: number; readonly retryAfter: string | null }
  | { readonly kind: "unreachable"; readonly reason: string } // there was no connection
  | { readonly kind: "broken"; readonly reason: string }; // there was one, and it ended or fell silent before the answer

export interface Transport {
  /** Never rejects. */
  post(post: Post): Promise<Answer>;
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
}

/**
 * An idle connection is given up before common servers close it: a request that meets a closing connection would count as
 * failed, and wait a minute. A server that says how long it keeps connections (Keep-Alive: timeout=…) is believed.
 */
const IDLE_CONNECTION_MS = 1000;

export class HttpTransport implements Transport {
  readonly #clock: Clock;
  readonly #settings: TransportSettings;
  readonly #connect: ReturnType<typeof guardedConnector>;
  readonly #pools = new Map<string, Pool>();

  constructor(options: { clock: Clock; settings: TransportSettings; policy: AddressPolicy; resolve?: Resolve }) {
    this.#clock = options.clock;
    this.#settings = options.settings;
    this.#connect = guardedConnector({
      policy: options.policy,
      resolve: options.resolve ?? resolveName,
      timeoutMs: options.settings.connectTimeoutMs,
    });
  }

  post(post: Post): Promise<Answer> {
    return new Promise((resolve) => {
      const exchange = new Exchange(this.#clock, this.#settings, resolve);
      this.#poolOf(post.origin).dispatch(
        { method: "POST", path: post.path, headers: post.headers, body: post.body },
        exchange,
      );
    });
  }

  forget(origin: string): void {
    const pool = this.#pools.get(origin);
    this.#pools.delete(origin);
    pool?.destroy().catch(ignore);
  }

  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy().catch(ignore)));
  }

  #poolOf(origin: string): Pool {
    let pool = this.#pools.get(origin);
    if (pool === undefined) {
      pool = new Pool(origin, {
        connections: this.#settings.connectionsPerHost,
        pipelining: 1,
        connect: this.#connect,
        keepAliveTimeout: IDLE_CONNECTION_MS,
        // Ours run by the clock, and the one for the body bounds the whole of it: undici's starts again with every byte.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      this.#pools.set(origin, pool);
    }
    return pool;
  }
}

/** What undici calls back with in the course of one request. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #clock: Clock;
  readonly #settings: TransportSettings;
  readonly #settle: (answer: Answer) => void;
  #timer: Timer | null = null;
  #connected = false;
  #answer: Answer | null = null;
  #bodyBytes = 0;

  constructor(clock: Clock, settings: TransportSettings, settle: (answer: Answer) => void) {
    this.#clock = clock;
    this.#settings = settings;
    this.#settle = settle;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#connected = true;
    this.#limit(controller, this.#settings.headersTimeoutMs, "no answer in time");
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    const retryAfter = headers["retry-after"];
    this.#answer = { kind: "answered", status, retryAfter: typeof retryAfter === "string" ? retryAfter : null };
    this.#limit(controller, this.#settings.bodyTimeoutMs, "the answer did not end in time");
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > this.#settings.answerLimitBytes) controller.abort(new Error("the answer is too long"));
  }

  onResponseEnd(): void {
    this.#end(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(error);
  }

  /** The status decides: once it is here, it does not matter how the body ends. */
  #end(error: Error | null): void {
    this.#timer?.cancel();
    this.#settle(
      this.#answer ?? {
        kind: this.#connected ? "broken" : "unreachable",
        reason: error === null ? "no answer" : wordsFor(error),
      },
    );
  }

  #limit(controller: Dispatcher.DispatchController, timeoutMs: number, reason: string): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(timeoutMs, () => controller.abort(new Error(reason)));
  }
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
};

function wordsFor(error: Error & { code?: unknown }): string {
  return (typeof error.code === "string" ? (WORDS[error.code] ?? error.code) : null) ?? error.message;
}

function ignore(): void {}
