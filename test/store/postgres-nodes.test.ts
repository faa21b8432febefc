/** Nodes on one database: who is taken for dead and who is not, and what becomes of a commit whose connection died in it. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CarrierNotes } from "../../src/dispatch/carrier-notes.ts";
import { PostgresConnection } from "../../src/drivers/postgres/connection.ts";
import type { Session } from "../../src/drivers/postgres/link.ts";
import { Lease } from "../../src/node/lease.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { localStore } from "../../src/store/group.ts";
import type { LaneBounds } from "../../src/store/lanes.ts";
import { type Feed, SWEEP_START } from "../../src/store/port/delivery.ts";
import { Nodes } from "../../src/store/postgres/nodes.ts";
import { fakePostgres } from "../support/fake-postgres.ts";
import { openEngine } from "../support/nodes.ts";
import { PATIENT_MS, postgresUrl } from "../support/postgres.ts";
import { eventually } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { Bench, CARRIER, type OpenedStore } from "./harness.ts";

function connectionTo(t: TestContext, url: string, leaseMs: number, clock?: VirtualClock): PostgresConnection {
  const options = { url, connections: 1, statementTimeoutMs: PATIENT_MS, leaseMs, log: silentLog };
  const connection = new PostgresConnection(options, "test", clock);
  t.after(() => connection.close());
  return connection;
}

async function join(session: Session, leaseMs: number): Promise<Nodes> {
  const nodes = new Nodes({ name: "test", roles: ["dispatch"], leaseMs, lease: new Lease() });
  await nodes.join(session, Date.now());
  return nodes;
}

const inThePast = (leaseMs: number): bigint => Lease.moment() - BigInt(leaseMs) * 2_000_000n;

test("a node that has found the database again gives the others a whole lease before it takes them for dead", async (t) => {
  const leaseMs = 60_000;
  const session = await connectionTo(t, await postgresUrl(t), leaseMs).session();
  const first = await join(session, leaseMs);
  const other = await join(session, leaseMs);
  await session.query("UPDATE node SET alive_until = '-infinity' WHERE epoch = $1", [other.epoch]);

  first.touched(inThePast(leaseMs), inThePast(leaseMs));
  first.lostTouch();
  assert.equal(await first.renew(session), true);
  assert.deepEqual(await first.fenceDead(session), [], "it was away a moment ago, and the other may still be looking");
  assert.equal(await other.renew(session), true);

  await session.query("UPDATE node SET alive_until = '-infinity' WHERE epoch = $1", [other.epoch]);
  first.lostTouch();
  first.touched(inThePast(leaseMs), inThePast(leaseMs));
  assert.deepEqual(await first.fenceDead(session), ["test"]);
  assert.equal(await other.renew(session), false);
});

test("an answer that took long is a database that stood still, and nobody is taken for dead after it", async (t) => {
  const leaseMs = 60_000;
  const session = await connectionTo(t, await postgresUrl(t), leaseMs).session();
  const first = await join(session, leaseMs);
  const other = await join(session, leaseMs);
  await session.query("UPDATE node SET alive_until = '-infinity' WHERE epoch = $1", [other.epoch]);
  first.touched(inThePast(leaseMs), inThePast(leaseMs));
  first.touched(inThePast(leaseMs));
  assert.deepEqual(await first.fenceDead(session), []);
});

test("while the database is away it is looked for several times in a lease", async (t) => {
  const leaseMs = 1_500;
  const clock = new VirtualClock();
  const fake = await fakePostgres(t, { mute: true });
  const connection = connectionTo(t, fake.url, leaseMs, clock);
  for (let attempt = 1; attempt <= 8; attempt++) {
    const asked = connection.session();
    let refused = false;
    asked.catch(() => {
      refused = true;
    });
    while (fake.connections < attempt && !refused) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(fake.connections, attempt, "a third of a lease later the next attempt is due");
    fake.drop();
    await assert.rejects(asked);
    await clock.advance(leaseMs / 3);
  }
});

test("a commit whose connection died is waited for before it is said whether it went through", async (t) => {
  const url = await postgresUrl(t);
  const leaseMs = 60_000;
  const session = await connectionTo(t, url, leaseMs).session();
  const lost = await connectionTo(t, url, leaseMs).session();
  const node = await join(session, leaseMs);
  await lost.script("BEGIN");
  assert.equal(await node.fence(lost, 0, 7), true);
  // As far as the node knows this connection is gone; over there the commit is still under way.
  const group = node.lastGroup(session, 0);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await lost.script("COMMIT");
  assert.equal(await group, 7);
});

/** A store of this database, of a node that does nothing by itself. */
async function openNode(
  url: string,
  clock: VirtualClock,
  lanes: LaneBounds,
  onFeed: (feed: Feed) => void,
): Promise<OpenedStore> {
  const engine = await openEngine(url, { clock, lanes });
  return { store: localStore(engine, onFeed), overflowed: [], close: () => engine.abandon() };
}

test("a node whose clock is fast takes no other for gone, and one whose clock is slow is shown", async (t) => {
  const url = await postgresUrl(t);
  const lanes = { lane: 100, total: 1_000 };
  const names: string[] = [];
  for (const aheadMs of [0, 120_000, -120_000]) {
    const clock = new VirtualClock(Date.now() + aheadMs);
    const { store, close } = await openNode(url, clock, lanes, () => undefined);
    const node = `ahead by ${aheadMs}`;
    const dispatcher = { stateFacts: () => [], connectNow: () => false };
    const notes = new CarrierNotes({ store, clock, log: silentLog, dispatcher, node });
    await notes.start();
    t.after(async () => {
      await notes.stop();
      await close();
    });
    names.push(node);
    await clock.advance(1_000);
    const shown = await eventually(async () => {
      const nodes = (await store.carrierNotes({ goneMs: 90_000 })).map((note) => note.node);
      return nodes.includes(node) && nodes;
    });
    assert.deepEqual(shown, names);
  }
});

test("a part and its receipt that two nodes write at the same moment find each other in the rounds", async (t) => {
  const url = await postgresUrl(t);
  const bench = await Bench.start(t, async () => ({
    open: (clock, lanes, onFeed) => openNode(url, clock, lanes, onFeed),
  }));
  const other = await openNode(url, bench.clock, { lane: 100, total: 1_000 }, () => undefined);
  t.after(() => other.close());
  await bench.accept([bench.message()]);
  const [message] = bench.takeMessages();

  // The submit has read all that it needs and cannot write yet, while the receipt comes to the other node.
  const holding = await connectionTo(t, url, 60_000).session();
  await holding.script("BEGIN");
  await holding.script("LOCK TABLE part IN SHARE MODE");
  const submitted = bench.submit([message!]);
  const waits = async (): Promise<boolean> =>
    (await holding.query("SELECT 1 FROM pg_locks WHERE relation = 'part'::regclass AND NOT granted")).rows.length > 0;
  while (!(await waits())) await new Promise((resolve) => setImmediate(resolve));
  const receipts = [bench.receipt(`${message!.key}.1`)];
  assert.deepEqual(await other.store.received({ carrierId: CARRIER, receipts }), {
    unmatched: 1,
    foreign: 0,
    doubtful: 0,
    repeated: 0,
    later: 0,
    strangers: [],
  });
  await holding.script("COMMIT");
  await submitted;
  assert.equal((await other.store.parkedReceipts({ limit: 10 })).count, 1);

  const nowMs = bench.clock.now();
  await other.store.sweep({ nowMs, receiptWaitMs: 1_000, limit: 10, cursor: SWEEP_START });
  assert.equal((await other.store.parkedReceipts({ limit: 10 })).count, 0);
  assert.deepEqual(await other.store.outstanding({ carrierId: CARRIER, afterRow: 0, limit: 10 }), []);
});
