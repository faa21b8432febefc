/** The rounds are made by one node: the one that leads, from the moment it does. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Rounds } from "../../src/dispatch/rounds.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { SWEEP_START } from "../../src/store/port.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

test("a node that does not lead makes no rounds; when it comes to lead, or the store is back, it does", async () => {
  const clock = new VirtualClock();
  const made: string[] = [];
  let leads: boolean | "unknown" = false;
  const rounds = new Rounds({
    clock,
    log: silentLog,
    settings: { claimCount: 50, receiptWaitMs: 1_000, sweepEveryMs: 10_000 },
    store: {
      async cluster() {
        if (leads === "unknown") throw new Error("the store is away");
        return { nodes: { api: 2, dispatch: 2, reports: 2 }, leads };
      },
      async sweep() {
        made.push("sweep");
        return SWEEP_START;
      },
      async sweepIncoming() {
        made.push("incoming");
        return { unmatched: 1, more: false };
      },
    },
  });
  rounds.start();
  await clock.advance(60_000);
  assert.deepEqual(made, []);
  leads = "unknown";
  await clock.advance(10_000);
  leads = true;
  await clock.advance(10_000);
  assert.deepEqual(made, ["sweep", "incoming"]);
  assert.equal(rounds.incomingUnmatched, 1);
  await rounds.stop();
  assert.equal(clock.timersPending, 0);
});
