/** What a browser fetches before it shows the first page: the script of the frame and of the page, compressed. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

const DIST = join(import.meta.dirname, "../../console/dist");
const ASSETS = join(DIST, "assets");
const MAX_OCTETS = 120_000;

/** The files that a script imports at once, and those that they import. */
function withImports(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  const text = readFileSync(join(ASSETS, file), "utf8");
  for (const [, next] of text.matchAll(/(?:^|[;}])(?:import|export)\b[^;'"`()]*from?\s*["'`]\.\/([\w.-]+\.js)["'`]/g))
    withImports(next!, found);
  return found;
}

for (const first of ["Start", "Messages", "Overview"]) {
  test(`the script of ${first} stays small`, (t) => {
    const entry = /src="\/assets\/([\w.-]+\.js)"/.exec(readFileSync(join(DIST, "index.html"), "utf8"))![1]!;
    const page = readdirSync(ASSETS).find((name) => name.startsWith(`${first}-`) && name.endsWith(".js"))!;
    const files = withImports(page, withImports(entry));
    const octets = [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(ASSETS, file))).length, 0);
    t.diagnostic(`${octets} octets in ${files.size} files`);
    assert.ok(files.size >= 2);
    assert.ok(octets < MAX_OCTETS, `${octets} octets, compressed`);
  });
}
