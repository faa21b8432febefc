#!/usr/bin/env node
// Starts Heliograph. In a clone the program is TypeScript, which Node runs as it is from version 24 on; a package that was installed has it in lib/.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const major = Number(process.versions.node.split(".")[0]);
if (major < 24) process.exit(await runOnOwnNode());
// Whatever it writes is for its owner alone. Here, because threads cannot set it and have it from the process.
process.umask(0o077);
// A service runs for long, and what it may take of the machine is set when a process starts: V8 lets the young generation of each thread grow to
// 130 MB, and the C library keeps freed memory for each thread by itself, both for no gain here. At its least, of
// one megabyte, the young generation is collected so often that a start takes a twentieth more. So it starts itself anew, as the same process; not
// where there is no such thing (Windows), or where a parent has a channel to it, which would be lost.
const options = [
  "--min-semi-space-size=2",
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
// Compiled once, and kept with the user's own caches: the system's directory for temporary files is everybody's to write in. A user without a home,
// as in a container, may have a data directory. Where there is no such place nothing is kept, and each start compiles anew.
for (const place of [userCache, dataCache]) {
  const directory = module.getCompileCacheDir() === undefined ? place() : null;
  if (directory === null) continue;
  const { status } = module.enableCompileCache(directory);
  // Threads of their own enable it by this name, before they load anything.
  if (status === module.constants.compileCacheStatus.ENABLED) process.env.NODE_COMPILE_CACHE = directory;
}
const [folder, ending] = existsSync(new URL("../src/main.ts", import.meta.url)) ? ["src", "ts"] : ["lib", "js"];
await import(`../${folder}/runtime/own-files.${ending}`);
await import(`../${folder}/main.${ending}`);

function userCache() {
  try {
    return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "heliograph");
  } catch {
    return null;
  }
}

/** Beside the data of a service, if the command line or the environment says where that is. */
function dataCache() {
  const { values } = parseArgs({ args: process.argv.slice(3), options: { data: { type: "string" } }, strict: false });
  const data = typeof values.data === "string" ? values.data : process.env.HELIOGRAPH_STORE_DATA;
  return isService && data !== undefined && existsSync(join(data, "heliograph.sqlite")) ? join(data, "compiled") : null;
}

/** An older Node starts the one that was installed with Heliograph, and ends as that does. */
async function runOnOwnNode() {
  const file = process.platform === "win32" ? "node.exe" : "node";
  const own = (module.createRequire(import.meta.url).resolve.paths("node/package.json") ?? [])
    .map((folder) => join(folder, "node/bin", file))
    .find((path) => existsSync(path));
  if (own === undefined) {
    console.error(
      `Heliograph needs Node 24 or later, and this is ${process.version}. Its own Node is missing: install it anew, with \`npm ci\` in a clone.`,
    );
    return 1;
  }
  const child = spawn(own, process.argv.slice(1), { stdio: "inherit" });
  const passOn = (signal) => child.kill(signal);
  const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"];
  for (const signal of signals) process.on(signal, passOn);
  const [code, signal] = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (...how) => resolve(how));
  });
  if (signal === null) return code;
  for (const one of signals) process.off(one, passOn);
  process.kill(process.pid, signal);
  return 1;
}
