/** Maintenance is done by one node: the one that leads, from the moment it does. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { choresOf, type MaintenanceSettings, type MaintenanceStore } from "../../src/maintenance/chores.ts";
import { Maintenance } from "../../src/maintenance/maintenance.ts";
import { WriteMark } from "../../src/node/write-mark.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { PURGE_START, SWEEP_START } from "../../src/store/port/delivery.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const SETTINGS: MaintenanceSettings = {
  everyMs: 10_000,
  receiptWaitMs: 1_000,
  unmatchedDays: 7,
  unmatchedRows: 1_000,
  retentionDays: 0,
  loginAuditDays: 90,
  timelineDays: 30,
};
const NOTHING_COUNTED = { incomingUnmatched: 0, unmatchedDropped: 0, quarantined: 0 };
const SWEPT = { cursor: SWEEP_START, more: false, waits: false };

test("a node that does not lead does no maintenance; when it comes to lead, or the store is back, it does", async () => {
  const clock = new VirtualClock();
  const made: string[] = [];
  let leads: boolean | "unknown" = false;
  const maintenance = new Maintenance({
    clock,
    log: silentLog,
    settings: SETTINGS,
    store: {
      async cluster() {
        if (leads === "unknown") throw new Error("the store is away");
        return { nodes: { api: 2, dispatch: 2, reports: 2 }, leads };
      },
      async sweep() {
        made.push("sweep");
        return SWEPT;
      },
      async sweepIncoming() {
        made.push("incoming");
        return { unmatched: 1, more: false, waits: false };
      },
      async purgeMessages() {
        made.push("purgeMessages");
        return { cursor: PURGE_START, more: false };
      },
      async dropUnmatched() {
        made.push("unmatched");
        return { count: 2, more: false };
      },
      quarantined: async () => ({ count: 3, promised: 0, held: 0, items: [] }),
      purgeListedBulks: async () => ({ more: false }),
      fillIn: async () => ({ more: false }),
      purgeExpired: async () => ({ more: false }),
      purgeLoginEvents: async () => ({ more: false }),
      purgeTrace: async () => ({ more: false }),
      purgeLinks: async () => ({ next: null }),
      purgePins: async () => ({ more: false }),
    },
  });
  maintenance.start();
  await clock.advance(60_000);
  assert.deepEqual(made, []);
  leads = "unknown";
  await clock.advance(10_000);
  leads = true;
  await clock.advance(10_000);
  assert.deepEqual(made, ["sweep", "incoming", "unmatched"]);
  assert.deepEqual(maintenance.counts, { incomingUnmatched: 1, unmatchedDropped: 2, quarantined: 3 });
  await clock.advance(50_000);
  assert.equal(made.filter((what) => what === "unmatched").length, 1, "it is looked for once a minute");
  await maintenance.stop();
  assert.equal(clock.timersPending, 0);
});

test("a chore that fails keeps none of the others from being done", async () => {
  const clock = new VirtualClock();
  const made: string[] = [];
  const fail = async (): Promise<never> => {
    throw new Error("this one takes too long");
  };
  const maintenance = new Maintenance({
    clock,
    log: silentLog,
    settings: { ...SETTINGS, retentionDays: 1 },
    store: {
      cluster: async () => ({ nodes: { api: 1, dispatch: 1, reports: 1 }, leads: true }),
      sweep: fail,
      async sweepIncoming() {
        made.push("incoming");
        return { unmatched: 0, more: false, waits: false };
      },
      dropUnmatched: fail,
      async purgeMessages() {
        made.push("purgeMessages");
        return { cursor: PURGE_START, more: false };
      },
      quarantined: async () => ({ count: 0, promised: 0, held: 0, items: [] }),
      purgeListedBulks: async () => ({ more: false }),
      fillIn: async () => ({ more: false }),
      purgeExpired: async () => ({ more: false }),
      purgeLoginEvents: async () => ({ more: false }),
      purgeTrace: async () => ({ more: false }),
      purgeLinks: async () => ({ next: null }),
      purgePins: async () => ({ more: false }),
    },
  });
  maintenance.start();
  await clock.advance(10_000);
  await maintenance.stop();
  assert.deepEqual(made, ["incoming", "purgeMessages"]);
});

test("a chore that found nothing waits until something is written, and one that found something does not", async () => {
  const clock = new VirtualClock();
  const mark = new WriteMark();
  const made: string[] = [];
  let waits = true;
  const maintenance = new Maintenance({
    clock,
    log: silentLog,
    settings: SETTINGS,
    mark,
    store: {
      async cluster() {
        made.push("cluster");
        return { nodes: { api: 1, dispatch: 1, reports: 1 }, leads: true };
      },
      async sweep() {
        made.push("sweep");
        return { ...SWEPT, waits };
      },
      sweepIncoming: async () => ({ unmatched: 0, more: false, waits: false }),
      purgeMessages: async () => ({ cursor: PURGE_START, more: false }),
      dropUnmatched: async () => ({ count: 0, more: false }),
      quarantined: async () => ({ count: 0, promised: 0, held: 0, items: [] }),
      purgeListedBulks: async () => ({ more: false }),
      fillIn: async () => ({ more: false }),
      purgeExpired: async () => ({ more: false }),
      purgeLoginEvents: async () => ({ more: false }),
      purgeTrace: async () => ({ more: false }),
      purgeLinks: async () => ({ next: null }),
      purgePins: async () => ({ more: false }),
    },
  });
  const roundsIn = async (ms: number): Promise<string[]> => {
    made.length = 0;
    await clock.advance(ms);
    return [...made];
  };
  maintenance.start();
  assert.deepEqual(await roundsIn(30_000), ["cluster", "sweep", "cluster", "sweep", "cluster", "sweep"]);
  waits = false;
  assert.deepEqual(await roundsIn(10_000), ["cluster", "sweep"]);
  assert.deepEqual(await roundsIn(20_000), [], "the store is not even asked whether this node leads");
  mark.note();
  assert.deepEqual(await roundsIn(10_000), ["cluster", "sweep"]);
  await maintenance.stop();
});

test("messages older than the operator says are deleted, page after page, and looked for again in an hour", async () => {
  const clock = new VirtualClock();
  const asked: number[] = [];
  const cursors: string[] = [];
  let pages = 145;
  const maintenance = new Maintenance({
    clock,
    log: silentLog,
    settings: { ...SETTINGS, retentionDays: 30 },
    store: {
      cluster: async () => ({ nodes: { api: 1, dispatch: 1, reports: 1 }, leads: true }),
      sweep: async () => SWEPT,
      sweepIncoming: async () => ({ unmatched: 0, more: false, waits: false }),
      async purgeMessages({ beforeMs, nowMs, cursor }) {
        assert.equal(nowMs, clock.now());
        asked.push(nowMs - beforeMs);
        cursors.push(cursor.message);
        const more = --pages > 0;
        return { cursor: more ? { message: String(asked.length), incoming: "0" } : PURGE_START, more };
      },
      dropUnmatched: async () => ({ count: 0, more: false }),
      quarantined: async () => ({ count: 0, promised: 0, held: 0, items: [] }),
      purgeListedBulks: async () => ({ more: false }),
      fillIn: async () => ({ more: false }),
      purgeExpired: async () => ({ more: false }),
      purgeLoginEvents: async () => ({ more: false }),
      purgeTrace: async () => ({ more: false }),
      purgeLinks: async () => ({ next: null }),
      purgePins: async () => ({ more: false }),
    },
  });
  maintenance.start();
  await clock.advance(10_000);
  assert.equal(asked.length, 100, "a round is bounded");
  await clock.advance(60_000);
  assert.equal(asked.length, 145);
  assert.deepEqual(new Set(asked), new Set([30 * 86_400_000]));
  await clock.advance(3_600_000);
  assert.equal(asked.length, 146);
  const places = Array.from({ length: 145 }, (_, page) => String(page));
  assert.deepEqual(cursors, [...places, "0"], "each page begins where the last one stopped");
  await maintenance.stop();
});

test("where messages are kept for ever so are bulks, and steps of messages leave with their age", () => {
  const namesWith = (retentionDays: number) =>
    choresOf({} as MaintenanceStore, { ...SETTINGS, retentionDays }, { ...NOTHING_COUNTED }).map(({ name }) => name);
  const all = namesWith(1);
  assert.ok(["old bulks", "old messages", "old steps of messages"].every((name) => all.includes(name)));
  assert.deepEqual(
    namesWith(0),
    all.filter((name) => !["old bulks", "old messages", "links of old messages"].includes(name)),
  );
});
