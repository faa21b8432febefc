/** What a node sees of the others: the looks of its watch, its place among them, and its number in the ids that it makes. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import pg from "pg";
import { PostgresConnection } from "../../src/drivers/postgres/connection.ts";
import type { Session } from "../../src/drivers/postgres/link.ts";
import { PostgresPool } from "../../src/drivers/postgres/pool.ts";
import { Lease } from "../../src/node/lease.ts";
import { TOOL_NODE } from "../../src/runtime/ids.ts";
import { type Log, silentLog } from "../../src/runtime/log.ts";
import type { Feed } from "../../src/store/port/delivery.ts";
import type { BindClaim, BindShare } from "../../src/store/port/nodes.ts";
import { Nodes } from "../../src/store/postgres/nodes.ts";
import { Partitions } from "../../src/store/postgres/partitions.ts";
import { FIRST_LANE, waitingLanes } from "../../src/store/postgres/waiting-lanes.ts";
import { Watch, type WatchParts } from "../../src/store/postgres/watch.ts";
import { PATIENT_MS, postgresUrl } from "../support/postgres.ts";
import { eventually } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { NOW } from "./harness.ts";

const LEASE_MS = 60_000;
const optionsOf = (url: string) => ({
  url,
  connections: 3,
  statementTimeoutMs: PATIENT_MS,
  leaseMs: LEASE_MS,
  log: silentLog,
});

async function sessionOf(t: TestContext, url: string): Promise<Session> {
  const connection = new PostgresConnection(optionsOf(url), "test");
  t.after(() => connection.close());
  return connection.session();
}

async function join(session: Session): Promise<Nodes> {
  const nodes = new Nodes({ name: "test", roles: ["dispatch"], leaseMs: LEASE_MS, lease: new Lease() });
  await nodes.join(session, Date.now());
  return nodes;
}

// --- The watch -------------------------------------------------------------------------------------------------------------

interface Watching {
  readonly clock: VirtualClock;
  readonly feeds: Feed[];
  /** Resolves when so many looks are over and the next one is waited for. */
  looked(count: number): Promise<void>;
}

/** A watch whose looks are real and whose time is the test's. It serves the carrier "served". */
async function startWatch(
  t: TestContext,
  url: string,
  nodes: Nodes,
  { log = silentLog, roles = ["dispatch"] }: Partial<Pick<WatchParts, "log" | "roles">> = {},
): Promise<Watching> {
  const clock = new VirtualClock(NOW);
  const feeds: Feed[] = [];
  const pool = new PostgresPool(optionsOf(url), "test");
  const partitions = new Partitions(pool, 1);
  await partitions.ensureAhead(NOW);
  const watch = new Watch({
    url,
    leaseMs: LEASE_MS,
    clock,
    log,
    roles,
    pool,
    nodes,
    partitions,
    serves: (carrierId) => carrierId.startsWith("served"),
    onOverflowed: () => undefined,
    onFeed: (feed) => feeds.push(feed),
    send: async () => undefined,
  });
  t.after(async () => {
    await watch.stop();
    await pool.close();
  });
  watch.start();
  const looked = async (count: number): Promise<void> => {
    await eventually(async () => feeds.length >= count && clock.timersPending > 0);
  };
  await looked(1);
  return { clock, feeds, looked };
}

test("news that comes all the time does not put the look off", async (t) => {
  const url = await postgresUrl(t);
  const { clock, looked } = await startWatch(t, url, await join(await sessionOf(t, url)));
  const emit = t.mock.method(pg.Client.prototype, "emit");
  const heard = (): number => emit.mock.calls.filter(({ arguments: [name] }) => name === "notification").length;
  const speaker = await sessionOf(t, url);
  // The first until the watch listens; then every 10 ms, for less time than there is between two looks without any news.
  await eventually(async () => {
    await speaker.script("NOTIFY heliograph");
    return heard() > 0;
  });
  for (let news = 0; news < 10; news++) {
    const before = heard();
    await speaker.script("NOTIFY heliograph");
    await eventually(async () => heard() > before);
    await clock.advance(10);
  }
  await looked(2);
});

/** Messages that no node has in memory, one in each of these lanes. */
async function overflow(session: Session, lanes: readonly { carrierId: string; accountId: number }[]): Promise<void> {
  await session.query(
    `INSERT INTO message (key, account_id, bulk_id, state, status_id, carrier_id, sender, recipient, body, encoding, part_count, flash,
       price_micros, charged_micros, currency, intermediate, due_at_ms, expires_at_ms, validity_ms, received_at_ms)
     SELECT CAST($1 AS bigint) + place, account, 'bulk', 1, 7, carrier, 'Sender', '41790000001', 'Hello', 'gsm7', 1, 0, 1, 1, 'EUR', 0, 1, 1, 1, 1
     FROM unnest($2::text[], $3::bigint[]) WITH ORDINALITY AS lane (carrier, account, place)`,
    [(BigInt(NOW) << 21n).toString(), lanes.map(({ carrierId }) => carrierId), lanes.map(({ accountId }) => accountId)],
  );
}

test("a look at very many lanes goes on where the last one stopped, and begins again after the last lane", async (t) => {
  const url = await postgresUrl(t);
  const session = await sessionOf(t, url);
  const { clock, feeds, looked } = await startWatch(t, url, await join(session));
  const lanes = Array.from({ length: 250 }, (_, index) => ({ accountId: index + 1, carrierId: "served" }));
  await overflow(session, lanes);
  for (let look = 2; look <= 4; look++) {
    await clock.advance(500);
    await looked(look);
  }
  const seen = feeds.slice(1).map(({ overflowed }) => overflowed);
  assert.deepEqual(seen, [lanes.slice(0, 200), lanes.slice(200), lanes.slice(0, 200)]);

  const accounts = async (after: number, limit: number): Promise<number[]> => {
    const found = await waitingLanes(session, { accountId: after, carrierId: "served" }, limit);
    return found.map(({ accountId }) => accountId);
  };
  assert.deepEqual(await accounts(7, 3), [8, 9, 10]);
  assert.deepEqual(await accounts(248, 3), [249, 250]);
  assert.equal((await waitingLanes(session, FIRST_LANE, 1)).length, 1);
});

test("what waits for a carrier that is not in the catalogue is the leader's, and nobody else's", async (t) => {
  const url = await postgresUrl(t);
  const session = await sessionOf(t, url);
  const leading = await startWatch(t, url, await join(session));
  const following = await startWatch(t, url, await join(session));
  await session.query("INSERT INTO catalogue_item (kind, id, body) VALUES ('carrier', 'elsewhere', '{}')");
  await overflow(
    session,
    ["elsewhere", "gone", "served"].map((carrierId) => ({ carrierId, accountId: 1 })),
  );
  const seenBy = async ({ clock, feeds, looked }: Watching): Promise<string[]> => {
    await clock.advance(500);
    await looked(2);
    return feeds[1]!.overflowed.map(({ carrierId }) => carrierId);
  };
  assert.deepEqual(await seenBy(leading), ["gone", "served"]);
  assert.deepEqual(await seenBy(following), ["served"]);
});

test("a step of the look that is slow, or fails, keeps nothing of the others; it is told once, and made when it can be", async (t) => {
  const url = await postgresUrl(t);
  const session = await sessionOf(t, url);
  const holding = await sessionOf(t, url);
  const warnings: string[] = [];
  const warn = (_: unknown, text?: string): void => void warnings.push(text ?? "");
  const log: Log = { debug() {}, info() {}, error() {}, warn };
  const watching = await startWatch(t, url, await join(session), { log, roles: ["dispatch", "reports"] });
  const { clock, feeds } = watching;
  const after = async (isSeen: (feed: Feed) => boolean): Promise<void> => {
    const before = feeds.length;
    await eventually(async () => {
      await clock.advance(100);
      return feeds.slice(before).some(isSeen);
    });
  };

  await holding.script("BEGIN; LOCK TABLE report IN ACCESS EXCLUSIVE MODE");
  await overflow(session, [{ carrierId: "served", accountId: 1 }]);
  for (let look = 0; look < 3; look++) await after(({ overflowed }) => overflowed.length === 1);
  await holding.script("ALTER TABLE report RENAME TO report_elsewhere; COMMIT");
  await eventually(async () => {
    await clock.advance(100);
    return warnings.length > 0;
  });
  for (let look = 0; look < 3; look++) await after(({ overflowed }) => overflowed.length === 1);
  assert.deepEqual(warnings, ["could not see which reports are due; trying again"]);

  await session.script("ALTER TABLE report_elsewhere RENAME TO report");
  await session.query(
    `INSERT INTO report (id, kind, account_id, url, content_type, items, due_at_ms) VALUES (1, 'delivery', 1, 'x', 'x', '[]', 0)`,
  );
  await after(({ reportsWait }) => reportsWait === true);
});

// --- Its place among the nodes ---------------------------------------------------------------------------------------------

test("a new node takes the next number, not the one that was just given up, and begins again after the last", async (t) => {
  const session = await sessionOf(t, await postgresUrl(t));
  const first = await join(session);
  const stays = await join(session);
  await first.leave(session);
  const third = await join(session);
  assert.equal(stays.slot, first.slot + 1);
  assert.equal(third.slot, stays.slot + 1);

  // Once around: the next in turn is still taken.
  await session.query("UPDATE counter SET starts = $1", [stays.epoch + TOOL_NODE - 1]);
  assert.equal((await join(session)).slot, third.slot + 1);
  await session.query("UPDATE counter SET starts = $1", [2 * TOOL_NODE - 2]);
  assert.deepEqual([(await join(session)).slot, (await join(session)).slot], [TOOL_NODE - 1, 0]);
});

test("when a carrier allows fewer connections, two nodes end with the same number each", async (t) => {
  const session = await sessionOf(t, await postgresUrl(t));
  const [one, other] = [await join(session), await join(session)];
  const share = async (nodes: Nodes, change: Partial<BindClaim> = {}): Promise<Omit<BindShare, "carrierId">> => {
    const claims = [{ carrierId: "carrier", binds: 2, closed: [], ...change }];
    const [{ slots, excess }] = (await nodes.shareBinds(session, claims, (run) => run())) as [BindShare];
    return { slots, excess };
  };
  assert.deepEqual(await share(one, { binds: 4 }), { slots: [0, 1], excess: 0 });
  assert.deepEqual(await share(other, { binds: 4 }), { slots: [2, 3], excess: 0 });

  assert.deepEqual(await share(one), { slots: [0, 1], excess: 1 });
  assert.deepEqual(await share(other), { slots: [], excess: 0 }, "there are no third and fourth any more");
  assert.deepEqual(await share(one, { closed: [1] }), { slots: [0], excess: 0 });
  // It gets its share also before it has told that the old ones are closed.
  assert.deepEqual(await share(other), { slots: [1], excess: 0 });
  assert.deepEqual(await share(other, { closed: [2, 3] }), { slots: [1], excess: 0 });
  const { rows } = await session.query("SELECT slot, epoch FROM carrier_bind ORDER BY slot");
  assert.deepEqual(rows, [
    { slot: 0, epoch: one.epoch },
    { slot: 1, epoch: other.epoch },
  ]);
});
