/**
 * The short way of the operations that send. Most requests of a busy service are alike: a caller who is known on its connection sends a small body of
 * JSON to one of them. Such a request needs neither the router nor the framework's hooks, which cost it a sixth of its time at the edge.
 *
 *      request ──known caller, plain head, small body──▶ admitted ──body read──▶ checked ──▶ the operation's handler ──▶ answer
 *         │                                                                         │
 *         └──anything else────────────────────▶ the framework ◀──a body with faults─┘
 *
 * It has no rules of its own. What admits, parses, checks, handles and answers is what the framework calls too, and whatever might be refused goes the
 * long way, which refuses it. One that was admitted already takes that along, so that it is counted once.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import { once } from "../runtime/lazy.ts";
import type { Settings } from "../runtime/settings.ts";
import type { Account } from "../store/port/accounts.ts";
import { type AuthParts, checkAddress, checkScope, knownCaller } from "./auth.ts";
import { parseJson, SMALL_BYTES } from "./body-parsers.ts";
import { type ClientConnection, MAX_PIPELINED, RequestProgress } from "./client-connection.ts";
import type { ClientConnections } from "./client-connections.ts";
import { ACCOUNT_HEADER } from "./console/cookie.ts";
import { errorAnswer } from "./error-forms.ts";
import { type ApiError, noRoomForAnswer } from "./errors.ts";
import { checkHome, isHost } from "./headers.ts";
import type { LazySchemas } from "./lazy-schemas.ts";
import type { RateLimits } from "./rate-limits.ts";

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
  /** The long way. */
  readonly dispatch: (request: IncomingMessage, response: ServerResponse) => void;
  readonly toApiError: (error: Error, route: string) => ApiError;
  /** Whether an answer may wait in memory; and what is done before it goes out, and after it has. */
  readonly hasRoomFor: (request: FastifyRequest, answer: string) => boolean;
  readonly answering: (request: FastifyRequest, reply: FastifyReply) => void;
  readonly answered: (request: FastifyRequest, status: number, durationMs: number) => void;
}

/** A request that was admitted on the short way, and goes the long way from there. */
interface Admitted {
  readonly progress: RequestProgress;
  readonly account: Account;
  readonly body: Buffer;
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

/** What is read of a head. */
interface Head {
  readonly authorization: string;
  readonly "content-type": string;
  readonly host: string;
  readonly octets: number;
}

/** Headers that are read, and each at most once. */
const READ: ReadonlySet<string> = new Set(["accept", "authorization", "content-length", "content-type", "host"]);
/** Headers with which a request goes the long way. All others say nothing to an operation that sends. */
const LONG: ReadonlySet<string> = new Set([
  ACCOUNT_HEADER,
  "content-encoding",
  "cookie",
  "expect",
  "idempotency-key",
  "origin",
  "transfer-encoding",
  "upgrade",
  "x-request-id",
]);
const ACCEPTED: ReadonlySet<string | undefined> = new Set([undefined, "application/json", "*/*"]);
const JSON_TYPES: ReadonlySet<string | undefined> = new Set([
  "application/json",
  "application/json; charset=utf-8",
  "application/json; charset=UTF-8",
  "application/json;charset=utf-8",
  "application/json;charset=UTF-8",
]);
/** Spellings of names that were seen, in lower case: a client spells them alike each time. */
const MAX_SPELLINGS = 1_000;
const spellings = new Map<string, string>();

function lowerCase(name: string): string {
  const known = spellings.get(name);
  if (known !== undefined) return known;
  if (spellings.size >= MAX_SPELLINGS) spellings.clear();
  const lower = name.toLowerCase();
  spellings.set(name, lower);
  return lower;
}

/** Null for one that has anything out of the usual. Not by `headers`, which Node makes when it is first asked for. */
function readHead({ rawHeaders }: IncomingMessage): Head | null {
  const read: Record<string, string | undefined> = { accept: undefined };
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = lowerCase(rawHeaders[at]!);
    if (LONG.has(name)) return null;
    if (!READ.has(name)) continue;
    if (read[name] !== undefined) return null;
    read[name] = rawHeaders[at + 1]!;
  }
  const { accept, authorization, host, "content-type": type, "content-length": length = "" } = read;
  const octets = /^\d{1,6}$/.test(length) ? Number(length) : 0;
  if (octets === 0 || octets > SMALL_BYTES) return null;
  if (authorization === undefined || type === undefined || host === undefined || !isHost(host)) return null;
  if (!ACCEPTED.has(accept) || !JSON_TYPES.has(type)) return null;
  return { authorization, "content-type": type, host, octets };
}

export class ShortWay {
  readonly #parts: ShortWayParts;
  readonly #operations = new Map<string, Operation>();
  /** The headers of an answer, as Node writes them, up to its length. */
  readonly #head: readonly string[];

  constructor(parts: ShortWayParts) {
    this.#parts = parts;
    const headers = {
      "content-type": "application/json; charset=utf-8",
      ...parts.headers,
      "cache-control": "no-store",
    };
    this.#head = [...Object.entries(headers).flat(), "content-length"];
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

  /** Takes a request that can go this way; false for one that has to go the long way. */
  take(request: IncomingMessage, response: ServerResponse, connection: ClientConnection): boolean {
    const operation = this.#operations.get(request.url!);
    if (operation === undefined || request.method !== "POST" || request.httpVersion !== "1.1") return false;
    if (connection.caller === null || connection.underWay.length >= MAX_PIPELINED || !this.#parts.isOpen())
      return false;
    const head = readHead(request);
    if (head === null) return false;
    const short = this.#admit(request, response, connection, operation, head);
    if (short === null) return false;
    this.#read(short, head.octets);
    return true;
  }

  /** Null for one that may not come in: the long way says why. */
  #admit(
    raw: IncomingMessage,
    response: ServerResponse,
    connection: ClientConnection,
    operation: Operation,
    head: Head,
  ): ShortRequest | null {
    const { auth, settings, rateLimits, connections, homes } = this.#parts;
    const { site } = connection;
    const address = raw.socket.remoteAddress ?? "";
    const account = knownCaller(auth, { header: head.authorization, address, connection });
    if (account === null) return null;
    const progress = new RequestProgress(connections, connection, site, response, operation.url, "stranger");
    const short = new ShortRequest(raw, operation, head, address, account, progress);
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

  #read(short: ShortRequest, octets: number): void {
    const { raw } = short;
    const chunks: Buffer[] = [];
    raw.on("data", (chunk: Buffer) => chunks.push(chunk));
    raw.on("end", () => {
      short.rawBody = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, octets);
      void this.#handle(short, short.rawBody);
    });
    // One that nobody listens for ends the process.
    raw.on("error", ignore);
    const { progress } = short;
    const { response, startedMs } = progress;
    response.on("close", () => {
      if (admitted.has(raw)) return;
      progress.end();
      const status = short.rawBody === null ? NOT_WHOLE : response.statusCode;
      this.#parts.answered(short.asFastify, status, this.#parts.connections.nowMs() - startedMs);
    });
  }

  async #handle(short: ShortRequest, body: Buffer): Promise<void> {
    const { operation, progress, raw } = short;
    const { response } = progress;
    const reply = new ShortReply(response);
    if (!this.#isFine(short, reply, body)) {
      admitted.set(raw, { progress, account: short.account, body });
      this.#parts.dispatch(raw, response);
      return;
    }
    let text: string;
    try {
      text = operation.code().serialize(await operation.handle(short.asFastify, reply.asFastify));
    } catch (error) {
      this.#refuse(short, reply, error as Error);
      return;
    }
    if (!this.#parts.hasRoomFor(short.asFastify, text)) {
      this.#refuse(short, reply, noRoomForAnswer());
      return;
    }
    this.#parts.answering(short.asFastify, reply.asFastify);
    if (!response.destroyed) response.writeHead(200, [...this.#head, String(Buffer.byteLength(text))]).end(text);
  }

  /** Whether nothing is wrong with a body. What may be odd about it is told in a header. */
  #isFine(short: ShortRequest, reply: ShortReply, body: Buffer): boolean {
    const { prepares, looks, code } = short.operation;
    try {
      short.body = parseJson(body);
    } catch {
      return false;
    }
    for (const prepare of prepares) prepare(short.asFastify, reply.asFastify, ignore);
    if (code().validate(short.body) !== true) return false;
    for (const look of looks()) look(short.asFastify, reply.asFastify, ignore);
    return true;
  }

  #refuse(short: ShortRequest, reply: ShortReply, error: Error): void {
    const { response } = short.progress;
    const refusal = this.#parts.toApiError(error, short.operation.url);
    short.refusal = refusal;
    short.progress.refused();
    // As on the long way, where an answer of an error says nothing of its connection unless that ends.
    response.removeHeader("connection");
    this.#parts.answering(short.asFastify, reply.asFastify);
    if (response.destroyed) return;
    const { status, contentType, body } = errorAnswer(refusal, short.url);
    const headers = { ...this.#parts.headers, "cache-control": "no-store", ...refusal.details.headers };
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value as string);
    response.setHeader("content-type", contentType);
    response.setHeader("content-length", Buffer.byteLength(body));
    response.writeHead(status).end(body);
  }
}

function checksOf({ preValidation = [] }: RouteOptions): Check[] {
  return [preValidation].flat() as Check[];
}

const NO_ROOM = new Error("there is no room for it");
/** What is noted of a request whose client went away before its body had come. */
const NOT_WHOLE = 400;
const ignore = (): void => undefined;
const NO_QUERY = Object.freeze({});

/** As much of the framework's request as the operations that send, and what tells of requests, look at. */
class ShortRequest {
  readonly method = "POST";
  readonly query = NO_QUERY;
  readonly raw: IncomingMessage;
  readonly operation: Operation;
  readonly routeOptions: FastifyRequest["routeOptions"];
  readonly url: string;
  readonly originalUrl: string;
  readonly headers: Head;
  readonly ip: string;
  readonly account: Account;
  readonly progress: RequestProgress;
  body: unknown;
  rawBody: Buffer | null = null;
  refusal: ApiError | null = null;
  rejections = null;
  odd = null;
  workDone = null;

  constructor(
    raw: IncomingMessage,
    operation: Operation,
    headers: Head,
    ip: string,
    account: Account,
    progress: RequestProgress,
  ) {
    this.raw = raw;
    this.operation = operation;
    this.routeOptions = operation.options;
    this.url = operation.url;
    this.originalUrl = operation.url;
    this.headers = headers;
    this.ip = ip;
    this.account = account;
    this.progress = progress;
  }

  get socket(): IncomingMessage["socket"] {
    return this.raw.socket;
  }

  get asFastify(): FastifyRequest {
    return this as unknown as FastifyRequest;
  }
}

/** As much of the framework's reply. */
class ShortReply {
  readonly raw: ServerResponse;

  constructor(raw: ServerResponse) {
    this.raw = raw;
  }

  getHeader(name: string): unknown {
    return this.raw.getHeader(name);
  }

  header(name: string, value: string): this {
    this.raw.setHeader(name, value);
    return this;
  }

  get asFastify(): FastifyReply {
    return this as unknown as FastifyReply;
  }
}
