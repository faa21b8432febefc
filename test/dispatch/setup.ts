/** A dispatcher on a real store, with a carrier that answers as the test says, under a virtual clock. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { RULES } from "../../src/commands/table.ts";
import { Dispatcher, type DispatchParts } from "../../src/dispatch/dispatcher.ts";
import { Maintenance } from "../../src/maintenance/maintenance.ts";
import { Lease } from "../../src/node/lease.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { localStore } from "../../src/store/group.ts";
import type { Feed } from "../../src/store/port/delivery.ts";
import type { Store } from "../../src/store/port/store.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { Bench, HOUR, NOW } from "../store/harness.ts";
import { storeDirectory } from "../support/service.ts";
import { ScriptedCarrier } from "./scripted-carrier.ts";

export interface CarrierQueue {
  readonly bench: Bench;
  readonly carrier: ScriptedCarrier;
  readonly dispatcher: Dispatcher;
  readonly lease: Lease;
  /** Status ids of the reports so far. */
  readonly reported: number[];
  /** The process dies, and another one starts on the same data; with a carrier that is the same to it, or without. */
  restart(served?: "served" | "not served"): Promise<CarrierQueue>;
}

export const URL_A = "http://127.0.0.1:1/";
const SETTINGS = { claimMessages: 50, laneMessages: 100, sweepEveryMs: 10_000 };
const MAINTENANCE = {
  everyMs: 10_000,
  receiptWaitMs: HOUR,
  unmatchedDays: 7,
  unmatchedRows: 1_000,
  retentionDays: 0,
  loginAuditDays: 90,
  timelineDays: 30,
};

export async function startDispatch(
  t: TestContext,
  lanes = { lane: 100, total: 1_000 },
  route: DispatchParts["route"] = () => null,
  changes: Partial<DispatchParts> = {},
): Promise<CarrierQueue> {
  const directory = await storeDirectory(t);
  let take: (feed: Feed) => void = () => undefined;
  const bench = await Bench.start(
    t,
    async () => ({
      async open(clock, bounds, onFeed) {
        const engine = new SqliteEngine({ rules: RULES, directory, clock, lanes: bounds, mode: "deliver" });
        const store = localStore(engine, (feed) => {
          onFeed(feed);
          take(feed);
        });
        return { store, overflowed: engine.overflowedLanes(), close: async () => engine.close() };
      },
    }),
    { lanes },
  );
  const start = async (served: "served" | "not served"): Promise<CarrierQueue> => {
    const carrier = new ScriptedCarrier();
    const lease = Lease.endless();
    const dispatcher = new Dispatcher({
      store: bench.store,
      clock: bench.clock,
      log: silentLog,
      settings: SETTINGS,
      lease,
      route,
      knows: () => served === "not served",
      lookAgain: async () => undefined,
      ...changes,
    });
    const reported: number[] = [];
    take = (feed) => {
      const reports = feed.reports.filter((batch) => batch.kind === "delivery");
      reported.push(...reports.flatMap(({ items }) => items.map(({ statusId }) => statusId)));
      dispatcher.take(feed);
    };
    if (served === "served") await dispatcher.addCarrier(carrier);
    dispatcher.start(bench.overflowed.splice(0));
    const { store = bench.store } = changes;
    const maintenance = new Maintenance({ store, clock: bench.clock, log: silentLog, settings: MAINTENANCE });
    maintenance.start();
    return {
      bench,
      carrier,
      dispatcher,
      lease,
      reported,
      async restart(again = "served") {
        take = () => undefined;
        lease.end();
        await maintenance.stop();
        await bench.restart();
        return start(again);
      },
    };
  };
  return start("served");
}

/** Lets everything that needs no time to pass happen. */
export const settle = (bench: Bench): Promise<void> => bench.clock.advance(1);

export async function anotherAccount(store: Store, key: string): Promise<number> {
  const made = await store.createAccount({
    key,
    kind: "client",
    parentKey: null,
    currency: "EUR",
    ratePlanId: "standard",
    defaultSender: null,
    creditLimitMicros: 0n,
    openingBalanceMicros: 1_000_000n,
    callbackSecret: "s",
    username: key,
    passwordHash: "h",
    atMs: NOW,
  });
  assert.ok(made.kind === "created");
  return made.account.id;
}

export const numbered = (bench: Bench, count: number) =>
  Array.from({ length: count }, (_, index) => bench.message({ to: String(41_790_000_000 + index) }));
