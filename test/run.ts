/** All tests, and those of the API once more with PostgreSQL as the store. Arguments go on to node: `node test/run.ts --test-name-pattern=…`. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const RUNS: readonly { files: string; store: string }[] = [
  { files: "test/**/*.test.ts", store: "sqlite" },
  { files: "test/api/*.test.ts", store: "postgres" },
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
      files,
    ],
    { stdio: "inherit", env: { ...process.env, NODE_COMPILE_CACHE: cache, TEST_STORE: store } },
  );
  if (status !== 0) process.exit(status ?? 1);
}
