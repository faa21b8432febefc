/** What a node tells the store of its carriers: when, and how it takes its leave of a store that does not answer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CarrierNotes } from "../../src/dispatch/carrier-notes.ts";
import { silentLog } from "../../src/runtime/log.ts";
import type { CarrierNote } from "../../src/store/port/carriers.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const SECOND_MS = 1_000;

/** A store that keeps whom it is told of, and can be made to answer nothing more. */
function notesOn(clock: VirtualClock) {
  const told: (CarrierNote | null)[] = [];
  const ordered: string[] = [];
  const waiting: (() => void)[] = [];
  const database = { hangs: false, isBroken: false, times: 0 };
  const answer = async (): Promise<void> => {
    if (database.hangs) await new Promise<void>((resolve) => waiting.push(resolve));
    if (database.isBroken) throw new Error("it is broken");
  };
  const notes = new CarrierNotes({
    clock,
    log: silentLog,
    node: "here 1",
    dispatcher: {
      stateFacts: () => [{ id: "acme", isUp: true, sinceMs: 0, connections: null }],
      connectNow: (id) => ordered.push(id) > 0,
    },
    store: {
      async noteCarriers({ note }) {
        await answer();
        told.push(note);
      },
      async reconnects() {
        await answer();
        return [{ carrierId: "acme", times: database.times }];
      },
    },
  });
  const goOn = (): void => {
    database.hangs = false;
    for (const resolve of waiting.splice(0)) resolve();
  };
  return { notes, told, ordered, database, goOn };
}

async function isOver(promise: Promise<void>): Promise<boolean> {
  let over = false;
  void promise.then(() => {
    over = true;
  });
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  return over;
}

test("a node that stops takes its note away", async () => {
  const clock = new VirtualClock();
  const { notes, told } = notesOn(clock);
  await notes.start();
  await clock.advance(SECOND_MS);
  assert.deepEqual([told.length, told[0]?.node], [1, "here 1"]);
  await notes.stop();
  assert.deepEqual([told.length, told[1]], [2, null]);
  assert.equal(clock.timersPending, 0);
});

test("a stop waits a second for a store that answers nothing, when nothing was under way", async () => {
  const clock = new VirtualClock();
  const { notes, database } = notesOn(clock);
  await notes.start();
  await clock.advance(SECOND_MS);
  database.hangs = true;
  const stopped = notes.stop();
  assert.equal(await isOver(stopped), false);
  await clock.advance(SECOND_MS);
  assert.equal(await isOver(stopped), true);
});

test("a stop waits a second for a store that answers nothing, when a look and a note were under way, and nothing is begun then", async () => {
  const clock = new VirtualClock();
  const { notes, told, ordered, database, goOn } = notesOn(clock);
  await notes.start();
  await clock.advance(SECOND_MS);
  // The next look has to read first what was asked for.
  database.isBroken = true;
  await notes.read();
  database.isBroken = false;
  database.hangs = true;
  await clock.advance(60 * SECOND_MS);
  const stopped = notes.stop();
  assert.equal(await isOver(stopped), false);
  await clock.advance(SECOND_MS);
  assert.equal(await isOver(stopped), true);
  assert.equal(clock.timersPending, 0);

  database.times = 1;
  goOn();
  await clock.advance(SECOND_MS);
  assert.deepEqual(ordered, [], "whoever stops connects to nobody");
  assert.deepEqual([told.length, told.at(-1)], [2, null], "the goodbye, and no note behind it");
});

test("a note that was under way is followed by the goodbye", async () => {
  const clock = new VirtualClock();
  const { notes, told, database, goOn } = notesOn(clock);
  await notes.start();
  database.hangs = true;
  await clock.advance(SECOND_MS);
  const stopped = notes.stop();
  goOn();
  await stopped;
  assert.deepEqual([told.length, told[0]?.node, told[1]], [2, "here 1", null]);
});
