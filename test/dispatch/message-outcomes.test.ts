/** What carriers say on its way to a real PostgreSQL, which refuses some of it: nothing else waits for that, and nothing is said twice. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type TestContext, test } from "node:test";
import { type DispatchCounts, zeroCounts } from "../../src/dispatch/dispatch-metrics.ts";
import { MessageOutcomes } from "../../src/dispatch/message-outcomes.ts";
import { PostgresConnection } from "../../src/drivers/postgres/connection.ts";
import type { Session } from "../../src/drivers/postgres/link.ts";
import { unknownId } from "../../src/message/receipt.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { type Log, silentLog } from "../../src/runtime/log.ts";
import { STATUS } from "../../src/sms/statuses.ts";
import { localStore } from "../../src/store/group.ts";
import { MAX_TRIES } from "../../src/store/outcome-recorder.ts";
import { StoreUnavailable } from "../../src/store/port/errors.ts";
import type { CommandInput, Store } from "../../src/store/port/store.ts";
import { lineOfId, TOLD_LINES } from "../../src/store/told-lines.ts";
import { Bench, CARRIER, NOW } from "../store/harness.ts";
import { openEngine } from "../support/nodes.ts";
import { until } from "../support/patience.ts";
import { PATIENT_MS, postgresUrl } from "../support/postgres.ts";

interface CarrierQueue {
  readonly url: string;
  readonly bench: Bench;
  readonly outcomes: MessageOutcomes;
  readonly counts: DispatchCounts;
  readonly session: Session;
  /** Lines of the log. */
  readonly lines: string[];
  /** Calls of each command, and what they were given. */
  readonly calls: Map<string, number>;
  readonly told: { readonly command: string; readonly input: unknown }[];
  /** Fails calls as long as it gives an error for one. */
  fault: (command: string) => Error | null;
}

const CONNECTING = { connections: 3, statementTimeoutMs: PATIENT_MS, leaseMs: 60_000, log: silentLog };

async function startDispatch(t: TestContext, leaseMs = CONNECTING.leaseMs): Promise<CarrierQueue> {
  const url = await postgresUrl(t);
  const connecting = { ...CONNECTING, leaseMs, url };
  const bench = await Bench.start(
    t,
    async () => ({
      async open(clock, lanes, onFeed) {
        const engine = await openEngine(url, { leaseMs, clock, lanes });
        return { store: localStore(engine, onFeed), overflowed: [], close: () => engine.abandon() };
      },
    }),
    { lanes: { lane: 1_000, total: 1_000 } },
  );
  const connection = new PostgresConnection(connecting, "test");
  t.after(() => connection.close());
  const calls = new Map<string, number>();
  const told: { command: string; input: unknown }[] = [];
  const lines: string[] = [];
  const line = ((_: unknown, text: string) => void lines.push(text)) as Log["error"];
  const counts = zeroCounts();
  const store = new Proxy(bench.store, {
    get: (target, name: keyof Store) => async (input: never) => {
      calls.set(name, (calls.get(name) ?? 0) + 1);
      told.push({ command: name, input });
      const fault = carrierQueue.fault(name);
      if (fault !== null) throw fault;
      return target[name](input);
    },
  });
  const outcomes = new MessageOutcomes({
    store,
    clock: systemClock,
    log: { ...silentLog, error: line, warn: line, info: line, debug: line },
    onWritten: () => undefined,
    toldLines: TOLD_LINES,
    counts,
  });
  t.after(() => outcomes.recorder.abandon());
  const session = await connection.session();
  const carrierQueue: CarrierQueue = { url, bench, outcomes, counts, session, lines, calls, told, fault: () => null };
  return carrierQueue;
}

async function rows<Row>({ session }: CarrierQueue, text: string): Promise<Row[]> {
  return (await session.query<Row>(text)).rows;
}

/** A session beside the database, for what is done to it. */
async function adminOf(t: TestContext, url: string): Promise<Session> {
  const beside = new URL(url);
  beside.pathname = "/postgres";
  const connection = new PostgresConnection({ ...CONNECTING, url: beside.href }, "test");
  t.after(() => connection.close());
  return connection.session();
}

/** Longer than an index row of PostgreSQL, and not to be compressed. */
const tooLong = (): string => randomBytes(30_000).toString("hex");

test("of a hundred accepted messages, four with ids that have no place, all are recorded as taken, once", async (t) => {
  const carrierQueue = await startDispatch(t);
  const { bench, outcomes } = carrierQueue;
  await bench.accept(Array.from({ length: 100 }, (_, index) => bench.message({ to: String(41_790_000_000 + index) })));
  const messages = bench.takeMessages();
  assert.equal(messages.length, 100);
  const bad = new Set([3, 40, 41, 99]);
  for (const [index, { key, to }] of messages.entries()) {
    const carrierMessageId = bad.has(index) ? tooLong() : `id-${index}`;
    const parts = [{ carrierMessageId, counts: true }];
    outcomes.submitted({ key, carrierId: CARRIER, parts, refusedErrorId: null, atMs: NOW }, to);
  }
  await outcomes.recorder.settled();
  const waiting = STATUS.PENDING_WAITING_DELIVERY.id;
  assert.equal(
    (await rows(carrierQueue, `SELECT 1 FROM message WHERE status_id = ${waiting} AND owner IS NULL`)).length,
    100,
  );
  const parts = await rows<{ id: string }>(carrierQueue, "SELECT carrier_message_id AS id FROM part");
  assert.equal(parts.length, 100);
  const unknown = parts.map(({ id }) => id).filter((id) => id.startsWith("unknown:"));
  assert.deepEqual(unknown.sort(), [...bad].map((index) => unknownId(messages[index]!.to)).sort());
  assert.equal(carrierQueue.counts.quarantined, 0, "they are recorded, if without their ids");
});

test("a receipt and a message from a phone that the store refuses are kept aside and acknowledged; the others are taken", async (t) => {
  const carrierQueue = await startDispatch(t);
  const { bench, outcomes } = carrierQueue;
  await bench.accept([bench.message(), bench.message()]);
  await bench.submit(bench.takeMessages());
  const keys = (await rows<{ id: string }>(carrierQueue, "SELECT carrier_message_id AS id FROM part")).map(
    ({ id }) => id,
  );
  const part = { from: "41790000009", to: "80808", text: "Hello", concatenation: null, atMs: NOW };
  await Promise.all([
    outcomes.receipt(CARRIER, bench.receipt(keys[0]!)),
    outcomes.receipt(CARRIER, bench.receipt(tooLong())),
    outcomes.receipt(CARRIER, bench.receipt(keys[1]!)),
    outcomes.incoming(CARRIER, part),
    outcomes.incoming(CARRIER, { ...part, atMs: 2 ** 70 }),
  ]);
  const delivered = STATUS.DELIVERED_TO_HANDSET.id;
  assert.equal((await rows(carrierQueue, `SELECT 1 FROM message WHERE status_id = ${delivered}`)).length, 2);
  assert.equal((await rows(carrierQueue, "SELECT 1 FROM incoming_message")).length, 1);
  const { items } = await bench.store.quarantined({ limit: 10 });
  assert.deepEqual(items.map(({ command }) => command).sort(), ["incoming", "received"]);
  assert.equal(carrierQueue.counts.quarantined, 2);
  assert.equal(carrierQueue.lines.filter((line) => line.includes("kept aside")).length, 2);
});

test("while the store is away nothing is split or kept aside, and the log has a bounded number of lines", async (t) => {
  const carrierQueue = await startDispatch(t);
  const { bench, outcomes } = carrierQueue;
  await bench.accept([bench.message(), bench.message()]);
  let failures = 3;
  carrierQueue.fault = () => (failures-- > 0 ? new StoreUnavailable("away") : null);
  for (const { key } of bench.takeMessages()) outcomes.ended({ key, event: "no route", errorId: 0, atMs: NOW });
  await outcomes.recorder.settled();
  assert.equal(carrierQueue.calls.get("finish"), 4);
  assert.equal((await rows(carrierQueue, "SELECT 1 FROM message WHERE state = 4")).length, 2);
  assert.equal(carrierQueue.counts.quarantined, 0);
});

test("what looks like a receipt and is none becomes a message from its phone", async (t) => {
  const carrierQueue = await startDispatch(t);
  const { bench, outcomes, counts } = carrierQueue;
  const text = "id:1001 stat:UNDELIV";
  const asMessage = { from: "41790000666", to: "80808", text, concatenation: null, atMs: NOW };
  const receipt = { ...bench.receipt("1001", "undeliverable"), to: "41790000666", unmarked: true };
  await outcomes.receipt(CARRIER, receipt, asMessage);
  assert.deepEqual(await rows(carrierQueue, "SELECT sender, body FROM incoming_message"), [
    { sender: "41790000666", body: text },
  ]);
  assert.deepEqual([counts.receiptsUnmatched, counts.incomingUnmatched], [0, 1]);
  assert.equal((await bench.store.parkedReceipts({ limit: 1 })).count, 0);
});

test("what looks like a receipt and comes just before the answer to its submit is one", async (t) => {
  const carrierQueue = await startDispatch(t);
  const { bench, outcomes } = carrierQueue;
  await bench.accept([bench.message()]);
  const { key, to } = bench.takeMessages()[0]!;
  const asMessage = { from: to, to: "80808", text: "id:7 stat:DELIVRD", concatenation: null, atMs: NOW };
  const receipt = outcomes.receipt(CARRIER, { ...bench.receipt("7"), to, unmarked: true }, asMessage);
  await outcomes.recorder.settled();
  const parts = [{ carrierMessageId: "7", counts: true }];
  outcomes.submitted({ key, carrierId: CARRIER, parts, refusedErrorId: null, atMs: NOW }, to);
  await receipt;
  assert.equal(
    (await rows(carrierQueue, `SELECT 1 FROM message WHERE status_id = ${STATUS.DELIVERED_TO_HANDSET.id}`)).length,
    1,
  );
  assert.equal((await rows(carrierQueue, "SELECT 1 FROM incoming_message")).length, 0);
});

test("what is told under ids of two lines goes in calls of its own, and a submit behind what was told of its message before", async (t) => {
  const { bench, outcomes, told } = await startDispatch(t);
  await bench.accept(Array.from({ length: 20 }, () => bench.message()));
  const messages = bench.takeMessages();
  const [first] = messages;
  outcomes.again({ key: first!.key, unknown: true, taken: null });
  for (const [index, { key, to }] of messages.entries()) {
    const parts = [{ carrierMessageId: String(index), counts: true }];
    outcomes.submitted({ key, carrierId: CARRIER, parts, refusedErrorId: null, atMs: NOW }, to);
  }
  await outcomes.recorder.settled();
  await Promise.all(messages.map((_, index) => outcomes.receipt(CARRIER, bench.receipt(String(index)))));
  const linesOf = (items: readonly { carrierMessageId: string }[]): number[] => [
    ...new Set(items.map(({ carrierMessageId }) => lineOfId(carrierMessageId, TOLD_LINES))),
  ];
  const submits = told.flatMap(({ command, input }, place) =>
    command === "submitted" ? { place, messages: (input as CommandInput<"submitted">).messages } : [],
  );
  const receipts = told.flatMap(({ command, input }) =>
    command === "received" ? [(input as CommandInput<"received">).receipts] : [],
  );
  const inLines = [
    ...submits.map((call) => linesOf(call.messages.flatMap(({ parts }) => parts))),
    ...receipts.map(linesOf),
  ];
  assert.ok(inLines.every((lines) => lines.length === 1));
  assert.equal(new Set(inLines.flat()).size, TOLD_LINES);
  const again = told.findIndex(({ command }) => command === "again");
  const submitOfFirst = submits.findIndex((call) => call.messages.some(({ key }) => key === first!.key));
  assert.ok(submits[submitOfFirst]!.place > again);
  assert.equal(submits[submitOfFirst]!.messages.length, 1, "the others did not wait for it");
});

/** With a short lease the database also ends what a busy machine leaves alone for that long. */
async function whenItCan(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }
}

test("while the database lets nobody in, nothing is acknowledged or lost, and when it does all is recorded", async (t) => {
  // With a short lease it tries to connect with almost every call.
  const carrierQueue = await startDispatch(t, 600);
  const { bench, outcomes, counts } = carrierQueue;
  await whenItCan(() => bench.accept([bench.message(), bench.message()]));
  const [first, second] = bench.takeMessages();
  await whenItCan(() => bench.submit([first!]));
  const admin = await adminOf(t, carrierQueue.url);
  const database = new URL(carrierQueue.url).pathname.slice(1);
  await admin.query(`ALTER DATABASE "${database}" ALLOW_CONNECTIONS false`);
  await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", [database]);
  let acknowledged = 0;
  const said: Promise<void>[] = [];
  const say = (safe: Promise<void>): void => void said.push(safe.then(() => void acknowledged++));
  const tries = (command: string): number => carrierQueue.calls.get(command) ?? 0;
  say(outcomes.receipt(CARRIER, bench.receipt(`${first!.key}.1`)));
  // Alone first, and more often than an item is tried before it is set aside.
  await until(() => acknowledged > 0 || tries("received") > 2 * MAX_TRIES);
  const part = { from: "41790000009", to: "80808", text: "Hello", concatenation: null, atMs: NOW };
  say(outcomes.incoming(CARRIER, part));
  const parts = [{ carrierMessageId: "second", counts: true }];
  outcomes.submitted({ key: second!.key, carrierId: CARRIER, parts, refusedErrorId: null, atMs: NOW }, second!.to);
  await until(() => ["submitted", "incoming"].every((command) => tries(command) > MAX_TRIES));
  assert.equal(acknowledged, 0);
  await admin.query(`ALTER DATABASE "${database}" ALLOW_CONNECTIONS true`);
  await Promise.all(said);
  await outcomes.recorder.settled();
  const connection = new PostgresConnection({ ...CONNECTING, url: carrierQueue.url }, "test");
  t.after(() => connection.close());
  const session = await connection.session();
  const { rows: states } = await session.query("SELECT status_id AS id, owner FROM message ORDER BY key");
  assert.deepEqual(states, [
    { id: STATUS.DELIVERED_TO_HANDSET.id, owner: null },
    { id: STATUS.PENDING_WAITING_DELIVERY.id, owner: null },
  ]);
  assert.equal((await session.query("SELECT 1 FROM incoming_message")).count, 1);
  assert.equal((await session.query("SELECT 1 FROM quarantine")).count, 0);
  assert.equal(counts.quarantined, 0);
  assert.equal(tries("quarantine"), 0);
});
