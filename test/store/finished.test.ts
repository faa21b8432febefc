/** How many messages ended is counted when that is committed, and once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { FinishedCounts } from "../../src/commands/finished.ts";
import { rulesHeard } from "../../src/commands/table.ts";
import { LiveTap } from "../../src/events/live.ts";
import { expose } from "../../src/runtime/metrics.ts";
import { STATUS } from "../../src/sms/statuses.ts";
import { localStore } from "../../src/store/group.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { metricOf } from "../support/exposition.ts";
import { storeDirectory } from "../support/service.ts";
import { Bench } from "./harness.ts";

test("a transaction that fails counts nothing, and what is done again after it counts once", async (t) => {
  const directory = await storeDirectory(t);
  const finished = new FinishedCounts();
  const bench = await Bench.start(t, async () => ({
    open: async (clock, lanes, onFeed) => {
      const engine = new SqliteEngine({
        rules: rulesHeard(finished, LiveTap.none()),
        directory,
        clock,
        lanes,
        mode: "deliver",
      });
      const store = localStore(engine, onFeed);
      return { store, overflowed: engine.overflowedLanes(), close: async () => engine.close() };
    },
  }));
  const counted = (status: string) =>
    metricOf(expose([finished.metric()]), "heliograph_messages_finished_total", { status });
  const rejected = bench.message({ rejectedStatusId: STATUS.REJECTED_DESTINATION.id });
  // In one group: the one that cannot be kept takes the others' transaction with it, and each of those is done again.
  const [first, bad, last] = await Promise.allSettled([
    bench.accept([rejected, rejected]),
    bench.accept([bench.message()], { partCount: 1.5 }),
    bench.accept([rejected]),
  ]);
  assert.deepEqual([first.status, bad.status, last.status], ["fulfilled", "rejected", "fulfilled"]);
  assert.equal(counted("REJECTED_DESTINATION"), 3);
  assert.equal(counted("DELIVERED_TO_HANDSET"), 0);
});
