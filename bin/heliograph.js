#!/usr/bin/env node
// Starts Heliograph. The program itself is TypeScript, which Node runs as it is from version 24 on.
import module from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  console.error(
    `Heliograph needs Node 24 or later, and this is ${process.version}.\n` +
      "In a clone, `npm start` and `npx heliograph` bring their own: run `npm ci` first.",
  );
  process.exit(1);
}
// Whatever it writes is for its owner alone. Here, because threads cannot set it and have it from the process.
process.umask(0o077);
// A service runs for long, and what it may take of the machine is set when a process starts: V8 lets the young generation of each thread grow to
// 130 MB, and the C library keeps freed memory for each thread by itself, both for no gain here. V8 also guesses, from its first moments under
// load, which objects will live long, and makes those in the old generation from then on: parts of requests, which die at once, and hold all that
// they name until the whole heap is collected. So it starts itself anew, as the same process; not where there is no such thing (Windows), or
// where a parent has a channel to it, which would be lost.
const options = [
  "--no-allocation-site-pretenuring",
  "--max-semi-space-size=16",
  "--max-old-space-size=1536",
  ...process.execArgv,
];
const isService = ["serve", "sandbox"].includes(process.argv[2]);
const isSet = [...process.execArgv, process.env.NODE_OPTIONS ?? ""].some((option) =>
  option.includes("semi-space-size"),
);
if (
  isService &&
  !isSet &&
  process.execve !== undefined &&
  process.channel === undefined &&
  process.platform !== "win32"
) {
  const environment = { MALLOC_ARENA_MAX: "2", ...process.env };
  process.execve(process.execPath, [process.execPath, ...options, ...process.argv.slice(1)], environment);
}
// Compiled once, and kept with the user's own caches: the system's directory for temporary files is everybody's to write in.
// Where there is no such place nothing is kept.
try {
  module.enableCompileCache(join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "heliograph"));
} catch {
  // A user without a home, as in a container.
}
await import("../src/main.ts");
