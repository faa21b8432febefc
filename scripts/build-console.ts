/** Builds the console, where its tools are: `npm ci --omit=dev` leaves them out, and a service without the console is a whole one. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const VITE = join(ROOT, "node_modules/vite/bin/vite.js");

if (existsSync(VITE)) {
  const { status } = spawnSync(process.execPath, [VITE, "build", "console", "--logLevel", "warn"], {
    cwd: ROOT,
    stdio: "inherit",
  });
  process.exitCode = status ?? 1;
} else if (!existsSync(join(ROOT, "console/dist/index.html"))) {
  console.error(
    "The console is not built: its tools are development dependencies. For a service with its console run `npm ci && npm prune --omit=dev`.",
  );
}
