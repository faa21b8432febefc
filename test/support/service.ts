/**
 * The whole service in one process and on one thread, on a data directory of its own, behind a real socket: what API tests talk
 * to. It has the sandbox's accounts; its handsets answer almost at once.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCatalogueFile } from "../../src/catalogue/file.ts";
import { prepareSandbox } from "../../src/cli/sandbox.ts";
import { Delivery } from "../../src/delivery.ts";
import { Edge } from "../../src/edge.ts";
import type { QueuedMessage } from "../../src/message/message.ts";
import { type Clock, systemClock } from "../../src/runtime/clock.ts";
import { Lease } from "../../src/runtime/lease.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import { type PartialSettings, readSettings, rolesOf, type Settings } from "../../src/runtime/settings.ts";
import { callsOf, GroupCommit, type SendCall, storeOver } from "../../src/store/group.ts";
import { openStore } from "../../src/store/open.ts";
import type { Feed } from "../../src/store/port/delivery.ts";
import type { Store } from "../../src/store/port/store.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** What is kept of the sandbox's passwords, made once: each would take a tenth of a second of every service that a test starts. */
const SANDBOX_HASHES: Readonly<Record<string, string>> = {
  "operator-password": "scrypt$32768$8$1$tqlb2l3R25Ybl-w7cj1P7w$AiLhfXpIfX61JSRpvFf2iY0UsiMlRTnQrM0upxyK-rE",
  "reseller-password": "scrypt$32768$8$1$3_zm6jYw1Lo472xOA-3YLg$U-WtUMIJkdMNdfHY8A7uY-NFERiauyO6919ZDv6kDYc",
  "demo-password": "scrypt$32768$8$1$HujDAV7TyNLlKh9ETqK7GA$_LYB7YYkn3j40qF7dYKuNEnqSCp2MDT7O61KketiWRU",
};

export const CATALOGUE = `
[[carrier]]
id = "simulator"
kind = "simulator"
answerAfterMs = 10
[[route]]
prefix = ""
carrier = "simulator"
[[ratePlan]]
id = "standard"
currency = "EUR"
rate = [{ prefix = "", price = "0.01" }]
[[exchangeRate]]
from = "USD"
to = "EUR"
rate = "0.92"
`;

/** Where cleaning up is left: a test's context for one test, `{ after }` of node:test for all the tests of a file. */
export interface Cleanup {
  after(clean: () => Promise<void>): void;
}

export interface TestServiceOptions {
  readonly settings?: PartialSettings;
  readonly clock?: Clock;
  /** A catalogue file's text; the one above unless given. */
  readonly catalogue?: string;
  /** Whether it runs as a sandbox: true unless given. The sandbox's accounts are there in any case. */
  readonly sandbox?: boolean;
  /** An existing data directory, which is then left in place. */
  readonly data?: string;
  /** What the HTTP side gets in place of the store: the same one, with something in its way. */
  readonly edgeStore?: (store: Store) => Store;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: an answer is looked into by the test that knows its shape
  readonly json: any;
}

export interface CallOptions {
  /** An object is sent as JSON; a string or bytes as they are. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** The whole Authorization header; demo's Basic one unless given; null sends none. */
  readonly authorization?: string | null;
}

export interface TestService {
  readonly url: string;
  readonly store: Store;
  readonly settings: Settings;
  /** Every message that the store has handed to delivery so far, in order. */
  readonly handedOn: readonly QueuedMessage[];
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  stop(): Promise<void>;
}

export function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

export const DEMO = basic("demo", "demo-password");

export async function temporaryDirectory(t: Cleanup): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "heliograph-test-"));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** The tests of the service run on the embedded store, or with TEST_STORE=postgres on a database for each data directory. */
export const TEST_STORE = process.env.TEST_STORE ?? "sqlite";
/** By data directory. */
export const databases = new Map<string, string>();

/** What would slow a test down, or stop one whose clock stands: whoever tests these says how many. */
const UNLIMITED = {
  loginAttempts: 1_000_000,
  requestsPerSecond: 0,
  messagesPerSecond: 0,
  strangerRequestsPerSecond: 0,
  rejectedPerSecond: 0,
};

let running = 0;

/** With the last service that runs: another one may have been started on the same data. */
async function dropDatabases(): Promise<void> {
  if (TEST_STORE === "postgres" && running === 0) await (await import("./postgres.ts")).dropLeft();
}

export async function databaseFor(t: Cleanup, directory: string): Promise<string> {
  if (TEST_STORE !== "postgres") return "";
  const known = databases.get(directory);
  if (known !== undefined) return known;
  const { postgresUrl } = await import("./postgres.ts");
  const url = await postgresUrl(t);
  databases.set(directory, url);
  return url;
}

export async function startTestService(t: Cleanup, options: TestServiceOptions = {}): Promise<TestService> {
  const clock = options.clock ?? systemClock;
  const directory = options.data ?? (await temporaryDirectory(t));
  const { server = {}, store: storeSettings = {}, ...mode } = options.settings ?? {};
  const url = await databaseFor(t, directory);
  const settings = readSettings({
    environment: {},
    flags: {
      server: { port: 0, ...server },
      store: { ...(url === "" ? {} : { url }), ...storeSettings, data: directory },
    },
    // A lease that outlasts any test: under a virtual clock nobody renews it.
    mode: {
      node: { leaseMs: 300_000 },
      ...mode,
      limits: { ...UNLIMITED, ...mode.limits },
      log: { level: "silent" },
    },
  });
  const lease = new Lease();
  const opened = await openStore({
    settings,
    clock,
    log: silentLog,
    deliver: {
      lanes: { lane: settings.dispatch.laneMessages, total: settings.dispatch.memoryMessages },
      roles: rolesOf(settings),
      lease,
    },
    name: "heliograph test",
  });
  const handedOn: QueuedMessage[] = [];
  const onFeed = (feed: Feed): void => {
    handedOn.push(...feed.messages);
    delivery.take(feed);
  };
  const group = new GroupCommit(opened.engine, onFeed);
  let underWay = 0;
  const send: SendCall = (call) => {
    underWay++;
    return callsOf(group)(call).finally(() => underWay--);
  };
  if (clock instanceof VirtualClock) clock.waitFor(() => underWay === 0);
  const store = storeOver(send);
  await store.putCatalogue({ items: readCatalogueFile(options.catalogue ?? CATALOGUE) });
  await prepareSandbox(store, async (password) => SANDBOX_HASHES[password]!);
  const { sandbox = true } = options;
  const delivery = new Delivery({ store, clock, random: seededRandom(1), log: silentLog, settings, sandbox, lease });
  await delivery.start(opened.overflowed);
  opened.start({
    onFeed,
    send,
    onFenced: (reason) => {
      throw new Error(reason);
    },
  });
  const edge = new Edge({
    store: options.edgeStore?.(store) ?? store,
    clock,
    log: silentLog,
    settings,
    ids: opened.ids,
    write: sandbox ? (message) => delivery.write(message) : null,
    metrics: async () => delivery.metrics(),
  });
  const address = await edge.start();
  running++;

  let stopped = false;
  const stop = async (): Promise<void> => {
    if (stopped) return;
    stopped = true;
    await edge.stop();
    await delivery.stop();
    await group.settled();
    await opened.close();
    running--;
  };
  t.after(stop);
  t.after(dropDatabases);
  const call: TestService["call"] = (method, path, options) => callService(address, method, path, options);
  return { url: address, store, settings, handedOn, stop, call };
}

export async function callService(
  url: string,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const { body, headers = {}, authorization = DEMO } = options;
  const raw = body === undefined || typeof body === "string" || body instanceof Uint8Array;
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(authorization === null ? {} : { authorization }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) }),
    redirect: "manual",
  });
  const text = await response.text();
  // The answer to a HEAD request has the headers of a body and no body.
  const isJson = text !== "" && (response.headers.get("content-type")?.startsWith("application/json") ?? false);
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
}

/** Waits until `check` gives something, and returns it. Fails after `limitMs`, which is generous: it is a bound, not a wait. */
export async function eventually<Result>(
  check: () => Promise<Result | null | undefined | false>,
  limitMs = 15_000,
): Promise<Result> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const result = await check();
    if (result !== null && result !== undefined && result !== false) return result;
    if (performance.now() > deadline) throw new Error("what was waited for did not come");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The error object of the contract, whole. */
export function errorObject(
  messageId: string,
  text: string,
  variables: string[] | null = null,
  additionalDescription: string | null = null,
) {
  return {
    requestError: {
      clientCorrelator: null,
      serviceException: { messageId, text, variables, additionalDescription },
      variables: null,
    },
  };
}
