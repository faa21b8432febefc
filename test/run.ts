/**
 * All tests, and those of the API once more with PostgreSQL as the store, where the store matters. With --fast only those that are over soon: no
 * child processes, no PostgreSQL. Other arguments go on to node: `node test/run.ts --test-name-pattern=…`.
 */
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

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
  "test/{admin,auth,catalogue,dispatch,intake,maintenance,message,money,reports,runtime,schedule,simulator,sms,smsc,threads}/*.test.ts",
  "test/carriers/**/*.test.ts",
  "test/docs/{limits,security}.test.ts",
  "test/store/{group,sqlite*}.test.ts",
]).filter((file) => !NEEDS_MORE.test(file));

const isFast = process.argv.includes("--fast");
const passedOn = process.argv.slice(2).filter((argument) => argument !== "--fast");
const runs = isFast ? [{ files: FAST, store: "sqlite", concurrency: 2 }] : RUNS;

// Every test file is a process of its own, and most load the same modules: compiled once, they start faster.
const cache = mkdtempSync(join(tmpdir(), "heliograph-compiled-"));
process.on("exit", () => rmSync(cache, { recursive: true, force: true }));

for (const { files, store, concurrency } of runs) {
  const { status } = spawnSync(
    process.execPath,
    [
      "--test",
      `--test-concurrency=${concurrency}`,
      ...(isFast ? [] : ["--test-global-setup=test/support/postgres-setup.ts"]),
      ...passedOn,
      ...files,
    ],
    { stdio: "inherit", env: { ...process.env, NODE_COMPILE_CACHE: cache, TEST_STORE: store } },
  );
  if (status !== 0) process.exit(status ?? 1);
}
