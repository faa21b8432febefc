/**
 * All tests, and those of the API once more with PostgreSQL as the store, where the store matters. With --fast only those that are over soon: no
 * child processes, no PostgreSQL. Other arguments go on to node: `node test/run.ts --test-name-pattern=…`.
 */
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { takenAway } from "./support/starvation.ts";

/** What is answered before the store is asked, or is kept in memory: a second run on another store would show nothing. */
const STORELESS =
  /(addresses|auth-cost|documentation|errors.*|headers|health|login-attempts|preview|sending-parts|tls)\.test\.ts$/;

/** Starts the program or a PostgreSQL server, or takes ten seconds and more. */
const NEEDS_MORE =
  /(smsc\/command|kannel|dispatch\/(message-outcomes|scale)|sms\/linear|smpp\/(faults|rate-finder|wrong-octets)|store\/sqlite)\.test\.ts$/;

/** An attack wants the machine for itself: what is measured is the service, not who else is busy. */
const HOSTILE = globSync("test/hostile/*.test.ts");

const RUNS: readonly { files: readonly string[]; store: string; concurrency: number }[] = [
  {
    files: globSync("test/**/*.test.ts").filter((file) => !HOSTILE.includes(file)),
    store: "sqlite",
    concurrency: 2,
  },
  {
    files: globSync("test/api/*.test.ts").filter((file) => !STORELESS.test(file)),
    store: "postgres",
    concurrency: 2,
  },
  { files: HOSTILE, store: "sqlite", concurrency: 1 },
];

/** For the hand, while something is being changed: what is pure, and the parts one by one. */
const FAST = globSync([
  "test/*.test.ts",
  "test/{admin,auth,catalogue,dispatch,intake,maintenance,message,money,pins,reports,runtime,schedule,simulator,sms,smsc,threads}/*.test.ts",
  "test/carriers/**/*.test.ts",
  "test/docs/{limits,security}.test.ts",
  "test/store/{group,sqlite*}.test.ts",
]).filter((file) => !NEEDS_MORE.test(file));

/** Far above what the slowest file takes on a slow machine: one that hangs is told of by its name, and the others have their turn. */
const HANGS_MS = 1_200_000;

/** Of a virtual machine: what its host gives to others while it has work to do, as a share of all its time. */
const STARVED = 0.05;
/** More than so many files do not fail because they were kept waiting. */
const MOST_AGAIN = 12;

const isFast = process.argv.includes("--fast");
const passedOn = process.argv.slice(2).filter((argument) => argument !== "--fast");
const runs = isFast ? [{ files: FAST, store: "sqlite", concurrency: 2 }] : RUNS;

// Every test file is a process of its own, and most load the same modules: compiled once, they start faster.
const directory = mkdtempSync(join(tmpdir(), "heliograph-tests-"));
process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
const failures = join(directory, "failures");

function run(files: readonly string[], store: string, concurrency: number): number {
  const { status } = spawnSync(
    process.execPath,
    [
      "--test",
      `--test-concurrency=${concurrency}`,
      `--test-timeout=${HANGS_MS}`,
      "--test-reporter=spec",
      "--test-reporter-destination=stdout",
      "--test-reporter=./test/support/failed-files.ts",
      `--test-reporter-destination=${failures}`,
      ...(isFast ? [] : ["--test-global-setup=test/support/setup.ts"]),
      ...passedOn,
      ...files,
    ],
    {
      stdio: "inherit",
      env: { ...process.env, NODE_COMPILE_CACHE: join(directory, "compiled"), TEST_STORE: store },
    },
  );
  return status ?? 1;
}

for (const { files, store, concurrency } of runs) {
  const share = takenAway();
  let status = run(files, store, concurrency);
  // A runner that did not even begin, as with an option that Node does not know, has no such file.
  const told = existsSync(failures) ? readFileSync(failures, "utf8") : "";
  const failed = [...new Set(told.split("\n").filter(Boolean))];
  // What waits for an answer takes one that is late for one that is missing, and so does a test of that. Where the machine is one's own, nothing is asked twice.
  if (status !== 0 && share() > STARVED && failed.length > 0 && failed.length <= MOST_AGAIN) {
    console.log(
      `\nThe host took ${Math.round(100 * share())} % of the processors' time away meanwhile. Once more, one by one:\n${failed.join("\n")}\n`,
    );
    status = run(failed, store, 1);
  }
  if (status !== 0) process.exit(status);
}
