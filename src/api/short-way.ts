/**
 * The short way of the operations that send. Most requests of a busy service are alike: a caller who is known on its connection sends a small body of
 * JSON to one of them. Such a request needs neither Node's parser and streams nor the framework's router and hooks, which together cost it more than
 * all that is done for it at the edge.
 *
 *      octets ──known caller, plain head, small body──▶ admitted ──▶ checked ──▶ the operation's handler ──▶ answer, in one write
 *         │                                                  │
 *         └──anything else──▶ Node and the framework ◀──a body with faults
 *
 * It has no rules of its own. What admits, parses, checks, handles and answers is what the framework calls too, and whatever might be refused goes the
 * long way, which refuses it. One that was admitted already takes that along, so that it is counted once. Which octets are a request, and that its
 * answer does not overtake others, is seen to in short-connection.ts.
 */
import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import { systemClock } from "../runtime/clock.ts";
import { once } from "../runtime/lazy.ts";
import type { Settings } from "../settings/settings.ts";
import type { Account } from "../store/port/accounts.ts";
import { type AuthParts, checkAddress, checkScope, knownCaller } from "./auth.ts";
import { parseJson, SMALL_BYTES } from "./body-parsers.ts";
import { type Admitted, type ClientConnection, type NodeAnswer, RequestProgress } from "./client-connection.ts";
import type { ClientConnections } from "./client-connections.ts";
import { ACCOUNT_HEADER } from "./console/cookie.ts";
import { errorAnswer } from "./error-forms.ts";
import { type ApiError, noRoomForAnswer } from "./errors.ts";
import { checkHome, isHost } from "./headers.ts";
import type { LazySchemas } from "./lazy-schemas.ts";
import type { RateLimits } from "./rate-limits.ts";
import { type RequestHead, readHead } from "./request-head.ts";
import type { SeenHead, ShortConnection, Taker } from "./short-connection.ts";

// Not imported: see broken-requests.ts.
const { STATUS_CODES } = process.getBuiltinModule("node:http");

export interface ShortWayParts {
  readonly auth: AuthParts;
  readonly settings: Pick<Settings, "resellers">;
  readonly rateLimits: Pick<RateLimits, "takeRequest">;
  readonly connections: ClientConnections;
  readonly schemas: Pick<LazySchemas, "codeOf">;
  /** Names that the operator of a sandbox vouches for; null outside of one. */
  readonly homes: ReadonlySet<string> | null;
  /** What every answer says beside its own. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether requests may go this way just now. */
  readonly isOpen: () => boolean;
  /** For how long a connection is kept without a request. */
  readonly keepAliveMs: number;
  readonly toApiError: (error: Error, route: string) => ApiError;
  /** Whether an answer may wait in memory; and what is done before it goes out, and after it has. */
  readonly hasRoomFor: (request: FastifyRequest, answer: string) => boolean;
  readonly answering: (request: FastifyRequest, reply: FastifyReply) => void;
  readonly answered: (request: FastifyRequest, status: number, durationMs: number) => void;
}

const admitted = new WeakMap<IncomingMessage, Admitted>();

/** What the short way has done for a request; null where it has not been there. */
export function admittedBefore(request: IncomingMessage): Admitted | null {
  return admitted.get(request) ?? null;
}

type Check = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;

/** An operation that can be reached this way. */
interface Operation {
  readonly url: string;
  readonly options: FastifyRequest["routeOptions"];
  /** Its own, which make a body ready for its schema. */
  readonly prepares: readonly Check[];
  /** Those of the edge, which tell of what is odd about a body. Of one with faults that is told on the long way. */
  readonly looks: () => readonly Check[];
  /** What checks its body and writes its answer. */
  readonly code: () => {
    readonly validate: (body: unknown) => unknown;
    readonly serialize: (answer: unknown) => string;
  };
  readonly handle: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
}

/** What is read of its headers. */
interface Headers {
  readonly authorization: string;
  readonly "content-type": string;
  readonly host: string;
}

/** A request that can go this way. */
interface Wanted {
  readonly operation: Operation;
  readonly headers: Headers;
}

/** Headers that are read, and each at most once. */
const READ: ReadonlySet<string> = new Set(["accept", "authorization", "connection", "content-type", "host"]);
/** Headers with which a request goes the long way. All others say nothing to an operation that sends. */
const LONG: ReadonlySet<string> = new Set([
  ACCOUNT_HEADER,
  "content-encoding",
  "cookie",
  "idempotency-key",
  "origin",
  // Node takes it for Connection.
  "proxy-connection",
  "x-request-id",
]);
const ACCEPTED: ReadonlySet<string | undefined> = new Set([undefined, "application/json", "*/*"]);
const KEPT: ReadonlySet<string | undefined> = new Set([undefined, "keep-alive", "Keep-Alive"]);
const JSON_TYPES: ReadonlySet<string | undefined> = new Set([
  "application/json",
  "application/json; charset=utf-8",
  "application/json; charset=UTF-8",
  "application/json;charset=utf-8",
  "application/json;charset=UTF-8",
]);
/** A client writes the same head again and again, but for the length of the body. */
const MAX_SEEN = 1_000;

/** Null for one that has anything out of the usual. */
function headersOf({ fields, bodyOctets }: RequestHead): Headers | null {
  if (bodyOctets === 0) return null;
  const read: Record<string, string | undefined> = {};
  for (const [name, value] of fields) {
    if (LONG.has(name)) return null;
    if (!READ.has(name)) continue;
    if (read[name] !== undefined) return null;
    read[name] = value;
  }
  const { accept, authorization, connection, host, "content-type": type } = read;
  if (authorization === undefined || type === undefined || host === undefined || !isHost(host)) return null;
  if (!ACCEPTED.has(accept) || !JSON_TYPES.has(type) || !KEPT.has(connection)) return null;
  return { authorization, "content-type": type, host };
}

export class ShortWay implements Taker<Wanted> {
  readonly #parts: ShortWayParts;
  readonly #operations = new Map<string, Operation>();
  /** Heads of callers who are known, by their texts. */
  readonly #seen = new Map<string, SeenHead<Wanted>>();
  /** What every answer says, and what one says after which the connection stays open. */
  readonly #headers: string;
  readonly #staysOpen: string;
  #date = { second: 0, text: "" };

  constructor(parts: ShortWayParts) {
    this.#parts = parts;
    this.#headers = linesOf(Object.entries({ ...parts.headers, "cache-control": "no-store" }));
    this.#staysOpen = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(parts.keepAliveMs / 1_000)}\r\n`;
  }

  /** Told of every route, before others add to it what they look at. */
  note(route: RouteOptions): void {
    const { url, method, config, schema, handler } = route;
    if (config?.isShort !== true) return;
    const prepares = checksOf(route);
    this.#operations.set(url, {
      url,
      options: { url, method, config: { ...config, url, method }, schema } as FastifyRequest["routeOptions"],
      prepares,
      code: once(() => ({
        validate: this.#parts.schemas.codeOf("POST", url, "body"),
        serialize: this.#parts.schemas.codeOf("POST", url, "200"),
      })),
      looks: once(() => checksOf(route).filter((check) => !prepares.includes(check))),
      handle: handler as unknown as Operation["handle"],
    });
  }

  isOpen(): boolean {
    return this.#parts.isOpen();
  }

  nowMs(): number {
    return this.#parts.connections.nowMs();
  }

  /** Null for a head that cannot be read for certain. */
  read(text: string, isKnown: boolean): SeenHead<Wanted> | null {
    const before = isKnown ? this.#seen.get(text) : undefined;
    if (before !== undefined) return before;
    const head = readHead(text);
    // A connection with larger bodies than any that goes this way is Node's alone.
    if (head === null || head.bodyOctets > SMALL_BYTES) return null;
    const { octets, bodyOctets } = head;
    const seen = { octets, bodyOctets, wanted: this.#wanted(head) };
    if (!isKnown) return seen;
    if (this.#seen.size >= MAX_SEEN) this.#seen.clear();
    this.#seen.set(text, seen);
    return seen;
  }

  #wanted(head: RequestHead): Wanted | null {
    const operation = head.method === "POST" ? this.#operations.get(head.target) : undefined;
    const headers = operation === undefined ? null : headersOf(head);
    return headers === null ? null : { operation: operation!, headers };
  }

  /** A request that was let in here, as Node tells of it. */
  goesOn(request: IncomingMessage, response: NodeAnswer, connection: ClientConnection): void {
    const before = connection.admitted!;
    connection.admitted = null;
    admitted.set(request, { progress: before.progress, account: before.account });
    before.progress.answeredBy(response);
  }

  /** Takes a request that can go this way; false for one that has to go the long way. */
  take(on: ShortConnection<Wanted>, wanted: Wanted, octets: Buffer): boolean {
    const short = this.#admit(on, wanted);
    if (short === null) return false;
    short.rawBody = octets;
    if (this.#isFine(short)) {
      void this.#handle(short);
      return true;
    }
    on.connection.admitted = short;
    return false;
  }

  /** Null for one that may not come in: the long way says why. */
  #admit(on: ShortConnection<Wanted>, { operation, headers }: Wanted): ShortRequest | null {
    const { auth, settings, rateLimits, connections, homes } = this.#parts;
    const { connection, address } = on;
    const { site } = connection;
    const account = knownCaller(auth, { header: headers.authorization, address, connection });
    if (account === null) return null;
    const answer = new ShortAnswer();
    const progress = new RequestProgress(connections, connection, site, answer, operation.url, "stranger");
    const short = new ShortRequest(on, operation, headers, account, progress, answer);
    try {
      if (connections.isCrowded(null, "stranger") || connections.isCrowded(site, "stranger")) throw NO_ROOM;
      if (homes !== null) checkHome(short.asFastify, homes);
      progress.identified();
      if (connections.isCrowded(null, "caller")) throw NO_ROOM;
      checkAddress(account, address);
      checkScope(account, "send", settings.resellers);
      progress.holds(rateLimits.takeRequest(account));
      return short;
    } catch {
      progress.end();
      return null;
    }
  }

  /** Whether nothing is wrong with a body. What may be odd about it is told in a header. */
  #isFine(short: ShortRequest): boolean {
    const { operation, answer, rawBody } = short;
    const { prepares, looks, code } = operation;
    try {
      short.body = parseJson(rawBody!);
    } catch {
      return false;
    }
    for (const prepare of prepares) prepare(short.asFastify, answer.asFastify, ignore);
    if (code().validate(short.body) !== true) return false;
    for (const look of looks()) look(short.asFastify, answer.asFastify, ignore);
    return true;
  }

  async #handle(short: ShortRequest): Promise<void> {
    const { operation, answer } = short;
    let text: string;
    try {
      text = operation.code().serialize(await operation.handle(short.asFastify, answer.asFastify));
    } catch (error) {
      this.#refuse(short, error as Error);
      return;
    }
    if (this.#parts.hasRoomFor(short.asFastify, text)) this.#answer(short, 200, JSON_TYPE, text);
    else this.#refuse(short, noRoomForAnswer());
  }

  #refuse(short: ShortRequest, error: Error): void {
    const refusal = this.#parts.toApiError(error, short.operation.url);
    short.refusal = refusal;
    short.progress.refused();
    for (const [name, value] of Object.entries(refusal.details.headers ?? {})) short.answer.header(name, String(value));
    const { status, contentType, body } = errorAnswer(refusal, short.url);
    this.#answer(short, status, contentType, body);
  }

  #answer(short: ShortRequest, status: number, contentType: string, text: string): void {
    const { answer, on, progress } = short;
    const { answering, answered } = this.#parts;
    answering(short.asFastify, answer.asFastify);
    const octets = Buffer.byteLength(text);
    const isLast = answer.getHeader("connection") === "close";
    // As on the long way, where an answer of an error says nothing of its connection unless that ends.
    const stays = isLast || status !== 200 ? "" : this.#staysOpen;
    const head =
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: ${contentType}\r\n${this.#headers}` +
      `${answer.lines}content-length: ${octets}\r\nDate: ${this.#now()}\r\n${stays}\r\n`;
    answer.headersSent = true;
    const written = (): void => {
      progress.end();
      answered(short.asFastify, status, this.nowMs() - progress.startedMs);
      if (isLast) on.socket.destroySoon();
      else on.over();
    };
    if (!on.socket.writable) written();
    else on.socket.write(head + text, octets === text.length ? "latin1" : "utf8", written);
  }

  #now(): string {
    const ms = systemClock.now();
    const second = Math.floor(ms / 1_000);
    if (second !== this.#date.second) this.#date = { second, text: new Date(ms).toUTCString() };
    return this.#date.text;
  }
}

function linesOf(headers: readonly (readonly [name: string, value: string])[]): string {
  return headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
}

function checksOf({ preValidation = [] }: RouteOptions): Check[] {
  return [preValidation].flat() as Check[];
}

const NO_ROOM = new Error("there is no room for it");
const ignore = (): void => undefined;
const NO_QUERY = Object.freeze({});
const JSON_TYPE = "application/json; charset=utf-8";
const WHOLE = { complete: true } as const;
const NO_VALUE = /[^\t\x20-\x7e]/g;

/** As much of the framework's request as the operations that send, and what tells of requests, look at. */
class ShortRequest {
  readonly method = "POST";
  readonly query = NO_QUERY;
  readonly on: ShortConnection<Wanted>;
  readonly operation: Operation;
  readonly routeOptions: FastifyRequest["routeOptions"];
  readonly url: string;
  readonly originalUrl: string;
  readonly headers: Headers;
  readonly ip: string;
  readonly account: Account;
  readonly progress: RequestProgress;
  readonly answer: ShortAnswer;
  body: unknown;
  rawBody: Buffer | null = null;
  refusal: ApiError | null = null;
  rejections = null;
  odd = null;
  workDone = null;

  constructor(
    on: ShortConnection<Wanted>,
    operation: Operation,
    headers: Headers,
    account: Account,
    progress: RequestProgress,
    answer: ShortAnswer,
  ) {
    this.on = on;
    this.operation = operation;
    this.routeOptions = operation.options;
    this.url = operation.url;
    this.originalUrl = operation.url;
    this.headers = headers;
    this.ip = on.address;
    this.account = account;
    this.progress = progress;
    this.answer = answer;
  }

  get socket(): ShortConnection["socket"] {
    return this.on.socket;
  }

  get asFastify(): FastifyRequest {
    return this as unknown as FastifyRequest;
  }
}

/** As much of the framework's reply, and of Node's answer. */
class ShortAnswer implements NodeAnswer {
  readonly req = WHOLE;
  headersSent = false;
  #headers: Map<string, string> | null = null;

  get raw(): this {
    return this;
  }

  get writableEnded(): boolean {
    return this.headersSent;
  }

  /** While it is under way Node hears of nothing on its connection, so nobody waits for its end. */
  get closed(): boolean {
    return this.headersSent;
  }

  once(_: "close", tell: () => void): void {
    tell();
  }

  getHeader(name: string): string | undefined {
    return this.#headers?.get(name.toLowerCase());
  }

  header(name: string, value: string): this {
    this.#headers ??= new Map();
    this.#headers.set(name.toLowerCase(), value.replaceAll(NO_VALUE, "?"));
    return this;
  }

  /** All that were set, as they are written. */
  get lines(): string {
    return this.#headers === null ? "" : linesOf([...this.#headers]);
  }

  get asFastify(): FastifyReply {
    return this as unknown as FastifyReply;
  }
}
