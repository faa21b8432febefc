/** Delivery on a store that shares its carriers' connections out: served with the first slot, given up with the last. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { RULES } from "../../src/commands/table.ts";
import { Delivery } from "../../src/delivery.ts";
import { Lease } from "../../src/node/lease.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { expose } from "../../src/runtime/metrics.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import { readSettings } from "../../src/settings/settings.ts";
import { localStore } from "../../src/store/group.ts";
import type { Feed } from "../../src/store/port/delivery.ts";
import type { BindShare } from "../../src/store/port/nodes.ts";
import type { Store } from "../../src/store/port/store.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { Bench } from "../store/harness.ts";
import { metricOf } from "../support/exposition.ts";
import { storeDirectory } from "../support/service.ts";

const PROFILE = { id: "carrier", kind: "simulator", answerAfterMs: 100 };

test("a simulated network is played by the node that has its slot, and what it had taken goes on at the next", async (t) => {
  const directory = await storeDirectory(t);
  let take: (feed: Feed) => void = () => undefined;
  const bench = await Bench.start(t, async () => ({
    async open(clock, lanes, onFeed) {
      const engine = new SqliteEngine({ rules: RULES, directory, clock, lanes, mode: "deliver" });
      const store = localStore(engine, (feed) => {
        onFeed(feed);
        take(feed);
      });
      return { store, overflowed: engine.overflowedLanes(), close: async () => engine.close() };
    },
  }));
  await bench.store.putCatalogue({ items: [{ kind: "carrier", id: "carrier", body: JSON.stringify(PROFILE) }] });

  let share: Omit<BindShare, "carrierId"> = { slots: [], excess: 0 };
  const told: number[] = [];
  const shareBinds: Store["shareBinds"] = async ({ claims }) => {
    told.push(...claims.flatMap(({ closed }) => closed));
    return claims.map(({ carrierId }) => ({ carrierId, ...share }));
  };
  const delivery = new Delivery({
    store: { ...bench.store, shareBinds },
    clock: bench.clock,
    random: seededRandom(1),
    log: silentLog,
    settings: readSettings({ environment: {}, flags: {} }),
    lease: Lease.endless(),
    sandbox: true,
  });
  take = (feed) => delivery.take(feed);
  const metric = (name: string, labels: Record<string, string> = {}) =>
    metricOf(expose(delivery.metrics()), `heliograph_${name}`, labels);
  const submitted = () => metric("carrier_submits_total", { outcome: "accepted" });
  await delivery.start([]);

  await bench.accept([bench.message({ to: "41790000001" })]);
  await bench.clock.advance(5_000);
  assert.equal(submitted(), 0);
  assert.equal(metric("dispatch_messages_in_memory"), 0, "it is left to whoever has the slot");

  share = { slots: [0], excess: 0 };
  await bench.clock.advance(1_000);
  assert.equal(submitted(), 1);
  await bench.accept([bench.message({ to: "41790999001" })]);
  await bench.clock.advance(1);
  assert.equal(submitted(), 2, "its phone answers in a minute and a half");

  share = { slots: [0], excess: 1 };
  await bench.clock.advance(2_500);
  assert.deepEqual(told, [0]);
  share = { slots: [], excess: 0 };
  await bench.clock.advance(120_000);
  assert.equal(metric("carrier_receipts_total"), 0, "nobody plays it, and this node tells nothing of it");
  share = { slots: [0], excess: 0 };
  await bench.clock.advance(2_000);
  assert.equal(metric("carrier_receipts_total"), 2, "one for each");
  await Promise.all([delivery.stop(), bench.clock.advance(20_000)]);
});
