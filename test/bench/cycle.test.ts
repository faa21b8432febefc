/** The benchmark runs, and says what it cannot do. Nobody looks at the figures of so small a run. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const BENCH = join(import.meta.dirname, "../../bench/index.ts");
const run = promisify(execFile);
/** On a machine that has much else to do. */
const LONGEST_RUN_MS = 120_000;

test("a store with messages is measured in turn with an empty one", async () => {
  const args = ["--stored", "2000", "--mode", "hundred", "--count", "200", "--repeat", "1", "--share", "0.5"];
  const { stdout } = await run(process.execPath, [BENCH, "--json", ...args], { timeout: LONGEST_RUN_MS });
  const { results, ratios } = JSON.parse(stdout) as {
    results: { name: string; highest: object | null }[];
    ratios: { rounds: { figure: string }[] }[];
  };
  assert.deepEqual(
    results.map(({ name }) => name),
    ["Heliograph on SQLite, 2,000 messages stored", "Heliograph on SQLite, empty at the start"],
  );
  assert.ok(results.every(({ highest }) => highest !== null));
  assert.ok(ratios[0]?.rounds.some(({ figure }) => figure === "start to report, p99"));
});

const REFUSED: readonly [args: string[], message: RegExp][] = [
  [["--share", "2"], /^--share must be above 0 and at most 1\n/],
  [["--count", "many"], /^--count must be a whole number from 1 to 10000000\n/],
  [["--soak", "1", "--stored", "5"], /^--soak is for one service/],
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
