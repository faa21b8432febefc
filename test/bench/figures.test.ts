/** What the benchmark makes of what it has counted: the arithmetic, on figures that are made up. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readProfiles } from "../../bench/cycle/profile.ts";
import { closedCountMs } from "../../bench/cycle/rig.ts";
import { PartsUsage } from "../../bench/cycle/subject.ts";
import { partsOf } from "../../bench/cycle/threads.ts";
import { threadsOf } from "../../bench/cycle/usage.ts";
import { bareNodeCpuMs, cpuMsOf } from "../../bench/start/bare.ts";
import { temporaryDirectory } from "../support/service.ts";

test("with few messages under way the generator hears of each at once, and with many from time to time", () => {
  assert.deepEqual([1, 79, 800, 4_000, 1_000_000].map(closedCountMs), [0, 0, 10, 50, 50]);
});

function thread(id: number, name: string) {
  return { id, name, cpuMicros: id, waitMicros: 0, wakeUps: 1 };
}

const partNames = (...names: string[]): string[] =>
  partsOf(names.map((name, index) => thread(index, name))).map(([part]) => part);

test("threads of the service go by their names, in whatever order they began", () => {
  assert.deepEqual(partNames("MainThread", "V8Worker", "store", "checkpoint", "delivery", "libuv-worker"), [
    "edge",
    "other threads",
    "store",
    "checkpoint",
    "delivery",
    "other threads",
  ]);
});

test("threads of a service that names none go by the order of their start", () => {
  assert.deepEqual(partNames("node", "V8Worker", "WorkerThread", "WorkerThread"), [
    "edge",
    "other threads",
    "store",
    "delivery",
  ]);
});

test("what the threads of a part have used is added up", () => {
  const usage = new PartsUsage();
  for (const [part, found] of partsOf([thread(1, "node"), thread(2, "V8Worker"), thread(3, "V8Worker")]))
    usage.add(part, found);
  assert.deepEqual(usage.cpuMicros, { edge: 1, "other threads": 5 });
  assert.deepEqual(usage.wakeUps, { edge: 1, "other threads": 2 });
});

test("Linux tells how often each of our threads was woken", { skip: process.platform !== "linux" }, () => {
  const main = threadsOf(process.pid).find(({ id }) => id === process.pid);
  assert.ok(main !== undefined && main.wakeUps > 0 && main.cpuMicros > 0);
});

test("a profile goes by the file that its thread began with, and without one by the thread's number", async (t) => {
  const directory = await temporaryDirectory(t);
  const keep = (number: number, file: string): void => {
    const callFrame = { functionName: "work", url: `file:///elsewhere/src/${file}`, lineNumber: 1 };
    const profile = { nodes: [{ id: 1, callFrame }], startTime: 0, samples: [1, 1], timeDeltas: [1_000, 2_000] };
    writeFileSync(join(directory, `CPU.20260101.000000.7.${number}.00${number}.cpuprofile`), JSON.stringify(profile));
  };
  for (const [number, file] of [
    "threads/rpc.ts",
    "threads/rpc.ts",
    "threads/checkpoint.ts",
    "threads/delivery.ts",
  ].entries())
    keep(number, file);
  assert.deepEqual(
    readProfiles(directory, [{ fromMs: 0, toMs: 2 }]).map((found) => [found.thread, found.busyMs]),
    [
      ["edge", 1],
      ["store", 1],
      ["checkpoint", 1],
      ["delivery", 1],
    ],
  );
});

test("what a bare Node uses is told by bash, and left out where there is none", async () => {
  assert.equal(cpuMsOf("0.033 0.012\n"), 45);
  assert.equal(cpuMsOf("a warning\n1.000 0.250\n"), 1_250);
  assert.equal(cpuMsOf("bash: not found"), null);
  const found = await bareNodeCpuMs(process.execPath);
  assert.ok(found === null || found > 0);
});
