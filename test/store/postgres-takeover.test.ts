/** Taking over from a node that is gone: it is fenced at once, and all that it owned is freed, however much that is and whoever dies meanwhile. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { PostgresConnection } from "../../src/drivers/postgres/connection.ts";
import type { Session } from "../../src/drivers/postgres/link.ts";
import { Lease } from "../../src/node/lease.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { localStore } from "../../src/store/group.ts";
import type { Feed } from "../../src/store/port/delivery.ts";
import { StoreUnavailable } from "../../src/store/port/errors.ts";
import type { PostgresEngine, PostgresOptions } from "../../src/store/postgres/engine.ts";
import { Nodes } from "../../src/store/postgres/nodes.ts";
import { freePage, goneNodes } from "../../src/store/postgres/takeover.ts";
import { openEngine } from "../support/nodes.ts";
import { postgresUrl } from "../support/postgres.ts";
import { eventually } from "../support/service.ts";
import { Bench } from "./harness.ts";
import { sessionOf } from "./postgres-node.ts";

const LEASE_MS = 60_000;
const SHORT_LEASE_MS = 1_000;
/** One statement that waits for a locked row hears of it after half of this. */
const STATEMENT_TIMEOUT_MS = 1_000;
const OWNED_MESSAGES = 20_000;
const OWNED_REPORTS = 1_200;
const NOW = systemClock.now();
const FIRST_KEY = BigInt(NOW) << 21n;

const CONNECTING = { connections: 4, statementTimeoutMs: STATEMENT_TIMEOUT_MS, leaseMs: LEASE_MS };

const open = (url: string, changes: Partial<PostgresOptions> = {}): Promise<PostgresEngine> =>
  openEngine(url, { ...CONNECTING, partitionDays: 1, clock: systemClock, ...changes });

/** A node that takes part; it gets the feeds and sends nothing. */
async function startNode(t: TestContext, url: string): Promise<{ engine: PostgresEngine; feeds: Feed[] }> {
  const engine = await open(url, { leaseMs: SHORT_LEASE_MS });
  t.after(() => engine.abandon());
  const feeds: Feed[] = [];
  const lost = (reason: string): void => assert.fail(reason);
  engine.start({ onFeed: (feed) => feeds.push(feed), onFenced: lost, send: async () => undefined });
  return { engine, feeds };
}

/** A node that has joined, owns all this, and is never heard of again. */
async function deadNode(session: Session): Promise<Nodes> {
  const nodes = new Nodes({ name: "dead", roles: ["dispatch"], leaseMs: LEASE_MS, lease: new Lease() });
  await nodes.join(session, Date.now());
  await session.query(
    `INSERT INTO message (key, account_id, bulk_id, state, status_id, owner, carrier_id, sender, recipient, body, encoding, part_count, flash,
       price_micros, charged_micros, currency, intermediate, due_at_ms, expires_at_ms, validity_ms, received_at_ms)
     SELECT CAST($1 AS bigint) + place, 1 + place % 3, 'bulk', 1, 7, $2, 'carrier', 'Sender', '41790000001', 'Hello', 'gsm7', 1, 0, 1, 1, 'EUR',
       0, 1, 1, 1, 1
     FROM generate_series(0, ${OWNED_MESSAGES - 1}) AS place`,
    [FIRST_KEY.toString(), nodes.epoch],
  );
  await session.query(
    `INSERT INTO report (id, kind, account_id, url, content_type, items, due_at_ms, held_by)
     SELECT place, 'delivery', 1, 'http://127.0.0.1:1/', 'application/json', '[]', 0, $1 FROM generate_series(1, ${OWNED_REPORTS}) AS place`,
    [nodes.epoch],
  );
  await session.query("INSERT INTO carrier_bind (carrier_id, slot, epoch) VALUES ('carrier', 0, $1)", [nodes.epoch]);
  await session.query("UPDATE node SET alive_until = '-infinity' WHERE epoch = $1", [nodes.epoch]);
  return nodes;
}

async function count(session: Session, what: string): Promise<number> {
  return (await session.query<{ count: number }>(`SELECT count(*) AS count FROM ${what}`)).rows[0]!.count;
}

const ownedBy = ({ epoch }: Nodes): string => `message WHERE owner = ${epoch}`;

test("what a dead node owned is freed although one of its messages is locked, and the looks go on meanwhile", async (t) => {
  const url = await postgresUrl(t);
  const { feeds } = await startNode(t, url);
  const session = await sessionOf(t, url);
  const holding = await sessionOf(t, url);
  const dead = await deadNode(session);
  await holding.script(`BEGIN; SELECT 1 FROM message WHERE key = ${FIRST_KEY} FOR UPDATE`);

  await eventually(async () => (await count(session, ownedBy(dead))) === 1);
  assert.equal(await count(session, `report WHERE held_by = ${dead.epoch}`), 0);
  assert.equal(await count(session, "report WHERE tried = 1"), OWNED_REPORTS);
  assert.equal(await count(session, "carrier_bind"), 0);
  const seen = feeds.length;
  await eventually(async () => feeds.length > seen + 2);
  assert.equal((await goneNodes(session)).length, 1, "it is not forgotten while it owns something");

  await holding.script("COMMIT");
  await eventually(async () => (await goneNodes(session)).length === 0);
  assert.equal(await count(session, ownedBy(dead)), 0);
});

test("when a node dies while it frees what another one owned, a third goes on with it", async (t) => {
  const url = await postgresUrl(t);
  // Its partitions are there from then on.
  await (await open(url)).close();
  const session = await sessionOf(t, url);
  const dead = await deadNode(session);
  const freeing = new Nodes({ name: "freeing", roles: ["dispatch"], leaseMs: 0, lease: new Lease() });
  freeing.touched(Lease.moment());
  assert.deepEqual(await freeing.fenceDead(session), ["dead"]);
  const page = await freePage(session, dead.epoch);
  assert.deepEqual([page.more, page.isLast], [true, false]);
  // It dies in the middle of the next page: the connection ends with the transaction open.
  const dying = new PostgresConnection({ url, ...CONNECTING, log: silentLog }, "dying");
  const last = await dying.session();
  await last.script(
    `BEGIN; SELECT 1 FROM gone_node FOR UPDATE; UPDATE message SET owner = NULL WHERE key = ${FIRST_KEY + 19_999n}`,
  );
  const left = await count(session, ownedBy(dead));
  assert.ok(left > 0 && left < OWNED_MESSAGES);

  await startNode(t, url);
  assert.deepEqual(
    await freePage(session, dead.epoch),
    { freed: 0, more: false, isLast: false },
    "one frees at a time",
  );
  dying.discard();
  await eventually(async () => (await goneNodes(session)).length === 0);
  assert.equal(await count(session, "message WHERE owner IS NOT NULL"), 0);
  assert.equal(await count(session, "report WHERE held_by IS NOT NULL"), 0);
});

test("an owner without a row is nobody: what it has is freed, and a node that lives keeps what is its own", async (t) => {
  const url = await postgresUrl(t);
  await (await open(url)).close();
  const session = await sessionOf(t, url);
  const nobody = await deadNode(session);
  await session.query("DELETE FROM node WHERE epoch = $1", [nobody.epoch]);
  const living = new Nodes({ name: "living", roles: ["dispatch"], leaseMs: LEASE_MS, lease: new Lease() });
  await living.join(session, Date.now());
  await session.query("UPDATE message SET owner = $1 WHERE key = $2", [living.epoch, FIRST_KEY.toString()]);
  await startNode(t, url);
  await eventually(async () => (await count(session, ownedBy(nobody))) === 0);
  await eventually(async () => (await goneNodes(session)).length === 0);
  assert.equal(await count(session, `report WHERE held_by = ${nobody.epoch}`), 0);
  assert.equal(await count(session, `carrier_bind WHERE epoch = ${nobody.epoch}`), 0);
  assert.equal(await count(session, ownedBy(living)), 1);
});

test("from the fence on a node does nothing with what it still owns", async (t) => {
  const url = await postgresUrl(t);
  const lease = new Lease();
  const bench = await Bench.start(t, async () => ({
    async open(clock, lanes, onFeed) {
      const engine = await open(url, { clock, lanes, lease });
      return { store: localStore(engine, onFeed), overflowed: [], close: () => engine.abandon() };
    },
  }));
  await bench.accept([bench.message(), bench.message()]);
  const [first, second] = bench.takeMessages();
  const session = await sessionOf(t, url);
  await session.query("UPDATE node SET alive_until = '-infinity'");
  const other = new Nodes({ name: "other", roles: ["dispatch"], leaseMs: 0, lease: new Lease() });
  other.touched(Lease.moment());
  assert.equal((await other.fenceDead(session)).length, 1);

  assert.equal(await count(session, "message WHERE owner IS NOT NULL"), 2, "nothing is freed yet");
  await assert.rejects(bench.submit([first!]), StoreUnavailable);
  await assert.rejects(
    bench.store.again({ messages: [{ key: second!.key, unknown: true, taken: null }] }),
    StoreUnavailable,
  );
  await assert.rejects(bench.accept([bench.message()]), StoreUnavailable);
  assert.equal(lease.holds(), false, "nor does it hand anything to a carrier");
  assert.equal(await count(session, "part"), 0);
});

test("a node that ends frees what it has, and leaves to the others what it cannot", async (t) => {
  const url = await postgresUrl(t);
  const ending = await open(url);
  const session = await sessionOf(t, url);
  const holding = await sessionOf(t, url);
  await deadNode(session);
  await session.query("UPDATE message SET owner = $1", [ending.epoch]);
  await holding.script(`BEGIN; SELECT 1 FROM message WHERE key = ${FIRST_KEY} FOR UPDATE`);
  await ending.close();
  assert.equal(await count(session, `node WHERE epoch = ${ending.epoch}`), 0);
  assert.ok((await count(session, `message WHERE owner = ${ending.epoch}`)) > 0);
  await holding.script("COMMIT");
  await startNode(t, url);
  await eventually(async () => (await goneNodes(session)).length === 0 && (await count(session, "node")) === 1);
  assert.equal(await count(session, "message WHERE owner IS NOT NULL"), 0);
});
