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
// Compiled once, and kept with the user's own caches: the system's directory for temporary files is everybody's to write in.
// Where there is no such place nothing is kept.
try {
  module.enableCompileCache(join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "heliograph"));
} catch {
  // A user without a home, as in a container.
}
await import("../src/main.ts");
