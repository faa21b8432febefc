/** Messages on PostgreSQL have partitions by time, here a day each: there when the first one comes, gone when all in it is over and old. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Session } from "../../src/drivers/postgres/link.ts";
import { PostgresPool } from "../../src/drivers/postgres/pool.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { PURGE_START, type PurgeCursor } from "../../src/store/port/delivery.ts";
import { MessagePurge } from "../../src/store/postgres/message-purge.ts";
import { firstKey, Partitions, partitionsOf } from "../../src/store/postgres/partitions.ts";
import { PATIENT_MS, postgresUrl } from "../support/postgres.ts";

const DAY_MS = 86_400_000;
const NOON_MS = Date.UTC(2026, 10, 15, 12);
const SUBMITTED = 3;
const DONE = 4;

function keyAt(ms: number): string {
  return (BigInt(ms) << 21n).toString();
}

function openPool(t: TestContext, url: string): PostgresPool {
  const pool = new PostgresPool(
    { url, connections: 4, statementTimeoutMs: PATIENT_MS, leaseMs: 60_000, log: silentLog },
    "test",
  );
  t.after(() => pool.close());
  return pool;
}

interface Row {
  readonly key: string;
  readonly accountId?: number;
  readonly state?: number;
  readonly chargedMicros?: string;
  readonly name?: string;
}

async function insert(session: Session, row: Row): Promise<void> {
  const { key, accountId = 1, state = DONE, chargedMicros = "0", name = null } = row;
  await session.query(
    `INSERT INTO message (key, account_id, bulk_id, client_message_id, state, status_id, sender, recipient, body, encoding, part_count,
       flash, price_micros, charged_micros, currency, intermediate, due_at_ms, expires_at_ms, validity_ms, received_at_ms)
     VALUES ($1, $2, 'bulk', $3, $4, 5, 'from', '41793026727', 'text', 'GSM7', 1, 0, 0, $5, 'EUR', 0, 0, 0, 0, 0)`,
    [key, accountId, name, state, chargedMicros],
  );
  if (name !== null)
    await session.query("INSERT INTO message_name (account_id, client_message_id, message_key) VALUES ($1, $2, $3)", [
      accountId,
      name,
      key,
    ]);
}

async function insertIncoming(session: Session, key: string, toFetch: number): Promise<void> {
  await session.query(
    `INSERT INTO incoming_message (key, carrier_id, account_id, sender, recipient, body, part_count, received_at_ms, to_fetch)
     VALUES ($1, 'carrier', 1, '41793026727', '1234', 'text', 1, 0, $2)`,
    [key, toFetch],
  );
}

async function column(pool: PostgresPool, text: string): Promise<unknown[]> {
  const { rows } = await pool.use((session) => session.query<{ value: unknown }>(text));
  return rows.map(({ value }) => value);
}

/** Whatever ended before this time may go. */
const purgeMessages = (pool: PostgresPool, node: Partitions, beforeMs: number): Promise<number> => {
  const firstKept = firstKey(Math.floor(beforeMs / DAY_MS));
  return pool.use((session) => new MessagePurge(node).dropWhole(session, firstKept, [beforeMs, beforeMs]));
};

const partitions = (pool: PostgresPool, table: string): Promise<unknown[]> =>
  column(
    pool,
    `SELECT relname AS value FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
     WHERE inhparent = '${table}'::regclass ORDER BY relname`,
  );

test("several nodes that miss the same days make each of them once, and messages find their place", async (t) => {
  const url = await postgresUrl(t);
  const pools = Array.from({ length: 6 }, () => openPool(t, url));
  const keys = [0, 1, 2].map((days) => keyAt(NOON_MS + days * DAY_MS));
  const nodes = pools.map((pool) => new Partitions(pool, 1));
  assert.equal(nodes[0]!.covers(keys[0]!), false);
  await Promise.all(nodes.map((node) => node.ensure(keys)));
  assert.ok(nodes.every((node) => keys.every((key) => node.covers(key))));
  const days = ["20261115", "20261116", "20261117"];
  assert.deepEqual(
    await partitions(pools[0]!, "message"),
    days.map((day) => `message_${day}`),
  );
  assert.deepEqual(
    await partitions(pools[0]!, "incoming_message"),
    days.map((day) => `incoming_message_${day}`),
  );
  await pools[0]!.use(async (session) => {
    for (const key of keys) await insert(session, { key });
  });
  assert.deepEqual(
    await column(pools[0]!, "SELECT CAST(tableoid::regclass AS text) AS value FROM message ORDER BY key"),
    days.map((day) => `message_${day}`),
  );
});

test("the first and the last key of a day belong to it", async (t) => {
  const pool = openPool(t, await postgresUrl(t));
  const node = new Partitions(pool, 1);
  const midnight = NOON_MS - DAY_MS / 2;
  const first = keyAt(midnight);
  const last = (BigInt(keyAt(midnight + DAY_MS)) - 1n).toString();
  await node.ensure([first]);
  assert.equal(node.covers(last), true);
  assert.equal(node.covers((BigInt(first) - 1n).toString()), false);
  assert.equal(node.covers((BigInt(last) + 1n).toString()), false);
  await pool.use(async (session) => {
    await insert(session, { key: first });
    await insert(session, { key: last });
    await assert.rejects(insert(session, { key: (BigInt(last) + 1n).toString() }), { code: "23514" });
  });
});

test("today and three days more are made ahead, also beside a writer in the middle of a transaction", async (t) => {
  const pool = openPool(t, await postgresUrl(t));
  const node = new Partitions(pool, 1);
  await node.ensure([keyAt(NOON_MS)]);
  await pool.use(async (session) => {
    await session.script("BEGIN");
    await insert(session, { key: keyAt(NOON_MS) });
    await node.ensureAhead(NOON_MS);
    await session.script("COMMIT");
  });
  assert.deepEqual(
    await partitions(pool, "message"),
    ["15", "16", "17", "18"].map((day) => `message_202611${day}`),
  );
});

test("a partition has every index of the table it belongs to", async (t) => {
  const pool = openPool(t, await postgresUrl(t));
  await new Partitions(pool, 1).ensure([keyAt(NOON_MS)]);
  const [whole] = await column(pool, "SELECT count(*) AS value FROM pg_index WHERE indrelid = 'message'::regclass");
  const attached = await column(
    pool,
    `SELECT count(*) AS value FROM pg_index JOIN pg_inherits ON inhrelid = indexrelid
     WHERE indrelid = 'message_20261115'::regclass`,
  );
  assert.ok((whole as number) > 1);
  assert.deepEqual(attached, [whole]);
  assert.deepEqual(
    await column(pool, "SELECT count(*) AS value FROM pg_index WHERE indrelid = 'message_20261115'::regclass"),
    [whole],
    "and none beside them",
  );
});

test("what is over and old goes, with its names; its charges stay as sums, and unfinished days stay", async (t) => {
  const pool = openPool(t, await postgresUrl(t));
  const node = new Partitions(pool, 1);
  const day = (days: number, place = 0): string => (BigInt(keyAt(NOON_MS + days * DAY_MS)) + BigInt(place)).toString();
  await node.ensure([0, 1, 2, 3].map((days) => day(days)));
  const huge = 9_007_199_254_740_993n; // 2^53 + 1: a sum that a double could not hold
  await pool.use(async (session) => {
    await insert(session, { key: day(0, 0), chargedMicros: huge.toString(), name: "old" });
    await insert(session, { key: day(0, 1), chargedMicros: "20" });
    await insert(session, { key: day(0, 2), accountId: 2, chargedMicros: "300" });
    await insert(session, { key: day(0, 3), accountId: 3 });
    await insert(session, { key: day(1, 0), chargedMicros: "4000", name: "unfinished day" });
    await insert(session, { key: day(1, 1), chargedMicros: "4000", state: SUBMITTED });
    await insert(session, { key: day(2, 0), accountId: 2, chargedMicros: "50000" });
    await insert(session, { key: day(3, 0), chargedMicros: "600000", name: "new" });
    await insertIncoming(session, day(0), 0);
    await insertIncoming(session, day(1), 1);
    await insertIncoming(session, day(2), 0);
  });
  // In the middle of the last day: that one is not wholly before.
  assert.equal(await purgeMessages(pool, node, NOON_MS + 3 * DAY_MS), 4);
  assert.deepEqual(await partitions(pool, "message"), ["message_20261116", "message_20261118"]);
  assert.deepEqual(await partitions(pool, "incoming_message"), [
    "incoming_message_20261116",
    "incoming_message_20261118",
  ]);
  assert.deepEqual(await column(pool, "SELECT to_regclass('message_20261115') AS value"), [null], "it is dropped");
  assert.deepEqual(
    await column(pool, "SELECT account_id || ': ' || charged_micros AS value FROM retired_charge ORDER BY account_id"),
    [`1: ${huge + 20n}`, "2: 50300"],
  );
  assert.deepEqual(await column(pool, "SELECT client_message_id AS value FROM message_name ORDER BY message_key"), [
    "unfinished day",
    "new",
  ]);
  assert.equal(node.covers(day(0)), false);

  await pool.use((session) => session.query("UPDATE message SET state = 4 WHERE key = $1", [day(1, 1)]));
  assert.equal(
    await purgeMessages(pool, node, NOON_MS + 3 * DAY_MS),
    1,
    "what has been finished goes in the next round",
  );
  assert.deepEqual(
    await column(pool, "SELECT CAST(charged_micros AS text) AS value FROM retired_charge WHERE account_id = 1"),
    [(huge + 8020n).toString()],
  );
});

test("several nodes that purgeMessages the same days count each charge once", async (t) => {
  const url = await postgresUrl(t);
  const pools = Array.from({ length: 4 }, () => openPool(t, url));
  const nodes = pools.map((pool) => new Partitions(pool, 1));
  const keys = [0, 1, 2].map((days) => keyAt(NOON_MS + days * DAY_MS));
  await nodes[0]!.ensure(keys);
  await pools[0]!.use(async (session) => {
    for (const key of keys) await insert(session, { key, chargedMicros: "7" });
  });
  const beforeMs = NOON_MS + 10 * DAY_MS;
  const gone = await Promise.all(nodes.map((node, index) => purgeMessages(pools[index]!, node, beforeMs)));
  const rest = await purgeMessages(pools[0]!, nodes[0]!, beforeMs);
  assert.equal(
    gone.reduce((sum, count) => sum + count, rest),
    6,
  );
  assert.deepEqual(await partitions(pools[0]!, "message"), []);
  assert.deepEqual(await column(pools[0]!, "SELECT charged_micros AS value FROM retired_charge"), [21]);
});

test("a day that somebody is reading is left for the next round, and no charge is counted for it", async (t) => {
  const pool = openPool(t, await postgresUrl(t));
  const node = new Partitions(pool, 1);
  const key = keyAt(NOON_MS);
  await node.ensure([key]);
  await pool.use((session) => insert(session, { key, chargedMicros: "7" }));
  await pool.use(async (session) => {
    await session.script("BEGIN; SELECT * FROM message");
    assert.equal(await purgeMessages(pool, node, NOON_MS + 10 * DAY_MS), 1, "only that of messages from phones went");
    await session.script("COMMIT");
  });
  assert.deepEqual(await column(pool, "SELECT charged_micros AS value FROM retired_charge"), []);
  assert.equal(await purgeMessages(pool, node, NOON_MS + 10 * DAY_MS), 1);
  assert.deepEqual(await column(pool, "SELECT charged_micros AS value FROM retired_charge"), [7]);
});

test("partitions of a month fit in between those of a day, and the other way round", async (t) => {
  const pool = openPool(t, await postgresUrl(t));
  await new Partitions(pool, 1).ensure([keyAt(NOON_MS)]);
  const months = new Partitions(pool, 30);
  const keys = [-40, -1, 1, 40].map((days) => keyAt(NOON_MS + days * DAY_MS));
  await months.ensure([...keys, keyAt(NOON_MS)]);
  await new Partitions(pool, 1).ensure([keyAt(NOON_MS + 100 * DAY_MS), ...keys]);
  await pool.use(async (session) => {
    for (const key of keys) await insert(session, { key });
  });
  const places = await column(pool, "SELECT CAST(tableoid::regclass AS text) AS value FROM message ORDER BY key");
  assert.equal(new Set(places).size, 4, "what lies on both sides of the one day is not in one partition");
  assert.equal((await partitions(pool, "message")).length, 6);
});

test("a partition whose last days are young loses none of its rows; some days after its last it loses all but its stragglers", async (t) => {
  const pool = openPool(t, await postgresUrl(t));
  const months = new Partitions(pool, 30);
  const key = (place: number): string => (BigInt(keyAt(NOON_MS)) + BigInt(place)).toString();
  await months.ensure([key(0)]);
  const bounds = await pool.use((session) => partitionsOf(session, "message"));
  const endMs = Number(bounds[0]!.to >> 21n);
  await pool.use(async (session) => {
    for (const place of [0, 1, 2])
      await insert(session, { key: key(place), chargedMicros: "7", name: `name ${place}` });
    await insert(session, { key: key(3), chargedMicros: "7", name: "straggler", state: SUBMITTED });
  });
  const messagePurge = new MessagePurge(months);
  const pass = async (beforeMs: number): Promise<unknown[]> => {
    await pool.use(async (session) => {
      for (let cursor: PurgeCursor = PURGE_START, more = true; more; )
        ({ cursor, more } = await messagePurge.purgeMessages(session, { beforeMs, nowMs: beforeMs, limit: 2, cursor }));
    });
    return column(pool, "SELECT client_message_id AS value FROM message_name ORDER BY message_key");
  };
  const all = ["name 0", "name 1", "name 2", "straggler"];
  assert.deepEqual(await pass(endMs - DAY_MS), all);
  assert.deepEqual(await pass(endMs), all, "it may still go whole");
  assert.deepEqual(await pass(endMs + 5 * DAY_MS), ["straggler"]);
  assert.deepEqual(await column(pool, "SELECT key::text AS value FROM message"), [key(3)]);
  assert.deepEqual(await column(pool, "SELECT charged_micros AS value FROM retired_charge"), [21]);
  await pool.use((session) => session.query("UPDATE message SET state = 4"));
  assert.deepEqual(await pass(endMs + 5 * DAY_MS), []);
  assert.deepEqual(await partitions(pool, "message"), []);
  assert.deepEqual(await column(pool, "SELECT charged_micros AS value FROM retired_charge"), [28]);
});

test("what is before the first message that has to stay is not looked at again", async (t) => {
  const pool = openPool(t, await postgresUrl(t));
  const node = new Partitions(pool, 1);
  const key = (place: number): string => (BigInt(keyAt(NOON_MS)) + BigInt(place)).toString();
  await node.ensure([key(0)]);
  const messagePurge = new MessagePurge(node);
  await pool.use(async (session) => {
    for (const place of [0, 1, 2, 3]) await insert(session, { key: key(place), state: place < 2 ? DONE : SUBMITTED });
    const looked: unknown[] = [];
    const watched: Session = {
      alive: true,
      script: (text) => session.script(text),
      query(text, values = []) {
        if (text.includes("AS straggler") && text.includes("FROM message")) looked.push(values[0]);
        return session.query(text, values);
      },
    };
    const firstKept = firstKey(Math.floor(NOON_MS / DAY_MS) + 9);
    const drop = (): Promise<number> => messagePurge.dropWhole(watched, firstKept, [NOON_MS, NOON_MS]);
    await drop();
    await drop();
    await session.query("UPDATE message SET state = 4 WHERE key = $1", [key(2)]);
    await drop();
    await drop();
    assert.deepEqual(looked.slice(1), [key(2), key(2), key(3)]);
    await session.query("UPDATE message SET state = 4");
    assert.equal(await drop(), 1);
  });
});
