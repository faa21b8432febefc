/** What the benchmark fills a store with is what the service would have written: the store itself finds nothing wrong with it. */
import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { type Fillable, fill, postgresFillable, sqliteFillable } from "../../bench/cycle/fill.ts";
import { RULES } from "../../src/commands/table.ts";
import { localStore } from "../../src/store/group.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { Bench, CARRIER, HOUR, type MakeDatabase } from "../store/harness.ts";
import { openEngine, takeOverFromAll } from "../support/nodes.ts";
import { dropLeft, postgresUrl } from "../support/postgres.ts";
import { temporaryDirectory } from "../support/service.ts";

after(dropLeft);

interface Filled {
  readonly make: MakeDatabase;
  readonly fillable: () => Promise<Fillable>;
}

const ENGINES: Readonly<Record<string, (t: TestContext) => Promise<Filled>>> = {
  async SQLite(t) {
    const directory = await temporaryDirectory(t);
    return {
      make: async () => ({
        async open(clock, lanes, onFeed) {
          const engine = new SqliteEngine({ rules: RULES, directory, clock, lanes, mode: "deliver" });
          const close = async (): Promise<void> => engine.close();
          return { store: localStore(engine, onFeed), overflowed: engine.overflowedLanes(), close };
        },
      }),
      fillable: async () => sqliteFillable(directory),
    };
  },
  async PostgreSQL(t) {
    const url = await postgresUrl(t);
    return {
      make: async () => ({
        async open(clock, lanes, onFeed) {
          await takeOverFromAll(url);
          const engine = await openEngine(url, { clock, lanes });
          const close = (): Promise<void> => engine.abandon();
          return { store: localStore(engine, onFeed), overflowed: await engine.overflowedLanes(), close };
        },
      }),
      fillable: () => postgresFillable(url),
    };
  },
};

const COPIES = 600;

for (const [name, prepare] of Object.entries(ENGINES)) {
  /** A request of three messages, handled as `handle` does, and two hundred copies of it. */
  const filled = async (t: TestContext, handle: (bench: Bench) => Promise<void>): Promise<Bench> => {
    const { make, fillable } = await prepare(t);
    const bench = await Bench.start(t, make);
    const numbers = ["499000000000", "499000000001", "499000000002"];
    const bulkId = bench.ids.take(1);
    await bench.accept(
      numbers.map((to) => bench.message({ to })),
      {},
      { bulkId },
    );
    await handle(bench);
    await bench.close();
    const store = await fillable();
    await fill(store, { accountKey: "CLIENT", messages: COPIES, overMs: HOUR, onProgress: () => undefined });
    await store.close();
    await bench.restart();
    return bench;
  };

  test(`${name}: finished messages leave nothing to send, and the books agree`, async (t) => {
    const bench = await filled(t, async (it) => {
      const messages = it.takeMessages();
      await it.submit(messages);
      await it.receive(...messages.map(({ key }) => it.receipt(`${key}.1`)));
    });
    assert.deepEqual(await bench.store.verifyLedger(), []);
    assert.equal(await bench.balance(), 1_000_000_000n - BigInt(COPIES + 3) * 10_000n);
    assert.deepEqual(bench.overflowed, []);
  });

  test(`${name}: waiting messages are claimed, each with its own number`, async (t) => {
    const bench = await filled(t, async () => undefined);
    assert.deepEqual(await bench.store.verifyLedger(), []);
    assert.deepEqual(bench.overflowed, [{ accountId: bench.accountId, carrierId: CARRIER }]);
    const { claimed, more } = await bench.store.claimLane({ ...bench.overflowed[0]!, limit: 50 });
    assert.deepEqual({ claimed, more }, { claimed: 50, more: true });
    const numbers = bench.takeMessages().map(({ to }) => to);
    assert.equal(new Set(numbers).size, 50);
    assert.equal(numbers[0], "498999999997");
  });
}
