/** The runner, tried on files with planted faults. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { until } from "../support/patience.ts";
import { filesOfPart, LONG_PARTS, PARTS_OF_FOLDERS, partsForChange, shortFiles } from "./parts.ts";

const RUN = join(import.meta.dirname, "../run.ts");

interface Planted {
  readonly process: ChildProcess;
  /** Where it may leave something behind. */
  readonly directory: string;
  output(): string;
  ended(): Promise<{ code: number | null; lines: string[] }>;
}

function plant(t: TestContext, names: readonly string[], limitMs = 60_000): Planted {
  const directory = mkdtempSync(join(tmpdir(), "planted-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const files = names.map((name) => `test/runner/planted/${name}.ts`);
  const env = {
    ...process.env,
    TMPDIR: directory,
    PLANTED_MARK: join(directory, "mark"),
    TEST_LIMIT_MS: String(limitMs),
    // It is no child of this file's own run.
    NODE_TEST_CONTEXT: undefined,
  };
  const child = spawn(process.execPath, [RUN, ...files], { env, stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  let output = "";
  child.stdout.on("data", (data: Buffer) => {
    output += data;
  });
  const closed = once(child, "close");
  return {
    process: child,
    directory,
    output: () => output,
    async ended() {
      const [code] = await closed;
      return { code, lines: output.trimEnd().split("\n") };
    },
  };
}

/** Whether a process still does anything. Where nobody collects orphans, one that has ended stays in the list. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

test("a failure is told as it comes and at the end, with the command that runs just that test", async (t) => {
  const { code, lines } = await plant(t, ["fails"]).ended();
  assert.equal(code, 1);
  const told = lines.filter((line) => line === "✖ test/runner/planted/fails.ts: outer › planted failure");
  assert.equal(told.length, 3, "as it came, at the second try, and at the end");
  assert.ok(lines.some((line) => line.includes("one is not two")));
  const command = "    → npx node --test --test-name-pattern='planted failure' test/runner/planted/fails.ts";
  assert.ok(lines.includes(command), lines.join("\n"));
  assert.equal(lines.at(-1), "1 passed, 1 failed, 0 skipped");
});

test("a file that hangs is ended with all it started, and named with what it printed last", async (t) => {
  const { code, lines } = await plant(t, ["hangs"], 3_000).ended();
  assert.equal(code, 1);
  assert.ok(lines.includes("✖ test/runner/planted/hangs.ts"));
  assert.ok(lines.some((line) => line.includes('did not end within 3 s, in or after "planted hang"')));
  const pid = Number(/started (\d+)/.exec(lines.join("\n"))![1]);
  await until(() => !isAlive(pid));
});

test("a test that waits for ever is told by its name", async (t) => {
  const { code, lines } = await plant(t, ["waits"], 3_000).ended();
  assert.equal(code, 1);
  assert.ok(lines.includes("✖ test/runner/planted/waits.ts: planted wait"));
});

test("a file that is done ends, whatever it left open", async (t) => {
  const { code, lines } = await plant(t, ["leaves-open"]).ended();
  assert.equal(lines.at(-1), "1 passed, 0 failed, 0 skipped");
  assert.equal(code, 0);
});

test("what fails the first time only is shaky: the run passes and says so", async (t) => {
  const { code, lines } = await plant(t, ["fails-at-first"]).ended();
  assert.equal(code, 0);
  assert.ok(
    lines.includes(
      'shaky: test/runner/planted/fails-at-first.ts, "planted shakiness", AssertionError [ERR_ASSERTION]: the first time only',
    ),
    lines.join("\n"),
  );
  assert.equal(lines.at(-1), "1 passed, 0 failed, 0 skipped");
});

test("a file without a test fails the run", async (t) => {
  const { code, lines } = await plant(t, ["no-test"]).ended();
  assert.equal(code, 1);
  assert.ok(lines.some((line) => line.includes("has no test")));
});

// The run, its keeper and the process of the file, which has just begun; and what that has started.
const STAGES = { "as a file begins": 3, "while a file runs": 4 };
for (const [stage, processes] of Object.entries(STAGES))
  for (const signal of ["SIGINT", "SIGTERM", "SIGKILL"] as const)
    test(`${signal} ${stage} leaves no process behind, and no folder`, async (t) => {
      const planted = plant(t, ["hangs"]);
      // What it prints is not passed on before it ends, so the process is found by its place in the tree.
      const isBelow = (pid: number): boolean => {
        try {
          return readFileSync(`/proc/${pid}/environ`, "utf8").includes(`TMPDIR=${planted.directory}`);
        } catch {
          return false;
        }
      };
      const below = (): number[] =>
        readdirSync("/proc")
          .map(Number)
          .filter((pid) => pid > 0 && isBelow(pid) && isAlive(pid));
      await until(() => below().length >= processes);
      planted.process.kill(signal);
      await planted.ended();
      await until(() => below().length === 0);
      assert.deepEqual(readdirSync(planted.directory), []);
    });

test("every test file is in the short run or in a part of the long one", () => {
  const all = globSync("test/**/*.test.ts").sort();
  const inRuns = new Set([...shortFiles(), ...Object.keys(LONG_PARTS).flatMap(filesOfPart)]);
  assert.deepEqual([...inRuns].sort(), all);
  for (const name of Object.keys(LONG_PARTS)) assert.ok(filesOfPart(name).length > 0, name);
});

test("CONTRIBUTING.md says how long each part takes", () => {
  const [, table = ""] = readFileSync("CONTRIBUTING.md", "utf8").split("Seconds of each part");
  const rows = table.matchAll(/`([a-z-]+)` \| (\d+)/g);
  assert.deepEqual([...rows].map(([, name]) => name).sort(), Object.keys(LONG_PARTS).sort());
});

test("a change calls for the parts of its folders", () => {
  assert.deepEqual(partsForChange(["src/sms/counting.ts", "README.md"]), ["linear"]);
  assert.deepEqual(partsForChange(["test/service/kill.test.ts"]), ["kills"]);
  assert.deepEqual(partsForChange([]), []);
  for (const [folder, parts] of Object.entries(PARTS_OF_FOLDERS)) {
    assert.ok(existsSync(folder), folder);
    for (const part of parts) assert.ok(part in LONG_PARTS, part);
  }
});
