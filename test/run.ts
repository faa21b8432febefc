/** All tests, and those of the API once more with PostgreSQL as the store, where the store matters. Arguments go on to node: `node test/run.ts --test-name-pattern=…`. */
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What is answered before the store is asked, or is kept in memory: a second run on another store would show nothing. */
const STORELESS =
  /(addresses|auth-cost|documentation|errors.*|headers|health|login-attempts|preview|sending-parts|tls)\.test\.ts$/;

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

// Every test file is a process of its own, and most load the same modules: compiled once, they start faster.
const cache = mkdtempSync(join(tmpdir(), "heliograph-compiled-"));
process.on("exit", () => rmSync(cache, { recursive: true, force: true }));

for (const { files, store, concurrency } of RUNS) {
  const { status } = spawnSync(
    process.execPath,
    [
      "--test",
      `--test-concurrency=${concurrency}`,
      "--test-global-setup=test/support/postgres-setup.ts",
      ...process.argv.slice(2),
      ...files,
    ],
    { stdio: "inherit", env: { ...process.env, NODE_COMPILE_CACHE: cache, TEST_STORE: store } },
  );
  if (status !== 0) process.exit(status ?? 1);
}
