#!/usr/bin/env node
// Starts Heliograph. The program itself is TypeScript, which Node runs as it is from version 24 on.
const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  console.error(
    `Heliograph needs Node 24 or later, and this is ${process.version}.\n` +
      "In a clone, `npm start` and `npx heliograph` bring their own: run `npm ci` first.",
  );
  process.exit(1);
}
await import("../src/main.ts");
