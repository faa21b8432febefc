/** What the embedded store tells of its writes, so that nobody has to ask it while there are none. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { RULES } from "../../src/commands/table.ts";
import { openDatabase } from "../../src/drivers/sqlite/database.ts";
import { localStore } from "../../src/store/group.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { temporaryDirectory } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

test("a write is told, be it by another process, and a question that changes nothing is not", async (t) => {
  const directory = await temporaryDirectory(t);
  const clock = new VirtualClock();
  let writes = 0;
  const engine = new SqliteEngine({
    rules: RULES,
    directory,
    clock,
    lanes: { lane: 10, total: 10 },
    mode: "deliver",
    onWrite: () => writes++,
  });
  t.after(() => engine.close());
  const store = localStore(engine, () => undefined);
  const writesOf = async (work: () => unknown): Promise<number> => {
    const before = writes;
    await work();
    return writes - before;
  };
  const ask = async (): Promise<void> => {
    const nowMs = clock.now();
    await store.changeCounter();
    assert.deepEqual(await store.dueReports({ nowMs, limit: 10 }), { batches: [], more: false, nextDueAtMs: null });
    const swept = await store.sweep({ nowMs, receiptWaitMs: 1, limit: 10, cursor: { afterPart: 0, upToPart: 0 } });
    assert.equal(swept.waits, false);
    assert.equal((await store.sweepIncoming({ nowMs, waitMs: 1, limit: 10 })).waits, false);
    engine.lookForOthers();
  };
  // The first of them may note that the node has a number.
  await ask();
  assert.equal(await writesOf(ask), 0);
  assert.equal(await writesOf(() => store.noteCarriers({ note: { node: "here", body: "[]" }, goneMs: 1 })), 1);
  assert.equal(await writesOf(ask), 0);

  const beside = openDatabase(directory);
  t.after(() => beside.close());
  assert.equal(await writesOf(() => beside.exec("UPDATE counter SET changes = changes + 1")), 0);
  assert.equal(await writesOf(() => engine.lookForOthers()), 1);
  assert.equal(await writesOf(() => engine.lookForOthers()), 0);
});
