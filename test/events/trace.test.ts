/** Steps that are noted for people: together, within a bound, and never at the cost of what they are about. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SUBJECT, type TraceLevel, type TraceNote, TraceRecorder } from "../../src/events/trace.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

function recorder(level: TraceLevel, write?: (notes: readonly TraceNote[]) => Promise<unknown>) {
  const clock = new VirtualClock(0);
  const written: (readonly TraceNote[])[] = [];
  const keep = async (notes: readonly TraceNote[]): Promise<void> => void written.push(notes);
  const trace = new TraceRecorder({ clock, log: silentLog, level, write: write ?? keep });
  const note = (count: number): void => {
    for (let index = 0; index < count; index++)
      trace.note(SUBJECT.message("1"), "rerouted", { carrier: String(index) });
  };
  return { clock, written, trace, note };
}

test("notes are written together, a fifth of a second after the first", async () => {
  const { clock, written, note } = recorder("trouble");
  note(3);
  await clock.advance(199);
  assert.equal(written.length, 0);
  await clock.advance(1);
  assert.deepEqual(
    written.map((notes) => notes.map(({ detail }) => detail)),
    [['{"carrier":"0"}', '{"carrier":"1"}', '{"carrier":"2"}']],
  );
  await clock.advance(10_000);
  assert.equal(written.length, 1, "nothing is written while nothing happens");
});

test("five hundred are written at once, one write after the other", async () => {
  let ended: () => void = () => undefined;
  const sizes: number[] = [];
  const { clock, note } = recorder("all", (notes) => {
    sizes.push(notes.length);
    return new Promise<void>((resolve) => {
      ended = resolve;
    });
  });
  note(1_200);
  assert.deepEqual(sizes, [500]);
  ended();
  await clock.advance(0);
  assert.deepEqual(sizes, [500, 500]);
  ended();
  await clock.advance(200);
  assert.deepEqual(sizes, [500, 500, 200]);
});

test("a store that does not keep up costs notes, the oldest first, and nothing else", async () => {
  const { trace, note } = recorder("all", () => new Promise(() => undefined));
  note(100_000);
  assert.ok(trace.dropped >= 60_000, `${trace.dropped} were dropped`);
});

test("notes in memory are bounded by their octets, and those that are being written count", async () => {
  const { trace } = recorder("all", () => new Promise(() => undefined));
  const noted = 5_000;
  for (let index = 0; index < noted; index++)
    trace.note(SUBJECT.message("1"), "rerouted", { carrier: "x".repeat(4_000) });
  const kept = noted - trace.dropped;
  assert.ok(kept >= 400 && kept * 4_000 * 2 <= 4_000_000, `${kept} notes of 4,000 characters are in memory`);
});

test("a store that refuses costs its notes, and the next are written", async () => {
  let isAway = true;
  const written: TraceNote[] = [];
  const { clock, trace, note } = recorder("trouble", async (notes) => {
    if (isAway) throw new Error("away");
    written.push(...notes);
  });
  note(2);
  await clock.advance(200);
  assert.equal(trace.dropped, 2);
  isAway = false;
  note(1);
  await clock.advance(200);
  assert.equal(written.length, 1);
});

test("a stop writes what is left, and does not wait for a store that is gone", async () => {
  const { trace, written, note } = recorder("trouble");
  note(1_100);
  await trace.stop();
  assert.equal(written.flat().length, 1_100);
  const gone = recorder("trouble", () => new Promise(() => undefined));
  gone.note(1);
  const stopped = gone.trace.stop();
  await gone.clock.advance(500);
  await stopped;
});

test("switched off, nothing is noted", async () => {
  const { clock, trace, written, note } = recorder("off");
  note(10);
  await clock.advance(1_000);
  assert.deepEqual([trace.isOn, trace.all, written.length, trace.dropped], [false, false, 0, 0]);
});

test("a step that is too long is dropped", async () => {
  const { clock, trace, written } = recorder("all");
  trace.note(SUBJECT.message("1"), "rerouted", { carrier: "x".repeat(5_000) });
  await clock.advance(200);
  assert.deepEqual([written.length, trace.dropped], [0, 1]);
});
