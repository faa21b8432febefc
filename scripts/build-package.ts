/**
 * Makes lib/ from src/ for the package that is installed: Node runs no TypeScript that lies in node_modules. Types are taken out and nothing else is
 * changed, so that lines and columns stay those of the source. A test has it made elsewhere: `node scripts/build-package.ts DIRECTORY`.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const SOURCE = join(ROOT, "src");
const LIBRARY = process.argv[2] ?? join(ROOT, "lib");

/** Imports, and the files that threads begin with. */
const OWN_FILE = /(["'`])(\.\.?\/[^"'`\n]*)\.ts\1/g;

if (process.argv[2] === undefined) rmSync(LIBRARY, { recursive: true, force: true });
else if (existsSync(LIBRARY)) throw new Error(`${LIBRARY} is there already, and is not written over`);
for (const name of globSync("**/*.*", { cwd: SOURCE })) {
  const made = join(LIBRARY, name);
  mkdirSync(dirname(made), { recursive: true });
  if (!name.endsWith(".ts")) {
    cpSync(join(SOURCE, name), made);
    continue;
  }
  const code = stripTypeScriptTypes(readFileSync(join(SOURCE, name), "utf8"));
  writeFileSync(made.replace(/\.ts$/, ".js"), code.replaceAll(OWN_FILE, "$1$2.js$1"));
}

try {
  const commit = execFileSync("git", ["rev-parse", "--short=12", "HEAD"], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "ignore"],
  });
  writeFileSync(join(LIBRARY, "commit"), commit);
} catch {
  // Not a clone, or no git: the version then stands alone.
}
