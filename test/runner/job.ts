/**
 * A job is one process that runs one test file, or a few small ones after each other. It leads a process group: whatever its tests started and
 * left is ended with it, when it is done and when it takes too long.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { EVENTS_FILE, type TestLine } from "./events.ts";
import { PASSABLE, type Room } from "./room.ts";

export interface Job {
  readonly files: readonly string[];
  readonly store: "sqlite" | "postgres";
}

export interface Failure {
  readonly file: string;
  readonly store: Job["store"];
  /** The names from the outermost to the test itself; empty where no test of the file is to blame. */
  readonly test: readonly string[];
  readonly reason: string;
}

export interface TimedTest {
  readonly file: string;
  readonly name: string;
  readonly durationMs: number;
}

export interface Outcome {
  readonly job: Job;
  readonly durationMs: number;
  readonly passed: number;
  readonly skipped: number;
  readonly tests: readonly TimedTest[];
  readonly failures: readonly Failure[];
  /** What its tests printed last. */
  readonly output: string;
}

export interface JobOptions {
  readonly room: Room;
  readonly environment: NodeJS.ProcessEnv;
  /** Past this, the whole group is ended. */
  readonly limitMs: number;
  readonly nodeArguments: readonly string[];
}

const REPORTER = join(import.meta.dirname, "reporter.ts");
/** So much of the output is kept, from its end. */
const KEPT_OUTPUT = 8_000;
/** The test that hangs is told by its name; only what hangs outside of tests meets the limit of the job. */
const TEST_SHARE_OF_LIMIT = 0.8;
/** For a process that has said it is done; then it is ended. */
const DONE_MS = 10_000;

let jobNumber = 0;

function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // Nobody is left of it.
  }
}

export async function runJob(job: Job, options: JobOptions): Promise<Outcome> {
  const { room, limitMs } = options;
  // The run has been told to end, and is about to.
  if (room.isClosed) return new Promise(() => {});
  jobNumber += 1;
  const directory = join(room.directory, String(jobNumber));
  mkdirSync(directory);
  chmodSync(directory, PASSABLE);
  const eventsFile = join(directory, "events");
  const beganAt = performance.now();
  const child = spawn(
    process.execPath,
    [
      "--test",
      "--test-isolation=none",
      "--test-force-exit",
      `--test-timeout=${Math.round(limitMs * TEST_SHARE_OF_LIMIT)}`,
      `--test-reporter=${REPORTER}`,
      "--test-reporter-destination=stdout",
      ...options.nodeArguments,
      ...job.files,
    ],
    {
      detached: true,
      stdio: "pipe",
      env: { ...options.environment, TMPDIR: directory, TEST_STORE: job.store, [EVENTS_FILE]: eventsFile },
    },
  );
  child.stdin.on("error", () => {});
  if (child.pid !== undefined) {
    room.begun(child.pid);
    child.stdin.end("\n");
  }
  let output = "";
  const keep = (data: Buffer): void => {
    output = (output + data).slice(-KEPT_OUTPUT);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);

  const lines = (): TestLine[] =>
    existsSync(eventsFile)
      ? readFileSync(eventsFile, "utf8")
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line))
      : [];
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = true;
    endGroup(child);
  }, limitMs);
  let isDone = false;
  const doneWatch = setInterval(() => {
    if (isDone) endGroup(child);
    isDone = lines().at(-1)?.kind === "done";
  }, DONE_MS);

  const end = await new Promise<number | string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    // Not "close": what a test has started and left may hold the streams open.
    child.once("exit", (code, signal) => resolve(code ?? signal ?? ""));
  });
  clearTimeout(limit);
  clearInterval(doneWatch);
  endGroup(child);
  if (child.pid !== undefined) room.ended(child.pid);
  const told = lines();
  try {
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  } catch {
    // What was just ended may not be gone yet. The keeper removes it.
  }

  const durationMs = performance.now() - beganAt;
  // A test that a file has from a module that it imports is told by the path of that module.
  const fileOf = (path: string): string => (job.files.length === 1 ? job.files[0]! : relative(process.cwd(), path));
  const failures: Failure[] = told.flatMap((line) =>
    line.kind === "failed" ? [{ file: fileOf(line.file), store: job.store, test: line.test, reason: line.reason }] : [],
  );
  const isComplete = told.at(-1)?.kind === "done";
  if (isLate || !isComplete || (end !== 0 && failures.length === 0)) {
    const last = told.findLast((line) => line.kind === "running");
    const at = last === undefined ? "before its first test" : `in or after "${last.name}"`;
    const reason = isLate ? `did not end within ${Math.round(limitMs / 1_000)} s, ${at}` : `ended with ${end}, ${at}`;
    // Which of several files it was is not known: each is run again.
    for (const file of job.files) failures.push({ file, store: job.store, test: [], reason: `${reason}\n${output}` });
  } else if (options.nodeArguments.length === 0) {
    // A choice by name leaves files without a test; nothing else does.
    const tested = new Set(
      told.flatMap((line) => ("file" in line && line.kind !== "running" ? [fileOf(line.file)] : [])),
    );
    for (const file of job.files)
      if (!tested.has(file)) failures.push({ file, store: job.store, test: [], reason: "the file has no test" });
  }
  return {
    job,
    durationMs,
    passed: told.filter((line) => line.kind === "passed").length,
    skipped: told.filter((line) => line.kind === "skipped").length,
    tests: told.flatMap((line) => (line.kind === "passed" ? [{ ...line, file: fileOf(line.file) }] : [])),
    failures,
    output,
  };
}
