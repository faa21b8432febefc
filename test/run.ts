/** All tests, and those of the API once more with PostgreSQL as the store, where the store matters. Arguments go on to node: `node test/run.ts --test-name-pattern=…`. */
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What is answered before the store is asked, or is kept in memory: a second run on another store would show nothing. */
const STORELESS =
  /(addresses|auth-cost|documentation|errors.*|health|login-attempts|preview|sending-parts|tls)\.test\.ts$/;

const RUNS: readonly { files: readonly string[]; store: string }[] = [
  { files: ["test/**/*.test.ts"], store: "sqlite" },
  { files: globSync("test/api/*.test.ts").filter((file) => !STORELESS.test(file)), store: "postgres" },
];

// Every test file is a process of its own, and most load the same modules: compiled once, they start faster.
const cache = mkdtempSync(join(tmpdir(), "heliograph-compiled-"));
process.on("exit", () => rmSync(cache, { recursive: true, force: true }));

for (const { files, store } of RUNS) {
  const { status } = spawnSync(
    process.execPath,
    [
      "--test",
      "--test-concurrency=2",
      "--test-global-setup=test/support/postgres-setup.ts",
      ...process.argv.slice(2),
      ...files,
    ],
    { stdio: "inherit", env: { ...process.env, NODE_COMPILE_CACHE: cache, TEST_STORE: store } },
  );
  if (status !== 0) process.exit(status ?? 1);
}
