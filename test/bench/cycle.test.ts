/** The benchmark runs, and says what it cannot do. Nobody looks at the figures of so small a run. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const ROOT = resolve(import.meta.dirname, "../..");
const BENCH = join(ROOT, "bench/index.ts");
const run = promisify(execFile);
/** On a machine that has much else to do. */
const MAX_RUN_MS = 120_000;

test("the full cycle is measured, first the highest rate and then at a share of it", async () => {
  const args = ["--mode", "hundred", "--count", "200", "--repeat", "1", "--share", "0.5"];
  const { stdout } = await run(process.execPath, [BENCH, "--json", ...args], { timeout: MAX_RUN_MS });
  const { results } = JSON.parse(stdout) as { results: { name: string; highest: object | null }[] };
  assert.deepEqual(
    results.map(({ name, highest }) => [name, highest !== null]),
    [["Heliograph on SQLite", true]],
  );
});

test("several accounts are measured on two nodes, each account's requests over one of them", async () => {
  const args = [
    "--store",
    "postgres",
    "--nodes",
    "2",
    "--accounts",
    "3",
    "--pinned",
    "--count",
    "200",
    "--repeat",
    "1",
  ];
  const { stdout } = await run(process.execPath, [BENCH, "--json", ...args], { timeout: MAX_RUN_MS });
  const { results } = JSON.parse(stdout) as { results: { name: string }[] };
  assert.deepEqual(
    results.map(({ name }) => name),
    ["Heliograph on PostgreSQL, 2 nodes, 3 accounts, each over one node"],
  );
});

test("several generators, carriers and sinks share a round, and nothing is counted twice or by another", async () => {
  const shares = ["--load", "3", "--accounts", "2", "--connections", "8"];
  const args = [...shares, "--mode", "one,hundred", "--count", "1000", "--repeat", "2", "--receipt-delay", "1"];
  const { stdout } = await run(process.execPath, [BENCH, "--json", ...args], { timeout: MAX_RUN_MS });
  const { results } = JSON.parse(stdout) as {
    results: { name: string; duplicateSubmits: number; duplicateReports: number }[];
  };
  assert.deepEqual(
    results.map(({ name, duplicateSubmits, duplicateReports }) => [name, duplicateSubmits, duplicateReports]),
    [
      ["Heliograph on SQLite, 2 accounts, one", 0, 0],
      ["Heliograph on SQLite, 2 accounts, hundred", 0, 0],
    ],
  );
});

test("a carrier over HTTP is measured, one message a call and many, in turn with one over SMPP", async () => {
  const args = ["--carrier", "smpp,http", "--preset", "heliograph,twilio", "--count", "200", "--repeat", "1"];
  const { stdout } = await run(process.execPath, [BENCH, "--json", ...args], { timeout: MAX_RUN_MS });
  const { results } = JSON.parse(stdout) as { results: { name: string }[] };
  assert.deepEqual(
    results.map(({ name }) => name),
    [
      "Heliograph on SQLite, over SMPP",
      "Heliograph on SQLite, over HTTP, heliograph",
      "Heliograph on SQLite, over HTTP, twilio",
    ],
  );
});

/** The threads that there always are; the one for checkpoints comes with the first that is due. */
const THREADS = ["delivery", "edge", "other threads", "store"];

test("the service of another checkout is measured in turn, at a low rate", async () => {
  const args = ["--against", ROOT, "--rate", "100", "--count", "50", "--warm-up", "50", "--repeat", "1"];
  const { stdout } = await run(process.execPath, [BENCH, "--json", ...args], { timeout: MAX_RUN_MS });
  const { results, ratios } = JSON.parse(stdout) as {
    results: { name: string; wakeUpsPerMessage: { gateway: object } }[];
    ratios: { of: string; to: string; rounds: { figure: string }[] }[];
  };
  const [here, there] = results.map(({ name }) => name);
  assert.deepEqual([here, there], ["Heliograph on SQLite", `Heliograph of ${ROOT} on SQLite`]);
  assert.deepEqual(
    ratios.map(({ of, to }) => [of, to]),
    [[here, there]],
  );
  if (process.platform !== "linux") return;
  const known = Object.keys(results[1]!.wakeUpsPerMessage.gateway).filter((name) => name !== "checkpoint");
  assert.deepEqual(known.toSorted(), THREADS);
  assert.ok(ratios[0]!.rounds.some(({ figure }) => figure === "CPU µs a message, delivery"));
});

test("a sandbox that nobody uses is watched", { skip: process.platform !== "linux" }, async () => {
  const args = ["idle", "--repeat", "1", "--seconds", "1", "--json"];
  const { stdout } = await run(process.execPath, [BENCH, ...args], { timeout: MAX_RUN_MS });
  const { results } = JSON.parse(stdout) as { results: { name: string; rounds: { corePercent: object }[] }[] };
  assert.deepEqual(
    results.map(({ name, rounds }) => [name, Object.keys(rounds[0]!.corePercent).toSorted()]),
    [["Sandbox", THREADS]],
  );
});

test("a start is told as a ratio to a Node that does nothing", async () => {
  const args = ["start", "--messages", "0", "--runs", "1"];
  const { stdout } = await run(process.execPath, [BENCH, ...args], { timeout: MAX_RUN_MS });
  assert.match(stdout, /^CPU to listening, divided by node -e 0: \d+\.\d\d$/m);
});

const REFUSED: readonly [args: string[], message: RegExp][] = [
  [["--share", "2"], /^--share must be above 0 and at most 1\n/],
  [["--count", "many"], /^--count must be a whole number from 1 to 10000000\n/],
  [["--soak", "1", "--stored", "5"], /^--soak is for one service/],
  [["--carrier", "http", "--waiting", "5"], /^--carrier http is for one node, without --waiting/],
  [["--against", "/nowhere"], /^--against needs a checkout with its own node_modules, and there is no \/nowhere\//],
  [["idle", "--against", "/nowhere"], /^--against needs a checkout with its own node_modules/],
  [["idle", "--repeat", "0"], /^--repeat must be a whole number above 0\n/],
  [["--against", ".", "--stored", "5"], /^--against does not go with --stored and --waiting/],
  [["--accounts", "2", "--peer", "kannel"], /^--peer is for one account and one load\n/],
  [["--load", "3", "--connections", "2"], /^--load needs a connection and a request for each\n/],
  [["--load", "3", "--mode", "hundred", "--count", "200"], /^--load needs a connection and a request for each\n/],
  [["--waiting", "1", "--peer", "kannel"], /^--waiting and --peer do not go together\n/],
];

test("what cannot be measured is said in a sentence", async () => {
  for (const [args, message] of REFUSED) await assertRefused(args, message);
});

test("a peer that is not installed is named", { skip: existsSync("/usr/sbin/bearerbox") }, async () => {
  await assertRefused(
    ["--peer", "kannel"],
    /^bearerbox is not in the PATH: --peer kannel needs Kannel, on Debian the package kannel\n/,
  );
});

async function assertRefused(args: readonly string[], message: RegExp): Promise<void> {
  const end = run(process.execPath, [BENCH, ...args], { env: { ...process.env, PATH: "" } });
  await assert.rejects(end, (error: { code: number; stderr: string }) => {
    assert.equal(error.code, 1);
    assert.match(error.stderr, message);
    return true;
  });
}
