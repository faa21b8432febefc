/** The snapshot that follows the store. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Catalogue } from "../../src/catalogue/catalogue.ts";
import { WriteMark } from "../../src/node/write-mark.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

/** A store that counts the questions. */
function countedStore() {
  const store = {
    changes: 1,
    questions: 0,
    away: false,
    async changeCounter() {
      store.questions++;
      if (store.away) throw new Error("away");
      return store.changes;
    },
    catalogue: async () => [],
  };
  return store;
}

test("while nothing is written the store is not asked, and a change is seen within a second", async () => {
  const clock = new VirtualClock();
  const mark = new WriteMark();
  const store = countedStore();
  const catalogue = new Catalogue(store, silentLog, mark);
  let seen = 0;
  catalogue.onChange(() => seen++);
  await catalogue.start(clock);
  await clock.advance(60_000);
  assert.deepEqual([store.questions, seen], [1, 1]);

  store.changes++;
  mark.note();
  await clock.advance(1_000);
  assert.deepEqual([store.questions, seen], [2, 2]);

  store.changes++;
  store.away = true;
  mark.note();
  await clock.advance(5_000);
  store.away = false;
  await clock.advance(1_000);
  assert.equal(seen, 3, "it asks until it is answered");
  const { questions } = store;
  await clock.advance(60_000);
  assert.equal(store.questions, questions);
  await catalogue.stop();
});

test("without a mark it asks every half second: other nodes may have changed something", async () => {
  const clock = new VirtualClock();
  const store = countedStore();
  const catalogue = new Catalogue(store, silentLog);
  await catalogue.start(clock);
  await clock.advance(5_000);
  assert.equal(store.questions, 11);
  await catalogue.stop();
});
