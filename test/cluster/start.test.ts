/** Nodes that start at the same moment do not get in each other's way. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/runtime/clock.ts";
import { localStore } from "../../src/store/group.ts";
import { addAccount } from "../support/accounts.ts";
import { openEngine } from "../support/nodes.ts";
import { dropLeft, postgresUrl } from "../support/postgres.ts";

const NODES = 20;

test("of twenty nodes that start at once on an empty database each is one of its own, and all work", async (t) => {
  const url = await postgresUrl(t, { empty: true });
  const opening = Array.from({ length: NODES }, (_, index) =>
    openEngine(url, { connections: 2, clock: systemClock, name: `node ${index}` }),
  );
  t.after(async () => {
    const opened = await Promise.allSettled(opening);
    await Promise.all(opened.map((engine) => (engine.status === "fulfilled" ? engine.value.abandon() : null)));
  });
  t.after(dropLeft);
  const engines = await Promise.all(opening);

  const sorted = (numbers: number[]): number[] => numbers.sort((one, other) => one - other);
  assert.deepEqual(
    sorted(engines.map(({ epoch }) => epoch)),
    Array.from({ length: NODES }, (_, index) => index + 1),
  );
  assert.equal(new Set(engines.map(({ ids }) => ids.node)).size, NODES, "each has a number of its own");

  const stores = engines.map((engine) => localStore(engine, () => undefined));
  const purposes = await Promise.all(stores.map((store) => store.claimPurpose({ purpose: "production" })));
  assert.deepEqual(new Set(purposes), new Set(["production"]));
  await Promise.all(stores.map((store, index) => addAccount(store, { key: `CLIENT${index}`, parentKey: null })));
  assert.equal(await stores[0]!.countAccounts({ kind: "client" }), NODES);
  const clusters = await Promise.all(stores.map((store) => store.cluster()));
  assert.deepEqual(
    clusters.map(({ nodes }) => nodes.dispatch),
    clusters.map(() => NODES),
  );
  assert.equal(clusters.filter(({ leads }) => leads).length, 1, "one leads");
  assert.deepEqual(await stores[1]!.verifyLedger(), []);
});
