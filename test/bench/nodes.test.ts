/** The table of several nodes: what is measured for how long, how it is told, and that it runs. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import {
  type NodesOptions,
  nodesOf,
  nodesTable,
  paceOf,
  ROWS,
  readNodesOptions,
  secondsOf,
} from "../../bench/nodes/model.ts";
import { madeUpRound } from "./made-up.ts";

const BENCH = join(resolve(import.meta.dirname, "../.."), "bench/index.ts");
const run = promisify(execFile);
const options = (...args: string[]): NodesOptions => readNodesOptions(args) as NodesOptions;

test("one, two and four nodes have their turn with 64 accounts, and eight where they are asked for", () => {
  const { rows, cycle } = options();
  assert.deepEqual(rows, ["accounts", "one", "delay", "hundred", "half"]);
  assert.deepEqual([cycle.nodes, cycle.accounts, cycle.repeat, cycle.stores], [[1, 2, 4], 64, 3, ["postgres"]]);
  assert.deepEqual(options("--eight").cycle.nodes, [1, 2, 4, 8]);
  const chosen = options("--only", "one,half", "--nodes", "2,3", "--load", "2", "--pinned");
  assert.deepEqual(chosen.rows, ["one", "half"]);
  assert.deepEqual([chosen.cycle.nodes, chosen.cycle.loads, chosen.cycle.pinned], [[2, 3], 2, true]);
  assert.throws(() => options("--only", "two"), /--only must be some of accounts, one/);
  assert.throws(() => options("--seconds", "0"), /--seconds must be a number above 0/);
});

test("half of the highest rate is for four nodes, or for the most below", () => {
  assert.deepEqual(nodesOf(ROWS.half, [1, 2, 4, 8]), [4]);
  assert.deepEqual(nodesOf(ROWS.half, [1, 2]), [2]);
  assert.deepEqual(nodesOf(ROWS.half, [8]), [8]);
  assert.deepEqual(nodesOf(ROWS.one, [1, 2, 4]), [1, 2, 4]);
});

test("late receipts have a round that lasts for four delays, and its pace is told without the last one", () => {
  assert.deepEqual([secondsOf(ROWS.one, 7), secondsOf(ROWS.delay, 7), secondsOf(ROWS.delay, 20)], [7, 12, 20]);
  assert.equal(paceOf({ messages: 9_000, elapsedMs: 6_000 }, 3_000), 3_000);
});

test("a table tells each number of nodes, with ratios of neighbouring rounds to the first", () => {
  const parts = ["edge", "store", "postgres"];
  const round = (times: number) => ({
    ...madeUpRound(times, parts),
    benchMicros: { sink: 50, parent: 900 },
    flushes: 25,
  });
  const measured = [
    { nodes: 1, rounds: [round(1), round(2)] },
    { nodes: 2, rounds: [round(3), round(3)] },
  ];
  const lines = nodesTable("one account", measured, 1).map((line) => line.split(" | "));
  const figures = (title: string): (string | undefined)[] => {
    const at = lines[1]!.findIndex((name) => name.startsWith(title));
    return lines.slice(3).map((line) => line[at]?.replace(/ \|$/, ""));
  };
  assert.deepEqual(figures("| one account"), ["| 1 node", "| 2 nodes"]);
  assert.deepEqual(figures("messages"), ["150 (100 – 200)", "300"]);
  assert.deepEqual(figures("to the first"), ["1.00", "2.25 (1.50 – 3.00)"]);
  assert.deepEqual(figures("nodes, CPU"), ["300 (200 – 400)", "600"]);
  assert.deepEqual(figures("server, CPU"), ["150 (100 – 200)", "300"]);
  assert.deepEqual(figures("flushes"), ["0.25", "0.25"]);
  assert.deepEqual(figures("log"), ["", ""]);
  assert.deepEqual(figures("busiest"), ["1 (1 – 1)", "2"]);
});

test("nodes are measured, and each round is told as it ends", async () => {
  const small = ["--nodes", "1,2", "--accounts", "3", "--connections", "16", "--seconds", "0.3", "--warm-up", "400"];
  const args = [BENCH, "nodes", "--only", "hundred,half", "--repeat", "1", "--load", "2", ...small];
  const { stdout } = await run(process.execPath, args, { timeout: 120_000 });
  assert.match(stdout, /^hundred, 1 node, round 1 of 1: \d+ messages a second, answer p50 [\d.]+ ms, p99 [\d.]+ ms$/m);
  assert.match(stdout, /^half, 2 nodes, round 1 of 1: /m);
  assert.match(stdout, /^\| many accounts, at half of the highest rate \| messages a second /m);
  assert.equal(stdout.match(/^\| 2 nodes \| \d/gm)?.length, 2);
});
