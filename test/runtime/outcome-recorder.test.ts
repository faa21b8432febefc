/** What became of things is gathered on its way to the store: for as long as nobody waits for it, and no longer. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { silentLog } from "../../src/runtime/log.ts";
import { OutcomeRecorder } from "../../src/runtime/outcome-recorder.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const GATHER_MS = 30;

function start(t: TestContext, gatherMs?: number) {
  const clock = new VirtualClock();
  const recorder = new OutcomeRecorder({
    clock,
    log: silentLog,
    what: "what became of things",
    isStoreAway: () => false,
    pauseMs: () => 1_000,
    ...(gatherMs === undefined ? {} : { gatherMs }),
  });
  const written: string[] = [];
  const kind = (name: string) =>
    recorder.kind<number>({
      name,
      write: async (items) => void written.push(`${name} ${items}`),
      setAside: async () => true,
    });
  const [sent, heard] = [kind("sent"), kind("heard")];
  t.after(() => assert.equal(clock.timersPending, 0, "a timer was left behind"));
  return { clock, recorder, written, sent, heard };
}

test("what may wait is written together with what comes soon after it, each kind with one call", async (t) => {
  const { clock, written, sent, heard } = start(t, GATHER_MS);
  heard(1, true);
  await clock.advance(20);
  sent(2, true);
  heard(3, true);
  await clock.advance(9);
  assert.deepEqual(written, []);
  await clock.advance(1);
  assert.deepEqual(written, ["sent 2", "heard 1,3"]);
  sent(4, true);
  await clock.advance(GATHER_MS);
  assert.deepEqual(written.slice(2), ["sent 4"]);
});

test("what may not wait takes along what does", async (t) => {
  const { clock, written, sent, heard } = start(t, GATHER_MS);
  sent(1, true);
  heard(2);
  await clock.advance(0);
  assert.deepEqual(written, ["sent 1", "heard 2"]);
});

test("nothing waits any more when somebody does, when there is enough of it, or when all is to be settled", async (t) => {
  const { clock, recorder, written, sent } = start(t, GATHER_MS);
  sent(1, true);
  recorder.hurry();
  await clock.advance(0);
  assert.deepEqual(written.splice(0), ["sent 1"]);
  recorder.hurry();
  sent(2, true);
  await clock.advance(0);
  assert.deepEqual(written.splice(0), ["sent 2"], "it was waited for before it came");
  sent(3, true);
  await clock.advance(GATHER_MS - 1);
  assert.deepEqual(written, [], "that was for once");
  await recorder.settled();
  assert.deepEqual(written.splice(0), ["sent 3"]);
  const many = Array.from({ length: 32 }, (_, index) => index);
  for (const item of many) sent(item, true);
  await clock.advance(0);
  assert.deepEqual(written, [`sent ${many}`]);
});

test("what waits when the process ends is left to whoever takes over", async (t) => {
  const { clock, recorder, written, sent } = start(t, GATHER_MS);
  sent(1, true);
  recorder.abandon();
  await clock.advance(GATHER_MS);
  assert.deepEqual(written, []);
});

test("without a time to gather nothing waits for more than a turn", async (t) => {
  const { clock, written, sent } = start(t);
  sent(1, true);
  sent(2, true);
  await clock.advance(0);
  assert.deepEqual(written, ["sent 1,2"]);
});
