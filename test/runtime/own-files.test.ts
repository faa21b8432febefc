/** Our own files are found where Node would find them. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { besides } from "../../src/runtime/own-files.ts";

const SOURCE = join(import.meta.dirname, "../../src");

test("each import of a file of ours leads where its address says", () => {
  const imports = globSync("**/*.ts", { cwd: SOURCE }).flatMap((name) =>
    [...readFileSync(join(SOURCE, name), "utf8").matchAll(/^(?:import|export)\b.*? from "(\.[^"]+)";$/gm)].map(
      ([, specifier]) => ({ from: pathToFileURL(join(SOURCE, name)).href, specifier: specifier! }),
    ),
  );
  assert.ok(imports.length > 1_000);
  for (const { from, specifier } of imports)
    assert.equal(besides(from, specifier), new URL(specifier, from).href, from);
});

test("a file that is not there is told by its name, and packages are found as ever", async () => {
  await assert.rejects(import(`${pathToFileURL(SOURCE).href}/runtime/nothing.ts`), /nothing\.ts/);
  const { createLog } = await import(`${pathToFileURL(SOURCE).href}/runtime/log.ts`);
  assert.equal(typeof createLog, "function");
});
