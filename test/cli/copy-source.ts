/** A store with every kind of row in it, made through its own commands; and what is in a store, table by table. */
import { join } from "node:path";
import type { TestContext } from "node:test";
import Database from "better-sqlite3";
import pg from "pg";
import { RULES } from "../../src/commands/table.ts";
import { COPIED } from "../../src/copy/copied-tables.ts";
import { localStore } from "../../src/store/group.ts";
import { PURGE_START } from "../../src/store/port/delivery.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { replayJournal } from "../../src/store/sqlite/journal.ts";
import { Bench, CARRIER, HOUR } from "../store/harness.ts";
import { openEngine } from "../support/nodes.ts";
import { temporaryDirectory } from "../support/service.ts";

/** When the API key ends: after everything that a test does. */
export const KEY_EXPIRES_AT_MS = Date.UTC(2100, 0, 1);

export const INBOX = "12345";
export const REPLAYED = { key: "idempotent", bulk: true, bodyHash: "hash of the body" };
const URL_A = "http://127.0.0.1:1/a";
const PUSHED = "41799999999";
const PHONE = "41790000001";
const DAY = 24 * HOUR;
const LANES = { lane: 4, total: 100 };

export interface Moving {
  readonly bench: Bench;
  readonly directory: string;
  /** What the bench is opened on from its next restart on. */
  moveTo(place: string | { readonly directory: string }): void;
}

/** A bench on SQLite that goes on on PostgreSQL. */
export async function startMoving(t: TestContext): Promise<Moving> {
  const directory = await temporaryDirectory(t);
  let place: string | { readonly directory: string } = { directory };
  const bench = await Bench.start(
    t,
    async () => ({
      async open(clock, lanes, onFeed) {
        if (typeof place === "object") {
          const engine = new SqliteEngine({ rules: RULES, ...place, clock, lanes, mode: "deliver" });
          const store = localStore(engine, onFeed);
          return { store, ids: engine.ids, overflowed: engine.overflowedLanes(), close: async () => engine.close() };
        }
        const engine = await openEngine(place, { clock, lanes });
        const store = localStore(engine, onFeed);
        return { store, ids: engine.ids, overflowed: await engine.overflowedLanes(), close: () => engine.close() };
      },
    }),
    { lanes: LANES },
  );
  return {
    bench,
    directory,
    moveTo(to) {
      place = to;
    },
  };
}

export interface Made {
  /** The carrier's name for the second part of a message of which only the first has arrived. */
  readonly openPart: string;
  /** The first answer to the request with REPLAYED. */
  readonly answer: { readonly firstKey: string; readonly bulkId: string; readonly statusIds: readonly number[] };
  readonly queued: number;
}

/** Leaves the bench closed, as a service that was killed: messages and reports are still owned. */
export async function fillAndKill(bench: Bench): Promise<Made> {
  const { store } = bench;
  await store.claimPurpose({ purpose: "production" });
  await store.putCatalogue({
    items: [
      { kind: "number", id: INBOX, body: JSON.stringify({ number: INBOX, account: "CLIENT", stopKeywords: ["STOP"] }) },
      { kind: "number", id: PUSHED, body: JSON.stringify({ number: PUSHED, account: "CLIENT", forwardUrl: URL_A }) },
      { kind: "carrier", id: CARRIER, body: JSON.stringify({ id: CARRIER, kind: "simulator" }) },
    ],
  });
  await store.createAccount({
    key: "DOLLARS",
    kind: "client",
    parentKey: "RESELLER",
    currency: "USD",
    ratePlanId: "standard",
    defaultSender: "Ü\0 nul",
    creditLimitMicros: 9_007_199_254_740_993n, // more than a double can say
    openingBalanceMicros: 3n,
    callbackSecret: "whsec_USD=",
    retryMinutes: [1, 5, 30],
    username: "dollars",
    passwordHash: "hash",
    by: { name: "operator", address: "192.0.2.1" },
    atMs: bench.clock.now(),
  });
  await store.rotateCallbackSecret({ accountKey: "CLIENT", secret: "whsec_new=" });
  const login = { accountId: bench.resellerId, username: "reseller", withFactor: false, nowMs: bench.clock.now() };
  const event = { action: "open", username: "reseller", address: "192.0.2.1", facts: {} } as const;
  await store.createSession({ tokenHash: "token", ...login, event });
  const by = { by: { name: "RESELLER", address: null }, atMs: bench.clock.now() };
  await store.beginSecondFactor({ username: "reseller", secret: "GEZDGNBV", ...by });
  const factor = { username: "reseller", begunAtMs: bench.clock.now(), step: 7, keepTokenHash: "token" };
  await store.confirmSecondFactor({ ...factor, recoveryHashes: ["one", "two"], ...by });
  const key = { keyHash: "hash of a key", name: null, atMs: bench.clock.now() };
  await store.createApiKey({
    ...key,
    id: "one",
    accountKey: "CLIENT",
    scopes: ["send"],
    expiresAtMs: KEY_EXPIRES_AT_MS,
    allowedAddresses: ["192.0.2.0/24"],
  });
  await store.optOut({ accountKey: null, number: "41790000666", atMs: bench.clock.now() });
  await store.optOut({ accountKey: "CLIENT", number: "41790000667", atMs: bench.clock.now() });
  await store.fund({
    resellerId: bench.resellerId,
    accountKey: "CLIENT",
    amountMicros: 5_000_000n,
    currency: null,
    ratesMicros: {},
    description: "invoice",
    replay: { key: "funds", bulk: false, bodyHash: "hash" },
    atMs: bench.clock.now(),
  });
  await makePins(bench);
  await retireOne(bench);
  const answer = await sendAll(bench);
  const openPart = await submitSome(bench);
  await planBulks(bench);
  await makeReports(bench);
  await receiveFromPhones(bench);
  await store.keepTrace({
    notes: [{ subject: "1", atMs: bench.clock.now(), kind: "request", detail: '{"door":"json"}' }],
  });
  const queued = 7;
  await bench.accept(
    Array.from({ length: queued }, (_, index) => bench.message({ clientMessageId: `queued ${index}` })),
    { text: "with a NUL \0 in it", shownText: "what people see", callbackData: 'quotes " \\ and {braces}' },
    { bulkId: "queue" },
  );
  bench.takeMessages();
  await bench.close();
  return { openPart, answer, queued };
}

/** An application with a PIN that was sent and tried, and its message with a text of two kinds. */
async function makePins({ store, accountId, clock }: Bench): Promise<void> {
  const [applicationId, templateId, pinId] = ["A", "B", "C"].map((letter) => letter.repeat(32)) as [
    string,
    string,
    string,
  ];
  const atMs = clock.now();
  const application = { name: "Login", configuration: { pinAttempts: 3 } };
  await store.putPinApplication({ accountId, id: applicationId, change: application, secret: "secret", atMs });
  const template = { text: "{{pin}} {{name}}", pinType: "HEX", senderId: "Login", kept: { language: "en" } } as const;
  await store.putPinTemplate({ accountId, applicationId, id: templateId, change: template, isNew: true, atMs });
  const first = { applicationId, templateId, to: PHONE };
  await store.sendPin({ accountId, pinId, first, from: "x1", placeholders: { name: "Ünn" }, nowMs: atMs });
  await store.verifyPin({ accountId, pinId, pin: "none", nowMs: atMs });
}

/** Its charge stays when the message has left. */
async function retireOne(bench: Bench): Promise<void> {
  await bench.accept([bench.message({ clientMessageId: "gone" })], { notifyUrl: URL_A });
  const messages = bench.takeMessages();
  await bench.submit(messages);
  await bench.receive(bench.receipt(`${messages[0]!.key}.1`));
  await bench.store.reportsDelivered({ ids: bench.takeReports().map(({ id }) => id) });
  await bench.clock.advance(3 * DAY);
  const nowMs = bench.clock.now();
  await bench.store.purgeMessages({ beforeMs: nowMs - DAY, nowMs, limit: 10, cursor: PURGE_START });
}

/** Accepted under a name, rejected under the same, and delivered with reports that wait to be fetched. */
async function sendAll(bench: Bench): Promise<Made["answer"]> {
  const acceptance = bench.acceptance(
    [bench.message({ clientMessageId: "mine" }), bench.message({ to: "41790000666" })],
    {},
    { bulkId: "first", replay: REPLAYED },
  );
  const answer = await bench.store.accept(acceptance);
  if (answer.kind !== "accepted") throw new Error(answer.kind);
  await bench.accept([bench.message({ clientMessageId: "mine" }), bench.message({ clientMessageId: "no route" })]);
  await bench.accept([bench.message({ clientMessageId: "no route", rejectedStatusId: 52 })]);
  await bench.accept(
    [bench.message({ clientMessageId: "with a link" })],
    { text: "https://go.example/l/00000000000" },
    {
      links: {
        contents: new Map([[0, [{ code: "00000000000", target: "https://shop.example/" }]]]),
        trackingUrl: URL_A,
      },
    },
  );
  const messages = bench.takeMessages();
  await bench.submit(messages);
  await bench.receive(...messages.map(({ key }) => bench.receipt(`${key}.1`)));
  await bench.clock.advance(DAY);
  return answer;
}

/** One message of two parts, of which one has arrived; and receipts that match nothing. */
async function submitSome(bench: Bench): Promise<string> {
  await bench.accept([bench.message()], { partCount: 2, text: "long" });
  const [message] = bench.takeMessages();
  await bench.submit([message!]);
  await bench.receive(bench.receipt(`${message!.key}.1`), bench.receipt("nobody's", "undeliverable", 27));
  await bench.receive(bench.receipt(`${message!.key}.1`, "undeliverable", 27));
  return `${message!.key}.2`;
}

async function planBulks(bench: Bench): Promise<void> {
  const now = bench.clock.now();
  const later = { sendAtMs: now + 2 * HOUR, dueAtMs: now + 2 * HOUR, expiresAtMs: now + 9 * HOUR };
  for (const bulkId of ["open", "paused", "canceled", "moved"]) {
    const messages = [bench.message({ clientMessageId: `${bulkId} 1` }), bench.message()];
    await bench.accept(messages, later, { bulkId, replay: { key: null, bulk: true, bodyHash: bulkId } });
  }
  const { accountId, store } = bench;
  await store.setBulkStatus({ accountId, bulkId: "paused", status: "PAUSED" });
  await store.setBulkStatus({ accountId, bulkId: "canceled", status: "CANCELED" });
  // One message has followed its bulk and was refunded, the other has yet to.
  await store.claimDue({ nowMs: now, limit: 1 });
  await store.moveBulk({ accountId, bulkId: "moved", sendAtMs: now + 5 * HOUR, nowMs: now });
}

/** Reports that are due, dead, held in memory, and behind another one. */
async function makeReports(bench: Bench): Promise<void> {
  for (const end of ["due", "dead", "held"] as const) {
    await bench.accept([bench.message()], { notifyUrl: `${URL_A}/${end}`, intermediateReport: true });
    const [message] = bench.takeMessages();
    await bench.submit([message!]);
    await bench.receive(bench.receipt(`${message!.key}.1`, "held", 27));
    const [batch] = bench.takeReports();
    if (end === "held") continue;
    const attempt = { atMs: bench.clock.now(), status: 500, durationMs: 3, reason: "answered 500", excerpt: "no" };
    const retryAtMs = end === "dead" ? null : bench.clock.now() + HOUR;
    const failure = { id: batch!.id, attempts: 21, retryAtMs, reason: "answered 500", attempt };
    await bench.store.reportsFailed({ failures: [failure] });
  }
}

async function receiveFromPhones(bench: Bench): Promise<void> {
  const nowMs = bench.clock.now();
  const part = (text: string, to = INBOX) => ({ from: PHONE, to, text, concatenation: null, atMs: nowMs });
  const long = (reference: number, sequence: number) => ({
    ...part(`part ${sequence} \ud83d`),
    concatenation: { reference, total: 2, sequence },
  });
  const octets = { charset: "binary", hex: "00ff", dataCoding: 4, header: "" } as const;
  const parts = [
    { ...part("hello"), carrierMessageId: "its own" },
    { ...part("00ff"), octets },
    part("to nobody", "99999"),
    part("pushed", PUSHED),
    long(7, 1),
    long(7, 2),
    long(8, 1),
  ];
  await bench.store.incoming({ carrierId: CARRIER, parts, nowMs });
  const refused = {
    atMs: nowMs,
    command: "incoming",
    subject: `${CARRIER} ${PHONE}`,
    reason: "no place",
    detail: "{}",
  };
  await bench.store.quarantine({ items: [refused] });
}

// --- What is there -------------------------------------------------------------------------------------------------------------

type Table = Record<string, string | null>[];

const inOrder = (rows: Table): Table =>
  rows.sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));

/** Every value as text, and columns by name. */
function asText(row: Record<string, unknown>): Record<string, string | null> {
  const columns = Object.keys(row).sort();
  return Object.fromEntries(columns.map((column) => [column, row[column] === null ? null : String(row[column])]));
}

/** The source's rows as they are to arrive. */
export function expectedRows(directory: string): Map<string, Table> {
  const db = new Database(join(directory, "heliograph.sqlite"));
  try {
    replayJournal(db);
    const tables = [...COPIED.map(({ name }) => name), "counter"];
    const found = new Map<string, Table>();
    for (const name of tables) {
      const rows = db.prepare<[], Record<string, unknown>>(`SELECT * FROM ${name}`).safeIntegers().all();
      found.set(name, inOrder(rows.map((row) => asText(arriving(name, row)))));
    }
    const names = db.prepare<[], Record<string, unknown>>(
      `SELECT account_id, client_message_id, key AS message_key FROM message
       WHERE client_message_id IS NOT NULL AND status_id NOT IN (11, 12, 14, 19, 23, 24, 25, 52)`,
    );
    found.set("message_name", inOrder(names.safeIntegers().all().map(asText)));
    return found;
  } finally {
    db.close();
  }
}

function arriving(table: string, row: Record<string, unknown>): Record<string, unknown> {
  const plain = Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      typeof value === "string" ? value.replaceAll("\0", "\uFFFD") : value,
    ]),
  );
  if (table === "message") return { ...plain, owner: null };
  if (table === "report") return { ...plain, held_by: null, tried: row.held_by === null ? row.tried : 1 };
  if (table === "counter") return { ...plain, changes: (row.changes as bigint) + 1n };
  return plain;
}

export async function rowsOf(url: string): Promise<Map<string, Table>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const found = new Map<string, Table>();
    for (const name of [...COPIED.map(({ name }) => name), "counter", "message_name"]) {
      const { rows } = await client.query(`SELECT * FROM ${name}`);
      // PostgreSQL makes this column by itself (migration 038).
      for (const row of rows) delete row.waits;
      found.set(name, inOrder(rows.map(asText)));
    }
    return found;
  } finally {
    await client.end();
  }
}

/** One statement on a database. */
export async function onDatabase(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
