/** A bulk with a speed limit on two nodes of one database: together they keep to it, also when one of them is killed. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Dispatcher } from "../../src/dispatch/dispatcher.ts";
import { PostgresConnection } from "../../src/drivers/postgres/connection.ts";
import { Lease } from "../../src/node/lease.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { localStore } from "../../src/store/group.ts";
import type { Feed, LaneName } from "../../src/store/port/delivery.ts";
import type { Store } from "../../src/store/port/store.ts";
import type { PostgresEngine } from "../../src/store/postgres/engine.ts";
import { Nodes } from "../../src/store/postgres/nodes.ts";
import { freePage, goneNodes } from "../../src/store/postgres/takeover.ts";
import { ScriptedCarrier } from "../dispatch/scripted-carrier.ts";
import { numbered } from "../dispatch/setup.ts";
import { Bench } from "../store/harness.ts";
import { openEngine } from "../support/nodes.ts";
import { mostWithin } from "../support/pace.ts";
import { PATIENT_MS, postgresUrl } from "../support/postgres.ts";
import type { VirtualClock } from "../support/virtual-clock.ts";

const MINUTE = 60_000;
const LIMIT = { amount: 30, unitMs: MINUTE };
const LANES = { lane: 100, total: 1_000 };
const SETTINGS = { claimMessages: 50, laneMessages: 100, sweepEveryMs: 10_000 };

interface Node {
  readonly name: string;
  readonly engine: PostgresEngine;
  readonly store: Store;
  readonly carrier: ScriptedCarrier;
  readonly dispatcher: Dispatcher;
  readonly lease: Lease;
}

/** What came to the one carrier that the nodes share. */
interface Handed {
  readonly atMs: number;
  readonly to: string;
  readonly by: string;
}

/** The store, with the calls counted that are under way: the virtual clock waits for them. */
function counted(store: Store, calls: { underWay: number }): Store {
  return new Proxy(store, {
    get(target, name, receiver) {
      const value = Reflect.get(target, name, receiver);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        calls.underWay++;
        const answer = Promise.resolve(value.apply(target, args));
        void answer.catch(() => undefined).then(() => calls.underWay--);
        return answer;
      };
    },
  });
}

class Cluster {
  readonly #t: TestContext;
  readonly #url: string;
  readonly #calls = { underWay: 0 };
  readonly handed: Handed[] = [];
  /** Whether the carrier answers the n-th part that it is handed. */
  answers: (nth: number) => boolean = () => true;

  private constructor(t: TestContext, url: string) {
    this.#t = t;
    this.#url = url;
  }

  static async start(t: TestContext): Promise<{ cluster: Cluster; bench: Bench; first: Node }> {
    const cluster = new Cluster(t, await postgresUrl(t));
    let take: (feed: Feed) => void = () => undefined;
    let engine: PostgresEngine | null = null;
    const bench = await Bench.start(
      t,
      async () => ({
        open: async (clock, _lanes, onFeed) => {
          engine = await cluster.#open(clock);
          const deliver = (feed: Feed): void => {
            onFeed(feed);
            take(feed);
          };
          const store = counted(localStore(engine, deliver), cluster.#calls);
          return { store, ids: engine.ids, overflowed: [], close: async () => engine!.abandon() };
        },
      }),
      { lanes: LANES },
    );
    bench.clock.waitFor(() => cluster.#calls.underWay === 0);
    const first = await cluster.#dispatch("first", engine!, bench.store, bench.clock, []);
    take = (feed) => first.dispatcher.take(feed);
    return { cluster, bench, first };
  }

  #open(clock: VirtualClock): Promise<PostgresEngine> {
    return openEngine(this.#url, { leaseMs: 600_000, clock, lanes: LANES });
  }

  /** Of another node that does nothing by itself. */
  async engine(clock: VirtualClock): Promise<PostgresEngine> {
    const engine = await this.#open(clock);
    this.#t.after(() => engine.abandon());
    return engine;
  }

  /** Another node. */
  async join(name: string, clock: VirtualClock): Promise<Node> {
    const engine = await this.engine(clock);
    let take: (feed: Feed) => void = () => undefined;
    const store = counted(
      localStore(engine, (feed) => take(feed)),
      this.#calls,
    );
    const node = await this.#dispatch(name, engine, store, clock, await engine.overflowedLanes());
    take = (feed) => node.dispatcher.take(feed);
    return node;
  }

  async #dispatch(
    name: string,
    engine: PostgresEngine,
    store: Store,
    clock: VirtualClock,
    overflowed: readonly LaneName[],
  ): Promise<Node> {
    const carrier = new ScriptedCarrier();
    carrier.window = 50;
    carrier.answer = ({ message }) => {
      const nth = this.handed.push({ atMs: clock.now(), to: message.to, by: name });
      if (!this.answers(nth)) return new Promise(() => undefined);
      return { kind: "accepted", carrierMessageId: `c${nth}` };
    };
    const lease = Lease.endless();
    const dispatcher = new Dispatcher({
      store,
      clock,
      log: silentLog,
      settings: SETTINGS,
      lease,
      route: () => null,
      knows: () => true,
      lookAgain: async () => undefined,
    });
    await dispatcher.addCarrier(carrier);
    dispatcher.start(overflowed);
    return { name, engine, store, carrier, dispatcher, lease };
  }

  /** The node dies without a word, and the other one takes over what it had. */
  async kill(victim: Node, survivor: Node): Promise<void> {
    victim.lease.end();
    victim.carrier.up = false;
    const options = {
      url: this.#url,
      connections: 1,
      statementTimeoutMs: PATIENT_MS,
      leaseMs: 600_000,
      log: silentLog,
    };
    const connection = new PostgresConnection(options, "heliograph test");
    const session = await connection.session();
    await session.query("UPDATE node SET alive_until = '-infinity' WHERE epoch = $1", [victim.engine.epoch]);
    const reaper = new Nodes({ name: "test", roles: [], leaseMs: 0, lease: new Lease() });
    reaper.touched(Lease.moment());
    await reaper.fenceDead(session);
    for (const { epoch } of await goneNodes(session)) while ((await freePage(session, epoch)).more);
    await connection.close();
    const overflowed = await survivor.engine.overflowedLanes();
    survivor.dispatcher.take({ messages: [], reports: [], overflowed, earliestDueAtMs: null });
  }

  keepsTo(limit: typeof LIMIT): void {
    const most = mostWithin(
      this.handed.map(({ atMs }) => atMs),
      limit.unitMs,
    );
    assert.ok(most <= limit.amount, `${most} in one unit`);
  }

  get different(): number {
    return new Set(this.handed.map(({ to }) => to)).size;
  }
}

async function minutes({ clock }: Bench, count: number): Promise<void> {
  for (let second = 0; second < count * 60; second++) await clock.advance(1_000);
}

test("two nodes share the pace of a bulk, and use it", async (t) => {
  const { cluster, bench } = await Cluster.start(t);
  await cluster.join("second", bench.clock);
  const startMs = bench.clock.now();
  await bench.accept(numbered(bench, 120), {}, { speedLimit: LIMIT });
  await minutes(bench, 4.5);
  assert.deepEqual([cluster.different, cluster.handed.length], [120, 120]);
  cluster.keepsTo(LIMIT);
  const tookMs = cluster.handed.at(-1)!.atMs - startMs;
  assert.ok(tookMs > 3.9 * MINUTE && tookMs < 4.3 * MINUTE, `${tookMs} ms`);
  assert.deepEqual(await bench.store.verifyLedger(), []);
});

test("two nodes that claim at the same moment give each slot once", async (t) => {
  const { cluster, bench, first } = await Cluster.start(t);
  await first.dispatcher.stop();
  const released: Handed[] = [];
  const other = await cluster.engine(bench.clock);
  const noteAll = (by: string, feed: Pick<Feed, "messages">): void => {
    for (const { to } of feed.messages) released.push({ atMs: bench.clock.now(), to, by });
  };
  const second = localStore(other, (feed) => noteAll("second", feed));
  const limit = { amount: 100, unitMs: MINUTE };
  await bench.accept(numbered(bench, 250), {}, { speedLimit: limit });
  // Eight seconds pass at a time, then one, and so on: there is always something late.
  for (let round = 0; round < 160 && released.length < 250; round++) {
    await bench.clock.advance(round % 4 === 0 ? 8_000 : 1_000);
    for (let more = true; more; ) {
      const input = { nowMs: bench.clock.now(), limit: 3 };
      const answers = await Promise.all([bench.store.claimDue(input), second.claimDue(input)]);
      more = answers.some((answer) => answer.more);
      noteAll("first", { messages: bench.takeMessages() });
    }
  }
  assert.deepEqual([new Set(released.map(({ to }) => to)).size, released.length], [250, 250]);
  assert.equal(new Set(released.map(({ by }) => by)).size, 2, "both had a part in it");
  const most = mostWithin(
    released.map(({ atMs }) => atMs),
    MINUTE,
  );
  assert.ok(most <= limit.amount, `${most} in one minute`);
});

test("requests that come to two nodes at the same moment share the pace of their bulk", async (t) => {
  const { cluster, bench, first } = await Cluster.start(t);
  const second = await cluster.join("second", bench.clock);
  const accept = ({ store }: Node, from: number) =>
    store.accept(bench.acceptance(numbered(bench, from + 30).slice(from), {}, { speedLimit: LIMIT, bulkId: "shared" }));
  await accept(first, 0);
  await Promise.all([accept(first, 30), accept(second, 60)]);
  await minutes(bench, 4);
  assert.deepEqual([cluster.different, cluster.handed.length], [90, 90]);
  cluster.keepsTo(LIMIT);
});

test("a node that is killed takes no slot with it, and what it left in doubt takes another", async (t) => {
  const { cluster, bench, first } = await Cluster.start(t);
  let victim = await cluster.join("second", bench.clock);
  cluster.answers = (nth) => nth % 3 !== 0;
  await bench.accept(numbered(bench, 120), {}, { speedLimit: LIMIT });
  for (let kill = 0; kill < 4; kill++) {
    // Not on a whole second, and so not always long after a slot.
    await minutes(bench, 0.5);
    await bench.clock.advance(1_050 * kill);
    await cluster.kill(victim, first);
    victim = await cluster.join(`node ${kill}`, bench.clock);
  }
  cluster.answers = () => true;
  // What the first node has on the wire without an answer stays there: its carrier is taken for dead with it.
  const last = await cluster.join("last", bench.clock);
  await cluster.kill(first, last);
  await minutes(bench, 5);
  assert.equal(cluster.different, 120);
  assert.ok(cluster.handed.length > 120, "some went twice, and were counted");
  cluster.keepsTo(LIMIT);
});
