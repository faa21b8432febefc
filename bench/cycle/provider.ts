/**
 * The carrier of a run where it is reached over HTTP: a provider that takes every message and calls back with its receipt, at once or after a set delay. How a
 * message is read, answered and receipted is `heliograph provider`'s own code for the API; its faults, phones and records are left out, and callbacks are written
 * to sockets by hand: the provider is not what is measured.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { PROVIDERS } from "../../src/provider/apis.ts";
import type { OutCall, ProviderOutcome, ProviderState, TakenMessage } from "../../src/provider/port.ts";
import { Count, childConfig, nowMs, type RoundStart, serveParent } from "./child.ts";
import { NUMBER_PREFIX, Seen } from "./numbers.ts";
import type { CarrierBehaviour, SmscFigures } from "./smsc.ts";

export interface ProviderConfig {
  readonly preset: string;
  readonly username: string;
  readonly password: string;
  /** Which of several it is. */
  readonly load: number;
}

const { preset, username, password, load } = childConfig<ProviderConfig>();
const api = PROVIDERS[preset]!;
const settings = { username, password, secret: password };
let behaviour: CarrierBehaviour = { open: true, receipts: true };
let receiptDelayMs = 0;

/** APIs that tell of many messages in one call, by the list in it, as another Heliograph does. */
const LISTS: Readonly<Record<string, string>> = { heliograph: "results", webhook: "receipts" };
const MAX_LIST = 100;
/** Callbacks under way at a time, each on a connection of its own. */
const CALLERS = 256;

const seen = new Seen(load);
const count = new Count();
let lastId = 0;
let lastAtMs = 0;
/** Messages of which the receipt is for later. */
let held = 0;

/** No message comes twice unless something is wrong, and that is counted. */
const nothingKnown: ProviderState = { find: () => undefined, findByReference: () => undefined };
const nextId = (): string => (++lastId).toString(16).padStart(32, "0");

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const [path = "/", query = ""] = (request.url ?? "/").split("?");
    const body = (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString("utf8");
    const call = {
      method: request.method ?? "GET",
      path,
      query: new URLSearchParams(query),
      headers: request.headers,
      body,
    };
    const taken = behaviour.open ? api.take(call, nothingKnown, nextId, settings) : null;
    const { status, json, text = "" } = taken?.reply ?? api.broken();
    if (taken?.kind === "taken") take(taken.messages);
    const written = json === undefined ? text : JSON.stringify(json);
    response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(written) });
    response.end(written);
  });
});

function take(messages: readonly TakenMessage[]): void {
  lastAtMs = nowMs();
  for (const { to } of messages) seen.add(Number(to.slice(NUMBER_PREFIX.length)), lastAtMs);
  if (behaviour.receipts) tellLater(messages);
  count.set(seen.distinct, held);
  if (seen.whole) count.flush();
}

function tellLater(messages: readonly TakenMessage[]): void {
  if (receiptDelayMs === 0) {
    tell(messages);
    return;
  }
  held += messages.length;
  setTimeout(() => {
    held -= messages.length;
    count.set(seen.distinct, held);
    tell(messages);
  }, receiptDelayMs);
}

const DELIVERED: ProviderOutcome = { outcome: "delivered", code: null };
const waiting: OutCall[] = [];

function tell(messages: readonly TakenMessage[]): void {
  for (const message of messages) {
    if (message.callbackUrl !== null) waiting.push(api.receipt!(message.callbackUrl, message, DELIVERED, settings));
  }
  // What came in the same turn goes together, where the API can.
  setImmediate(callNext);
}

/** The next call; several receipts as one where the API has a list for them. */
function nextCall(): OutCall {
  const list = LISTS[preset];
  const [first, ...others] = waiting.splice(0, list === undefined ? 1 : MAX_LIST) as [OutCall, ...OutCall[]];
  if (others.length === 0) return first;
  const items = [first, ...others].flatMap(({ body }) => (JSON.parse(body) as Record<string, unknown[]>)[list!]!);
  return { ...first, body: JSON.stringify({ [list!]: items }) };
}

const idle: Caller[] = [];
let callers = 0;

function callNext(): void {
  while (waiting.length > 0) {
    const caller = idle.pop() ?? (callers < CALLERS ? new Caller(new URL(waiting[0]!.url)) : null);
    if (caller === null) return;
    caller.write(nextCall());
  }
}

const END_OF_HEAD = "\r\n\r\n";

/** A connection to the service, with one call on it at a time. */
class Caller {
  readonly #socket: Socket;
  #answer = "";

  constructor({ hostname, port }: URL) {
    callers++;
    this.#socket = connect(Number(port), hostname).setNoDelay(true);
    this.#socket.setEncoding("latin1");
    this.#socket.on("data", (chunk: string) => this.#read(chunk));
    this.#socket.on("error", () => this.#socket.destroy());
    // Between rounds the service closes what was idle for long.
    this.#socket.on("close", () => {
      callers--;
      const index = idle.indexOf(this);
      if (index >= 0) idle.splice(index, 1);
    });
  }

  write({ url, headers, body }: OutCall): void {
    const { host, pathname, search } = new URL(url);
    const named = Object.entries({ ...headers, host, "content-length": Buffer.byteLength(body) });
    const head = named.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    this.#socket.write(`POST ${pathname}${search} HTTP/1.1\r\n${head}\r\n${body}`);
  }

  #read(chunk: string): void {
    this.#answer += chunk;
    const end = this.#answer.indexOf(END_OF_HEAD);
    const length = Number(/^content-length: (\d+)/im.exec(this.#answer)?.[1] ?? 0);
    if (end < 0 || this.#answer.length < end + END_OF_HEAD.length + length) return;
    if (!this.#answer.startsWith("HTTP/1.1 2")) throw new Error(`a receipt was not taken: ${this.#answer}`);
    this.#answer = "";
    idle.push(this);
    callNext();
  }
}

server.keepAliveTimeout = 600_000;
server.listen(0, "127.0.0.1");
await once(server, "listening");

serveParent({
  port: () => (server.address() as AddressInfo).port,
  behave(wanted: CarrierBehaviour) {
    behaviour = wanted;
  },
  rest: () => undefined,
  begin({ first, count: size, countEveryMs, receiptDelayMs: delayMs }: RoundStart) {
    receiptDelayMs = delayMs;
    seen.begin(first, size);
    count.everyMs = countEveryMs;
  },
  figures: (): SmscFigures => ({
    distinct: seen.distinct,
    duplicates: seen.duplicates,
    strays: seen.strays,
    connections: 0,
    lastAtMs,
  }),
  times: () => seen.times,
});
