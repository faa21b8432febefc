/**
 * The whole service in one process and on one thread, on a data directory of its own, behind a real socket: what API tests talk
 * to. It has the sandbox's accounts; its handsets answer almost at once.
 */
import assert from "node:assert/strict";
import crypto from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCatalogueFile } from "../../src/catalogue/file.ts";
import { prepareSandbox } from "../../src/cli/sandbox.ts";
import { openStore } from "../../src/commands/open.ts";
import { Delivery } from "../../src/delivery.ts";
import { Edge } from "../../src/edge.ts";
import type { QueuedMessage } from "../../src/message/message.ts";
import { Lease } from "../../src/node/lease.ts";
import { type Clock, systemClock } from "../../src/runtime/clock.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import { keptOffsetMs, TimeTravel } from "../../src/runtime/time-travel.ts";
import { TravelClock } from "../../src/runtime/travel-clock.ts";
import { type PartialSettings, readSettings, type Settings } from "../../src/settings/settings.ts";
import { rolesOf } from "../../src/settings/words.ts";
import { callsOf, GroupCommit, type SendCall, storeOver } from "../../src/store/group.ts";
import type { CatalogueItem } from "../../src/store/port/catalogue.ts";
import type { Feed } from "../../src/store/port/delivery.ts";
import type { Store } from "../../src/store/port/store.ts";
import { refuseNulls } from "./nulls.ts";
import { PATIENT_MS } from "./patience.ts";
import { layTemplate } from "./sqlite-template.ts";
import { VirtualClock } from "./virtual-clock.ts";

export { eventually } from "./patience.ts";

type ScryptParameters = [
  password: crypto.BinaryLike,
  salt: crypto.BinaryLike,
  length: number,
  options: crypto.ScryptOptions,
  done: (error: Error | null, key: Buffer) => void,
];

/** What is kept of the sandbox's passwords, made once: each would take a tenth of a second of every service that a test starts. */
const STRONG_HASHES: Readonly<Record<string, string>> = {
  "operator-password": "scrypt$32768$8$1$tqlb2l3R25Ybl-w7cj1P7w$AiLhfXpIfX61JSRpvFf2iY0UsiMlRTnQrM0upxyK-rE",
  "reseller-password": "scrypt$32768$8$1$3_zm6jYw1Lo472xOA-3YLg$U-WtUMIJkdMNdfHY8A7uY-NFERiauyO6919ZDv6kDYc",
  "demo-password": "scrypt$32768$8$1$HujDAV7TyNLlKh9ETqK7GA$_LYB7YYkn3j40qF7dYKuNEnqSCp2MDT7O61KketiWRU",
};

/** The same at a thirty-second of the cost, which every service would have again with the first request of each account. */
const WEAK_HASHES: Readonly<Record<string, string>> = {
  "operator-password": "scrypt$1024$8$1$WV-UQA1AuOOT_YrPCeitiw$BPZhQpKYfkI5UrHmrr_dkHQTnUcpP-TYrPX6hp9O440",
  "reseller-password": "scrypt$1024$8$1$Q1UyfRU8QQwQh9J_Z9c-BQ$wMQnHZQJZDK1y4LFLaDMHTLQFjeM9h8cNgppQ22LpKY",
  "demo-password": "scrypt$1024$8$1$vE2cPxdjWYuElP-ejTYTow$_t6ZoaBG9rLNxLczNybqL5P-iH6zjuQPy69Mg84gWS0",
};

/**
 * Every password that is made or checked in this process from now on costs as little, whatever is written beside its hash: so another process would not
 * know a password that was made here.
 */
function weakenPasswords(): void {
  if (crypto.scrypt === weakScrypt) return;
  Object.assign(crypto, { scrypt: weakScrypt });
  syncBuiltinESMExports();
}

const strongScrypt = crypto.scrypt;
function weakScrypt(...[password, salt, length, options, done]: ScryptParameters): void {
  strongScrypt(password, salt, length, { ...options, N: 2 ** 10 }, done);
}

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

/** The same, read: to read it takes as long as to start, because all of TypeBox has to be there. A test sees to it that it is the same. */
export const CATALOGUE_ITEMS: readonly CatalogueItem[] = [
  { kind: "carrier", id: "simulator", body: '{"id":"simulator","kind":"simulator","answerAfterMs":10}' },
  { kind: "route", id: "", body: '{"prefix":"","carrier":"simulator"}' },
  {
    kind: "ratePlan",
    id: "standard",
    body: '{"id":"standard","currency":"EUR","rate":[{"prefix":"","price":"0.01"}]}',
  },
  { kind: "exchangeRate", id: "USD/EUR", body: '{"from":"USD","to":"EUR","rate":"0.92"}' },
];

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
  /** Whether a password costs as much as it does in earnest: where that is tested, and where real services have accounts that are made in this process. */
  readonly strongPasswords?: boolean;
  /** An existing data directory, which is then left in place. */
  readonly data?: string;
  /** A folder with a console that was built; the usual one unless given. */
  readonly consoleFolder?: string;
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

/** The same, with an embedded store that has the schema and nothing else. */
export async function storeDirectory(t: Cleanup): Promise<string> {
  const directory = await temporaryDirectory(t);
  layTemplate(directory);
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
  const { sandbox = true } = options;
  const directory = options.data ?? (await temporaryDirectory(t));
  const travels = options.clock === undefined && sandbox;
  const travel = travels ? new TravelClock(systemClock, TravelClock.memoryAt(keptOffsetMs(directory))) : null;
  const clock = travel ?? options.clock ?? systemClock;
  const { server = {}, store: storeSettings = {}, ...mode } = options.settings ?? {};
  const url = await databaseFor(t, directory);
  if (url === "") layTemplate(directory);
  const settings = readSettings({
    environment: {},
    flags: {
      // What a test's client keeps open need not be waited for when the test is over.
      server: { port: 0, stopGraceMs: 0, ...server },
      store: { statementTimeoutMs: PATIENT_MS, ...(url === "" ? {} : { url }), ...storeSettings, data: directory },
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
  const items = options.catalogue === undefined ? CATALOGUE_ITEMS : readCatalogueFile(options.catalogue);
  await store.putCatalogue({ items });
  if (options.strongPasswords !== true) weakenPasswords();
  const hashes = options.strongPasswords === true ? STRONG_HASHES : WEAK_HASHES;
  await prepareSandbox(store, async (password) => hashes[password]!);
  const delivery = new Delivery({ store, clock, random: seededRandom(1), log: silentLog, settings, sandbox, lease });
  await delivery.start(opened.overflowed);
  opened.start({
    onFeed,
    send,
    onFenced: (reason) => {
      throw new Error(reason);
    },
  });
  const before = (byMs: number) => store.moveSessions({ byMs });
  const rearmOthers = async () => undefined;
  const edge = new Edge({
    store: options.edgeStore?.(store) ?? store,
    clock,
    log: silentLog,
    settings,
    ids: opened.ids,
    sandbox: sandbox
      ? {
          write: (message) => delivery.write(message),
          network: (name, input) => delivery.network!.ask(name, input),
          travel:
            travel === null || url !== "" ? null : new TimeTravel({ clock: travel, directory, before, rearmOthers }),
        }
      : null,
    carriers: {
      facts: async () => delivery.dispatcher?.facts() ?? [],
      heard: async (carrierId, said) => delivery.dispatcher?.heard(carrierId, said) ?? false,
    },
    ...(options.consoleFolder === undefined ? {} : { consoleFolder: options.consoleFolder }),
    reportsInMemory: async () => delivery.reportsInMemory,
    metrics: { delivery: async () => delivery.metrics(), store: async () => [opened.finished.metric()] },
  });
  const address = await edge.start();
  running++;

  let stopping: Promise<void> | null = null;
  const stopAll = async (): Promise<void> => {
    await edge.stop();
    await delivery.stop();
    await group.settled();
    await opened.close();
    running--;
  };
  const stop = (): Promise<void> => {
    stopping ??= stopAll();
    return stopping;
  };
  // A test that failed has left its clock standing: what waits for a carrier's answer would then wait for ever.
  t.after(() => (clock instanceof VirtualClock ? clock.passWhile(stop()) : stop()));
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
  const json = isJson ? JSON.parse(text) : undefined;
  refuseNulls(path, response.status, json);
  return { status: response.status, headers: response.headers, text, json };
}

/** What a 401 says of the schemes that are understood: a line each, which a client may join. */
export const CHALLENGES = `Basic realm="heliograph", charset="UTF-8", ${["App", "IBSSO", "Bearer"].map((scheme) => `${scheme} realm="heliograph"`).join(", ")}`;

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

/** Why there is a 401, in the words of the answer. Wrong user and wrong password are one. */
export const WHY_UNAUTHORIZED = {
  missing: "The Authorization header is missing: it is Basic, App, IBSSO or Bearer, a space, and the credentials.",
  unreadable:
    "The Authorization header cannot be read: it must be Basic, App, IBSSO or Bearer, a space, and the credentials.",
  notBasic: "The Authorization header cannot be read: behind Basic stands username:password in base64.",
  password: "The username or the password is wrong.",
  key: "The API key is not known here: it is not complete, or was revoked. (A token stands behind IBSSO or Bearer.)",
  expired: "The API key has expired: make another one.",
  token:
    "The token is not known here, or has ended: log in again. (An API key stands behind App: Authorization: App <key>.)",
  tokenOnly: "This takes the token of a session only: log in, and send Authorization: IBSSO and the token.",
} as const;

/** The whole error object, with this reason; or with any that there is. */
export function assertUnauthorized(
  { status, json }: Pick<Answer, "status" | "json">,
  why?: keyof typeof WHY_UNAUTHORIZED,
  what = "",
): void {
  const reason: string = json.requestError.serviceException.additionalDescription;
  assert.deepEqual([status, json], [401, errorObject("UNAUTHORIZED", "Unauthorized", null, reason)], what);
  if (why === undefined)
    assert.ok((Object.values(WHY_UNAUTHORIZED) as string[]).includes(reason), `${what}: ${reason}`);
  else assert.equal(reason, WHY_UNAUTHORIZED[why], what);
}
