/** The mark by which threads know that nothing was written. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SeenWrites, WriteMark } from "../../src/node/write-mark.ts";

test("nothing is new after a question, until something is written, on whichever thread", async () => {
  const mark = new WriteMark();
  const seen = new SeenWrites(new WriteMark(mark.memory));
  assert.ok(seen.isNew, "nothing was asked yet");
  assert.equal(await seen.ask(async () => "answer"), "answer");
  assert.ok(!seen.isNew);
  mark.note();
  assert.ok(seen.isNew);
});

test("what is written during a question, or asked for in vain, is asked for again", async () => {
  const mark = new WriteMark();
  const seen = new SeenWrites(mark);
  await seen.ask(async () => mark.note());
  assert.ok(seen.isNew);
  await seen.ask(async () => undefined);
  await assert.rejects(seen.ask(() => Promise.reject(new Error("away"))));
  assert.ok(seen.isNew);
});

test("where nobody keeps a mark there may always be something new", async () => {
  const seen = new SeenWrites(null);
  await seen.ask(async () => undefined);
  assert.ok(seen.isNew);
});

test("who waits for something new hears of a write of another thread's mark, and of nothing once it has left", async () => {
  const mark = new WriteMark();
  const seen = new SeenWrites(mark);
  await seen.ask(async () => undefined);
  const heard = seen.untilNew();
  new WriteMark(mark.memory).note();
  assert.equal(await heard, true);
  await seen.ask(async () => undefined);
  const left = seen.untilNew();
  seen.leave();
  assert.equal(await left, false);
  assert.equal(await new SeenWrites(null).untilNew(), true);
});
