/** Nodes on one database: who is taken for dead and who is not, and what becomes of a commit whose connection died in it. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Lease } from "../../src/runtime/lease.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { Connection, type Session } from "../../src/store/postgres/connection.ts";
import { Nodes } from "../../src/store/postgres/nodes.ts";
import { fakePostgres } from "../support/fake-postgres.ts";
import { postgresUrl } from "../support/postgres.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

function connectionTo(t: TestContext, url: string, leaseMs: number, clock?: VirtualClock): Connection {
  const options = { url, connections: 1, statementTimeoutMs: 10_000, leaseMs, log: silentLog };
  const connection = new Connection(options, "test", clock);
  t.after(() => connection.close());
  return connection;
}

async function join(session: Session, leaseMs: number): Promise<Nodes> {
  const nodes = new Nodes({ name: "test", roles: ["dispatch"], leaseMs, lease: new Lease() });
  await nodes.join(session);
  return nodes;
}

const inThePast = (leaseMs: number): bigint => Lease.moment() - BigInt(leaseMs) * 2_000_000n;

test("a node that has found the database again gives the others a whole lease before it takes them for dead", async (t) => {
  const leaseMs = 60_000;
  const session = await connectionTo(t, await postgresUrl(t), leaseMs).session();
  const first = await join(session, leaseMs);
  const other = await join(session, leaseMs);
  await session.query("UPDATE node SET alive_until = '-infinity' WHERE epoch = $1", [other.epoch]);

  first.touched(inThePast(leaseMs));
  first.lostTouch();
  assert.equal(await first.renew(session), true);
  assert.deepEqual(await first.deposeDead(session), [], "it was away a moment ago, and the other may still be looking");
  assert.equal(await other.renew(session), true);

  await session.query("UPDATE node SET alive_until = '-infinity' WHERE epoch = $1", [other.epoch]);
  first.lostTouch();
  first.touched(inThePast(leaseMs));
  assert.deepEqual(await first.deposeDead(session), ["test"]);
  assert.equal(await other.renew(session), false);
});

test("while the database is away it is looked for several times in a lease", async (t) => {
  const leaseMs = 1_500;
  const clock = new VirtualClock();
  const fake = await fakePostgres(t, { mute: true });
  const connection = connectionTo(t, fake.url, leaseMs, clock);
  for (let attempt = 1; attempt <= 8; attempt++) {
    const asked = connection.session();
    asked.catch(() => undefined);
    while (fake.connections < attempt) await new Promise((resolve) => setImmediate(resolve));
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
  assert.equal(await node.fence(lost, 7), true);
  // As far as the node knows this connection is gone; over there the commit is still under way.
  const group = node.lastGroup(session);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await lost.script("COMMIT");
  assert.equal(await group, 7);
});
