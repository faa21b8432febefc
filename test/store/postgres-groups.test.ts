/** Groups of commands on nodes that share a database: commits that fail, answers that are lost, and nodes that no longer own what they speak of. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { zeroCounts } from "../../src/dispatch/dispatch-metrics.ts";
import { MessageOutcomes } from "../../src/dispatch/message-outcomes.ts";
import type { QueuedMessage } from "../../src/message/message.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { STATUS } from "../../src/sms/statuses.ts";
import { StoreUnavailable } from "../../src/store/port/errors.ts";
import type { CommandInput, Store } from "../../src/store/port/store.ts";
import { lineOfId, TOLD_LINES } from "../../src/store/told-lines.ts";
import { cutProxy } from "../support/cut-proxy.ts";
import { postgresUrl } from "../support/postgres.ts";
import { eventually } from "../support/service.ts";
import { CARRIER, HOUR, NOW } from "./harness.ts";
import { benchOn, openNode, sessionOf, taken, waiting } from "./postgres-node.ts";

// --- Lines of one node -----------------------------------------------------------------------------------------------------

test("a receipt that misses its part by a commit of another line of its own node is found after it", async (t) => {
  const url = await postgresUrl(t);
  const session = await sessionOf(t, url);
  const node = await openNode(t, url);
  await node.start();
  const bench = await benchOn(t, node);
  await bench.accept([bench.message()]);
  const { key } = taken(node)[0]!;
  const ids = [0, 1].map((line) => ["a", "b", "c", "d"].find((id) => lineOfId(id, TOLD_LINES) === line)!);
  const parts = ids.map((carrierMessageId) => ({ carrierMessageId, counts: true }));
  await session.script("BEGIN; LOCK TABLE part IN EXCLUSIVE MODE");
  const submitted = node.delivery.submitted({
    messages: [{ key, carrierId: CARRIER, parts, refusedErrorId: null, atMs: NOW }],
  });
  await waiting(session, 1);
  const run = t.mock.method(node.engine, "run");
  const heard = await node.delivery.received({ carrierId: CARRIER, receipts: [bench.receipt(ids[1]!)] });
  assert.equal(heard.unmatched, 1, "the other line has not seen the part");
  // Whoever parks a receipt looks once more, in vain.
  await eventually(async () => run.mock.calls.length > 0);
  await Promise.all(run.mock.calls.map(({ result }) => result));
  await session.script("COMMIT");
  await submitted;
  await eventually(async () => {
    const { rows } = await session.query<{ id: string }>("SELECT carrier_message_id AS id FROM part");
    return rows.length === 1 && rows[0]!.id === ids[0];
  });
  assert.deepEqual((await session.query("SELECT 1 FROM parked_receipt")).rows, []);
});

// --- Commits that fail, and answers that are lost --------------------------------------------------------------------------

test("connections whose sharing out was not committed are neither remembered nor served", async (t) => {
  const url = await postgresUrl(t);
  const node = await openNode(t, url);
  await node.start();
  const bench = await benchOn(t, node);
  const session = await sessionOf(t, url);
  const claim = (carrierId: string) => ({ carrierId, binds: 1, closed: [] });
  const share = (...carrierIds: string[]) => node.store.shareBinds({ claims: carrierIds.map(claim) });
  await share("one");
  await session.script(`
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$;
    CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON carrier_bind DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail()`);
  await assert.rejects(share("one", "two"), /not now/);
  await assert.rejects(share("one", "two"), /not now/, "nor is it answered from memory");
  await bench.accept([bench.message({ carrierId: "two" }), bench.message({ carrierId: "one" })]);
  const carriers = taken(node).map(({ carrierId }) => carrierId);
  assert.deepEqual(carriers, ["one"], "what is for the other carrier is left to whoever serves it");

  await session.script("DROP TRIGGER fail ON carrier_bind");
  const shares = await share("one", "two");
  assert.deepEqual(
    shares.map(({ slots }) => slots),
    [[0], [0]],
  );
  assert.deepEqual((await session.query("SELECT count(*) AS count FROM carrier_bind")).rows, [{ count: 2 }]);
});

test("reports that were handed out in a commit whose answer was lost come with the next feed, once", async (t) => {
  const url = await postgresUrl(t);
  const proxy = await cutProxy(t, url);
  const session = await sessionOf(t, url);
  // Whoever asks is kept waiting for a while for a database that is away: from the cut on, every look at the clock makes it half a second later.
  let aheadMs = 0;
  let stepMs = 0;
  t.mock.method(systemClock, "monotonic", () => {
    aheadMs += stepMs;
    return performance.now() + aheadMs;
  });
  const node = await openNode(t, proxy.url);
  await node.start();
  await session.script(
    `INSERT INTO report (id, kind, account_id, url, content_type, items, due_at_ms)
     VALUES (1, 'delivery', 1, 'http://127.0.0.1:1/', 'application/json', '[]', 1)`,
  );
  const cut = proxy.cutAtCommit("held_by");
  const asked = assert.rejects(node.store.dueReports({ nowMs: NOW, limit: 10 }), StoreUnavailable);
  await cut;
  stepMs = 500;
  await asked;
  const { rows } = await session.query("SELECT held_by FROM report");
  assert.deepEqual(rows, [{ held_by: node.engine.epoch }], "they are this node's, and nobody else will push them");

  proxy.mend();
  const again = await eventually(() => node.store.dueReports({ nowMs: NOW, limit: 10 }).catch(() => null));
  assert.deepEqual(again, { batches: [], more: false, nextDueAtMs: null });
  const brought = node.feeds.flatMap(({ reports }) => reports.map(({ id }) => id));
  assert.deepEqual(brought, ["1"]);
});

test("while it is looked up what became of a group, no other group of the line begins, though one behind it has failed", async (t) => {
  const proxy = await cutProxy(t, await postgresUrl(t));
  const node = await openNode(t, proxy.url);
  await node.start();
  const bench = await benchOn(t, node);
  const texts: string[] = [];
  const send = async (text: string): Promise<unknown> => {
    try {
      await bench.accept([bench.message()], { text });
      texts.push(text);
      return null;
    } catch (error) {
      return error;
    }
  };
  for (let round = 0; round < 5; round++) {
    const cut = proxy.cutAtCommit(`round ${round}`);
    const first = send(`round ${round}`);
    await cut;
    for (let failed = 0; failed < 3; failed++) assert.ok((await send("meanwhile")) instanceof StoreUnavailable);
    proxy.mend();
    // Others come all the time, until one is taken.
    await eventually(async () => (await send(`after ${round}`)) === null);
    const fault = await first;
    assert.ok(fault === null || fault instanceof StoreUnavailable, String(fault));
  }
  const session = await sessionOf(t, proxy.url);
  const { rows } = await session.query<{ body: string }>("SELECT body FROM message");
  const there = rows.map(({ body }) => body);
  assert.deepEqual(
    texts.filter((text) => !there.includes(text)),
    [],
    "what was acknowledged is there",
  );
});

test("a store that is being closed takes nothing more, and what was under way is finished before the node is gone", async (t) => {
  const url = await postgresUrl(t);
  const session = await sessionOf(t, url);
  const node = await openNode(t, url);
  await node.start();
  const bench = await benchOn(t, node);
  await session.script("BEGIN; SELECT 1 FROM wallet FOR UPDATE");
  const accepted = bench.accept([bench.message()]);
  await waiting(session, 1);
  const closed = node.engine.close();
  const refused = assert.rejects(
    node.store.again({ messages: [{ key: "1", unknown: true, taken: null }] }),
    /being closed/,
  );
  // The one waits for the account's money, and the goodbye for the one.
  await waiting(session, 2);
  await session.script("COMMIT");
  assert.equal((await accepted).length, 1);
  await refused;
  await closed;
  const { rows } = await session.query("SELECT state, owner FROM message");
  assert.deepEqual(rows, [{ state: 1, owner: null }], "it is free for the others");
  assert.deepEqual((await session.query("SELECT 1 FROM node")).rows, []);
  assert.deepEqual(node.fenced, []);
});

test("a group that was still connecting when the close began is refused, and does not take its node for fenced", async (t) => {
  const url = await postgresUrl(t);
  const session = await sessionOf(t, url);
  const lost = Promise.withResolvers<void>();
  const log = { ...silentLog, warn: () => lost.resolve() };
  const node = await openNode(t, url, { log });
  const again = () => node.delivery.again({ messages: [{ key: "1", unknown: true, taken: null }] });
  await again();
  // The connection that writes what delivery tells: the last that was committed was committed there.
  await eventually(async () => {
    const { rows } = await session.query(
      `SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity
         WHERE datname = current_database() AND query = 'COMMIT' ORDER BY state_change DESC LIMIT 1) AS newest`,
    );
    return rows.length > 0;
  });
  await lost.promise;
  // The goodbye has deleted the node's row, and waits.
  await session.script("BEGIN; LOCK TABLE gone_node IN EXCLUSIVE MODE");
  const refused = assert.rejects(again(), /being closed|was closed/);
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
  const closed = node.engine.close();
  await waiting(session, 1);
  await eventually(async () => {
    await session.script("SELECT pg_stat_clear_snapshot()");
    const { rows } = await session.query(
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'heliograph deliver'",
    );
    return rows.length >= 2;
  });
  await session.script("COMMIT");
  await refused;
  await closed;
});

test("the lease is renewed while every connection for reading is busy", async (t) => {
  const url = await postgresUrl(t);
  const session = await sessionOf(t, url);
  const node = await openNode(t, url, { leaseMs: 3_000, statementTimeoutMs: 60_000 });
  await node.start();
  await session.script("BEGIN; LOCK TABLE wallet IN ACCESS EXCLUSIVE MODE");
  const reads = [1, 2, 3].map((accountId) => node.store.balance({ accountId }).catch(() => null));
  await waiting(session, 2);
  const aliveUntil = async (): Promise<number> => {
    const { rows } = await session.query<{ at: number }>(
      "SELECT CAST(extract(epoch FROM alive_until) * 1000 AS bigint) AS at FROM node",
    );
    return rows[0]!.at;
  };
  for (let renewal = 1; renewal <= 2; renewal++) {
    const before = await aliveUntil();
    await eventually(async () => (await aliveUntil()) > before);
  }
  await session.script("COMMIT");
  await Promise.all(reads);
});

// --- Who owns what ---------------------------------------------------------------------------------------------------------

test("what a node says of a message that another has by now changes nothing", async (t) => {
  const url = await postgresUrl(t);
  const [node, other] = [await openNode(t, url), await openNode(t, url)];
  const bench = await benchOn(t, node);
  const session = await sessionOf(t, url);
  const { store } = node;
  const words: Record<string, (key: string) => Promise<unknown>> = {
    release: (key) => store.release({ keys: [key] }),
    reroute: (key) => store.reroute({ messages: [{ key, carrierId: "elsewhere" }] }),
    postpone: (key) => store.postpone({ messages: [{ key, dueAtMs: NOW + HOUR, event: "window closed" }] }),
    again: (key) => store.again({ messages: [{ key, unknown: true, taken: null }] }),
    finish: (key) => store.finish({ endings: [{ key, event: "refused", errorId: 1, atMs: NOW }] }),
  };
  await bench.accept(Object.keys(words).map(() => bench.message()));
  const keys = taken(node).map(({ key }) => key);
  await session.query("UPDATE message SET owner = $1", [other.engine.epoch]);
  const rows = async (): Promise<unknown> => (await session.query("SELECT * FROM message ORDER BY key")).rows;
  const before = await rows();
  const balance = await bench.balance();
  for (const time of ["first", "again"])
    for (const [index, [command, say]] of Object.entries(words).entries()) {
      await say(keys[index]!);
      assert.deepEqual(await rows(), before, `${command}, ${time}`);
    }
  assert.equal(await bench.balance(), balance, "nor is anything given back");

  await other.store.release({ keys });
  const owners = await session.query("SELECT DISTINCT owner FROM message");
  assert.deepEqual(owners.rows, [{ owner: null }], "the owner may");
});

test("a message that an operator has ended elsewhere stays so, whatever its node says of it, and what is said with that counts", async (t) => {
  const url = await postgresUrl(t);
  const node = await openNode(t, url);
  const bench = await benchOn(t, node);
  const session = await sessionOf(t, url);
  await bench.accept([bench.message(), bench.message()]);
  const [ended, sent] = taken(node) as [QueuedMessage, QueuedMessage];
  await session.query("UPDATE message SET state = 4, owner = NULL, done_at_ms = $2 WHERE key = $1", [ended.key, NOW]);
  await bench.submit([ended, sent]);
  const { rows } = await session.query("SELECT state FROM message ORDER BY key");
  assert.deepEqual(rows, [{ state: 4 }, { state: 3 }]);
  assert.deepEqual((await session.query("SELECT message_key::text AS key FROM part")).rows, [{ key: sent.key }]);
});

test("a submission that is told twice, because the answer was lost, makes room for one message only", async (t) => {
  const node = await openNode(t, await postgresUrl(t), { lanes: { lane: 2, total: 1_000 } });
  const bench = await benchOn(t, node);
  await bench.accept([bench.message(), bench.message()]);
  const [first] = taken(node);
  await bench.submit([first!]);
  await bench.submit([first!]);
  await bench.accept([bench.message(), bench.message()]);
  assert.equal(taken(node).length, 1);
  assert.deepEqual(
    await node.store.claimLane({ accountId: bench.accountId, carrierId: CARRIER, limit: 10 }),
    { claimed: 0, more: true },
    "the lane is full",
  );
});

test("a part's receipt that comes to two nodes at the same moment counts once", async (t) => {
  const url = await postgresUrl(t);
  const [first, second] = [await openNode(t, url), await openNode(t, url)];
  const bench = await benchOn(t, first);
  await first.store.shareBinds({ claims: [{ carrierId: CARRIER, binds: 1, closed: [] }] });
  await bench.accept(
    Array.from({ length: 20 }, () => bench.message()),
    { partCount: 2 },
  );
  const messages = taken(first);
  assert.equal(messages.length, 20);
  await bench.submit(messages);
  for (const { key } of messages) {
    const input = { carrierId: CARRIER, receipts: [bench.receipt(`${key}.1`)] };
    const heard = await Promise.all([first.store.received(input), second.store.received(input)]);
    assert.equal(heard[0].unmatched + heard[1].unmatched, 0);
    assert.equal(heard[0].repeated + heard[1].repeated, 1, "the other has had it");
  }
  const logged = async (): Promise<number[]> => {
    const everything = { from: null, to: null, statusIds: null, mcc: null, mnc: null, bulkIds: null, messageIds: null };
    const time = { sinceMs: 0, untilMs: NOW + HOUR, after: null, limit: 100 };
    const page = await first.store.logs({ accountId: bench.accountId, ...everything, ...time });
    return [...new Set(page.messages.map(({ statusId }) => statusId))];
  };
  assert.deepEqual(await logged(), [STATUS.PENDING_WAITING_DELIVERY.id]);
  await bench.receive(...messages.map(({ key }) => bench.receipt(`${key}.2`)));
  assert.deepEqual(await logged(), [STATUS.DELIVERED_TO_HANDSET.id]);
});

test("a receipt that reaches another node before the answer to its submit waits in memory, and no row is written for it", async (t) => {
  const url = await postgresUrl(t);
  const [first, second] = [await openNode(t, url), await openNode(t, url)];
  await first.start();
  await second.start();
  const bench = await benchOn(t, first);
  const session = await sessionOf(t, url);
  await session.script(`
    CREATE FUNCTION refuse_parking() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'it was parked'; END $$;
    CREATE TRIGGER refuse_parking BEFORE INSERT ON parked_receipt FOR EACH ROW EXECUTE FUNCTION refuse_parking()`);
  const told: boolean[] = [];
  const store = new Proxy(second.store, {
    get: (target, name: keyof Store) => async (input: never) => {
      if (name === "received") told.push((input as CommandInput<"received">).mayBeEarly === true);
      return target[name](input);
    },
  });
  const counts = zeroCounts();
  const outcomes = new MessageOutcomes({
    store,
    clock: systemClock,
    log: silentLog,
    onWritten: () => undefined,
    counts,
  });
  t.after(() => outcomes.recorder.abandon());

  await bench.accept([bench.message()]);
  const [message] = taken(first);
  const heard = outcomes.receipt(CARRIER, bench.receipt("early"));
  await eventually(async () => told.length > 0);
  const parts = [{ carrierMessageId: "early", counts: true }];
  const submitted = { key: message!.key, carrierId: CARRIER, parts, refusedErrorId: null, atMs: NOW };
  await first.store.submitted({ messages: [submitted] });
  await heard;
  assert.deepEqual((await session.query("SELECT state FROM message")).rows, [{ state: 4 }]);
  assert.ok(told.every(Boolean));
  assert.equal(counts.receiptsUnmatched, 0);

  await session.script("DROP TRIGGER refuse_parking ON parked_receipt");
  await outcomes.receipt(CARRIER, bench.receipt("nobody's"));
  assert.equal(counts.receiptsUnmatched, 1);
  const before = told.length;
  await outcomes.receipt(CARRIER, bench.receipt("nobody's either"));
  assert.deepEqual(told.slice(before), [false], "the one before waited in vain");
});

test("two nodes that each want what the other has locked go on at once, without a deadlock that PostgreSQL has to end", async (t) => {
  const url = await postgresUrl(t);
  const node = await openNode(t, url);
  const bench = await benchOn(t, node);
  const [other, looking] = [await sessionOf(t, url), await sessionOf(t, url)];
  await bench.accept([bench.message({ to: "41790000001" }), bench.message({ to: "41790000002" })]);
  const [first, second] = taken(node) as [QueuedMessage, QueuedMessage];
  const submitAs7 = (message: QueuedMessage): Promise<unknown> => {
    const parts = [{ carrierMessageId: "7", counts: true }];
    const told = { key: message.key, carrierId: CARRIER, parts, refusedErrorId: null, atMs: NOW };
    return node.store.submitted({ messages: [told] });
  };
  await submitAs7(first);
  // About the other phone, so it waits for a part of the second message. To apply it, the first one's parts are looked at too.
  const receipt = { ...bench.receipt("7"), to: "41790000002" };
  await node.store.received({ carrierId: CARRIER, receipts: [receipt] });
  const parked = await looking.query("SELECT 1 FROM parked_receipt");
  assert.equal(parked.rows.length, 1);

  await other.script("BEGIN");
  await other.query("SELECT 1 FROM message WHERE key = $1 FOR UPDATE", [first.key]);
  const submitted = submitAs7(second);
  // The node has had the receipt by now, and either waits for the message or has given the receipt back.
  await eventually(async () => {
    const { rows } = await looking.query(
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND (wait_event_type = 'Lock' OR query = 'ROLLBACK')",
    );
    return rows.length > 0;
  });
  // As another node does that has the message, and wants the receipt.
  await other.query("SELECT 1 FROM parked_receipt FOR UPDATE");
  await other.script("COMMIT");
  await submitted;
  const { rows } = await looking.query("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()");
  assert.deepEqual(rows, [{ deadlocks: 0 }]);
  const left = await looking.query("SELECT carrier_message_id FROM parked_receipt");
  assert.deepEqual(left.rows, [], "the receipt is applied");
});

test("a report that another node has seen confirmed, after it was found here, is not handed out again", async (t) => {
  const url = await postgresUrl(t);
  const session = await sessionOf(t, url);
  const node = await openNode(t, url);
  const bench = await benchOn(t, node);
  await bench.accept(["a", "b"].map((clientMessageId) => bench.message({ clientMessageId })));
  const messages = taken(node);
  await bench.submit(messages);
  await bench.receive(...messages.map(({ key }) => bench.receipt(`${key}.1`)));

  await session.script("BEGIN; UPDATE message SET pull = NULL, pull_at_ms = NULL WHERE client_message_id = 'a'");
  const fetched = node.store.fetchReports({
    accountId: bench.accountId,
    bulkIds: null,
    messageIds: ["a", "b"],
    sinceMs: 0,
    nowMs: NOW,
    againAtMs: NOW + HOUR,
    limit: 10,
  });
  await waiting(session, 1);
  await session.script("COMMIT");
  assert.deepEqual((await fetched).keys, [messages[1]!.key]);
  const { rows } = await session.query("SELECT pull FROM message ORDER BY key");
  assert.deepEqual(rows, [{ pull: null }, { pull: 1 }]);
});

test("a command whose values the database refuses takes none of its group with it, wherever the refusal shows", async (t) => {
  const url = await postgresUrl(t);
  const node = await openNode(t, url);
  const bench = await benchOn(t, node);
  await bench.accept(Array.from({ length: 4 }, () => bench.message()));
  const keys = taken(node).map(({ key }) => key);
  const submitted = (key: string, carrierMessageId: string) =>
    node.store.submitted({
      messages: [
        { key, carrierId: CARRIER, parts: [{ carrierMessageId, counts: true }], refusedErrorId: null, atMs: NOW },
      ],
    });
  // Random, so that it cannot be compressed: an index row of PostgreSQL holds some 2,700 octets.
  const tooLong = randomBytes(30_000).toString("hex");
  const receipt = { outcome: "delivered", errorId: 0, atMs: NOW, mccMnc: null, to: null } as const;
  const outcomes = await Promise.allSettled([
    submitted(keys[0]!, "first"),
    submitted(keys[1]!, tooLong), // shows when it is written
    node.store.again({ messages: [{ key: "no number", unknown: true, taken: null }] }), // shows when rows are looked for
    submitted(keys[2]!, "second"),
    node.store.postpone({ messages: [{ key: keys[3]!, dueAtMs: 2 ** 70, event: "window closed" }] }), // out of range
    node.store.received({ carrierId: CARRIER, receipts: [{ ...receipt, carrierMessageId: "first" }] }),
  ]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["fulfilled", "rejected", "rejected", "fulfilled", "rejected", "fulfilled"],
  );
  for (const outcome of outcomes)
    if (outcome.status === "rejected")
      assert.ok(!(outcome.reason instanceof StoreUnavailable), "it says that it would fail again");
  const session = await sessionOf(t, url);
  const delivered = await session.query(`SELECT 1 FROM message WHERE status_id = ${STATUS.DELIVERED_TO_HANDSET.id}`);
  assert.equal(delivered.count, 1);
});
