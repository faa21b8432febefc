/**
 * Several nodes on one database, for tests of what they promise together: real processes that can be killed, stopped and started, or
 * services within the test. Clients send them messages that can be told apart by their text, and try again as the API's contract says.
 */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import pg from "pg";
import { readCatalogueFile } from "../../src/catalogue/file.ts";
import { openStore } from "../../src/commands/open.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { silentLog } from "../../src/runtime/log.ts";
import type { Random } from "../../src/runtime/random.ts";
import { type PartialSettings, readSettings } from "../../src/settings/settings.ts";
import type { PartRecord } from "../../src/smsc/part.ts";
import type { Smsc, SmscSettings } from "../../src/smsc/smsc.ts";
import { localStore } from "../../src/store/group.ts";
import type { Store } from "../../src/store/port/store.ts";
import { addAccount } from "./accounts.ts";
import { type Child, startChild } from "./child.ts";
import { dropLeft, postgresUrl } from "./postgres.ts";
import { basic, type Cleanup, errorObject, startTestService, type TestService } from "./service.ts";
import { startSmsc } from "./smsc.ts";

export const CARRIER = "carrier";
/** What every test's client has at first, and what a message costs: more than any test sends. */
export const OPENING_MICROS = 1_000_000_000n;
export const PRICE_MICROS = 10_000n;
const CLIENT = basic("client", "password");

/** A catalogue with one carrier that is reached by SMPP. */
export function smppCatalogue(smsc: Pick<Smsc, "port">, profile: { binds: number; window: number }): string {
  return `
[[carrier]]
id = "${CARRIER}"
kind = "smpp"
hosts = ["127.0.0.1:${smsc.port}"]
systemId = "customer"
password = "secret"
binds = ${profile.binds}
window = ${profile.window}
reconnectSeconds = 1
[[route]]
prefix = ""
carrier = "${CARRIER}"
[[ratePlan]]
id = "standard"
currency = "EUR"
rate = [{ prefix = "", price = "0.01" }]
`;
}

// --- The database ------------------------------------------------------------------------------------------------------------

export interface Database {
  readonly url: string;
  /** As the command line sees it. */
  readonly store: Store;
  query<Row>(sql: string, ...values: unknown[]): Promise<Row[]>;
  /** Opens again what the database's end has closed. */
  reopen(): Promise<void>;
}

/** Sets a database up for `serve`: an operator, a client with money, and this catalogue. `lookUrl` is where its own look goes: a failover may change that. */
export async function setUp(t: TestContext, url: string, catalogue: string, lookUrl = () => url): Promise<Database> {
  const settings = readSettings({ environment: {}, flags: { store: { url } } });
  const opened = await openStore({ settings, clock: systemClock, log: silentLog, deliver: null, name: "test" });
  const store = localStore(opened.engine, () => undefined);
  const connect = async (): Promise<pg.Client> => {
    const made = new pg.Client({ connectionString: lookUrl() });
    // The database may be stopped by the test.
    made.on("error", () => undefined);
    await made.connect();
    return made;
  };
  let client = await connect();
  t.after(async () => {
    await opened.close();
    await client.end().catch(() => undefined);
  });
  await store.claimPurpose({ purpose: "production" });
  await store.putCatalogue({ items: readCatalogueFile(catalogue) });
  await addAccount(store, { key: "OPERATOR1", kind: "operator", username: "operator" });
  await addAccount(store, { key: "CLIENT01", parentKey: null, username: "client", balanceMicros: OPENING_MICROS });
  return {
    url,
    store,
    query: async <Row>(sql: string, ...values: unknown[]) => (await client.query(sql, values)).rows as Row[],
    async reopen() {
      await client.end().catch(() => undefined);
      client = await connect();
    },
  };
}

/** A look at a database that is nobody's but the nodes'. */
export async function countIn(url: string, what: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return Number((await client.query(`SELECT count(*) FROM ${what}`)).rows[0].count);
  } finally {
    await client.end();
  }
}

export interface StoredMessage {
  readonly text: string;
  readonly key: string;
  readonly state: number;
  readonly status: number;
  readonly charged: string;
  readonly unknown: number;
}

export function storedMessages({ query }: Database): Promise<StoredMessage[]> {
  return query(`SELECT body AS text, CAST(key AS text) AS key, state, status_id AS status, CAST(charged_micros AS text) AS charged,
    unknown_count AS unknown FROM message`);
}

/** Messages without an end, and reports that were not taken yet. */
export async function unfinished({ query }: Database): Promise<number> {
  const [row] = await query<{ count: string }>(
    "SELECT (SELECT count(*) FROM message WHERE state <> 4) + (SELECT count(*) FROM report) AS count",
  );
  return Number(row!.count);
}

// --- Nodes that are processes ------------------------------------------------------------------------------------------------

export interface Node extends Child {
  readonly epoch: number;
}

/** A node of `heliograph serve`. */
export async function startNode(
  t: TestContext,
  { url, query }: Database,
  settings: { leaseMs: number; logLevel?: string; environment?: Readonly<Record<string, string>> },
): Promise<Node> {
  const child = await startChild(t, ["serve", "--port", "0"], {
    HELIOGRAPH_STORE_URL: url,
    HELIOGRAPH_NODE_LEASE_MS: String(settings.leaseMs),
    HELIOGRAPH_REPORTS_DANGEROUS_ALLOW_PRIVATE_CALLBACKS: "true",
    HELIOGRAPH_LOG_LEVEL: settings.logLevel ?? "warn",
    ...settings.environment,
  });
  const [row] = await query<{ epoch: string }>("SELECT epoch FROM node WHERE name LIKE $1", `% ${child.process.pid}`);
  assert.ok(row !== undefined, "it has joined the nodes");
  return { ...child, epoch: Number(row.epoch) };
}

/** The texts of messages that this node had, and whose submit the database does not know of. */
export async function leftInDoubt({ query }: Database, { epoch }: Pick<Node, "epoch">): Promise<Set<string>> {
  const rows = await query<{ text: string }>("SELECT body AS text FROM message WHERE state = 1 AND owner = $1", epoch);
  return new Set(rows.map(({ text }) => text));
}

// --- The network -------------------------------------------------------------------------------------------------------------

export interface WatchedSmsc {
  readonly smsc: Smsc;
  /** Every part that it took, in order. */
  readonly parts: readonly PartRecord[];
  /** The most connections that were bound at a time. */
  readonly mostBinds: () => number;
}

export async function startWatchedSmsc(t: TestContext, settings: SmscSettings = {}): Promise<WatchedSmsc> {
  const parts: PartRecord[] = [];
  let most = 0;
  const look = (): void => {
    most = Math.max(most, smsc.connections.length);
  };
  const smsc = await startSmsc(t, { answerAfterMs: 20, ...settings, onPart: (part) => parts.push(part) });
  const looking = setInterval(look, 2);
  t.after(() => clearInterval(looking));
  return { smsc, parts, mostBinds: () => most };
}

/** How often each text came, where that is more than once. */
export function sentAgain(parts: readonly PartRecord[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { text } of parts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return new Map([...counts].filter(([, count]) => count > 1));
}

// --- Clients -----------------------------------------------------------------------------------------------------------------

export interface Unavailable {
  readonly url: string;
  readonly status: number;
  readonly retryAfter: string | null;
  readonly afterMs: number;
  readonly body: unknown;
}

export interface LoadOptions {
  /** The nodes that there are at the moment. */
  readonly urls: () => readonly string[];
  readonly random: Random;
  readonly notifyUrl: string;
  readonly senders: number;
  /** Between two messages of one sender. */
  readonly pauseMs?: number;
  /** How long a client waits for an answer. */
  readonly patienceMs?: number;
}

/** Whoever is told 503, or nothing at all, asks another node, with the same key. */
const TRY_AGAIN_MS = 50;

/** Clients that send one message after the other. */
export class Load {
  readonly #options: LoadOptions;
  readonly #sending: Promise<void>;
  #stopped = false;
  /** The test is over, whatever was accepted. */
  #abandoned = false;
  #count = 0;
  /** Message ids by text, as they were answered with 200. */
  readonly accepted = new Map<string, string>();
  /** Answers of 503. */
  readonly unavailable: Unavailable[] = [];
  /** Any other answer: there should be none. */
  readonly wrong: string[] = [];

  constructor(t: TestContext, options: LoadOptions) {
    this.#options = options;
    t.after(() => {
      this.#abandoned = true;
    });
    this.#sending = Promise.all(Array.from({ length: options.senders }, () => this.#sendAll())).then(() => undefined);
  }

  /** Resolves when everything that was begun is accepted. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    const { pauseMs = 30 } = this.#options;
    while (!this.#stopped && !this.#abandoned) {
      const number = ++this.#count;
      const text = `message ${number}`;
      while (!(await this.#accepted(text, number)) && !this.#abandoned) await pause(TRY_AGAIN_MS);
      await pause(pauseMs);
    }
  }

  async #accepted(text: string, number: number): Promise<boolean> {
    const { urls, random, notifyUrl, patienceMs = 10_000 } = this.#options;
    const choice = urls();
    const url = choice[Math.floor(random.next() * choice.length)];
    if (url === undefined) return false;
    const to = `4179${String(number).padStart(7, "0")}`;
    const message = { from: "Sender", text, notifyUrl, destinations: [{ to }] };
    let response: Response;
    let body: string;
    const askedAt = performance.now();
    try {
      response = await fetch(`${url}/sms/1/text/advanced`, {
        method: "POST",
        headers: { authorization: CLIENT, "content-type": "application/json", "idempotency-key": text },
        body: JSON.stringify({ messages: [message] }),
        signal: AbortSignal.timeout(patienceMs),
      });
      body = await response.text();
    } catch {
      return false; // the node is gone, or does not answer
    }
    const { status, headers } = response;
    if (status === 503) {
      const afterMs = performance.now() - askedAt;
      this.unavailable.push({ url, status, retryAfter: headers.get("retry-after"), afterMs, body: JSON.parse(body) });
      return false;
    }
    const said = status === 200 ? JSON.parse(body).messages[0] : null;
    if (said?.status.id !== 7) this.wrong.push(`${status} ${body}`);
    else this.accepted.set(text, said.messageId);
    return true;
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What the contract says of an answer that the service cannot give now. */
export function assertUnavailable({ retryAfter, body }: Unavailable): void {
  assert.match(retryAfter ?? "", /^[1-9]\d*$/);
  const { additionalDescription } = (body as ReturnType<typeof errorObject>).requestError.serviceException;
  assert.deepEqual(
    body,
    errorObject("SERVICE_UNAVAILABLE", "Service unavailable", null, additionalDescription as string | null),
  );
}

/** Accepted is stored, once, and charged, once; and the money of all nodes together comes to that. */
export async function assertAllThere(database: Database, load: Load): Promise<StoredMessage[]> {
  assert.deepEqual(load.wrong, [], "every answer was 200 or 503");
  const stored = await storedMessages(database);
  const ids = new Map(stored.map(({ text, key }) => [text, key]));
  assert.equal(ids.size, stored.length, "no message is there twice");
  assert.deepEqual(
    [...load.accepted].filter(([text, messageId]) => ids.get(text) !== messageId),
    [],
    "what was accepted is there, under the id that was answered",
  );
  assert.equal(stored.length, load.accepted.size, "and nothing else");
  assert.deepEqual(
    stored.filter(({ charged }) => charged !== String(PRICE_MICROS)),
    [],
    "each was charged for",
  );
  const [row] = await database.query<{ balance: string }>(
    "SELECT CAST(balance_micros AS text) AS balance FROM wallet JOIN account ON account.id = account_id WHERE key = 'CLIENT01'",
  );
  assert.equal(BigInt(row!.balance), OPENING_MICROS - PRICE_MICROS * BigInt(stored.length), "once");
  assert.deepEqual(await database.store.verifyLedger(), []);
  return stored;
}

// --- Nodes within the test ---------------------------------------------------------------------------------------------------

/** So many services, each with its own connections, on one database. They have the sandbox's accounts. */
export async function startCluster(
  t: Cleanup,
  size: number,
  options: { catalogue?: string; settings?: PartialSettings; roles?: readonly string[] } = {},
): Promise<{ url: string; nodes: TestService[] }> {
  const url = await postgresUrl(t);
  const nodes: TestService[] = [];
  const { roles = [], settings = {}, ...others } = options;
  for (let index = 0; index < size; index++) {
    // A lease that outlasts any test: nobody is to be taken for dead because a machine is busy.
    const node = { leaseMs: 300_000, ...(roles[index] === undefined ? {} : { roles: roles[index] }), ...settings.node };
    nodes.push(
      await startTestService(t, { ...others, settings: { ...settings, node, store: { ...settings.store, url } } }),
    );
  }
  t.after(dropLeft);
  return { url, nodes };
}
