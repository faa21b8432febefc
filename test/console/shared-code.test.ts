/** What the pages share with the service runs in a browser: no module of Node's, and none of its globals. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "../..");

/** The files that a file imports, types left out: a bundler drops those. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  return [...text.matchAll(/^(?:import|export)(?! type\b)[^;]*?from "([^"]+)"|import\("([^"]+)"\)/gm)].map(
    ([, first, second]) => first ?? second!,
  );
}

function reached(files: readonly string[], found = new Set<string>()): Set<string> {
  for (const file of files) {
    if (found.has(file) || file.endsWith(".json") || file.endsWith(".css")) continue;
    found.add(file);
    const next = importsOf(file).filter((name) => name.startsWith("."));
    reached(
      next.map((name) => relative(ROOT, join(ROOT, dirname(file), name))),
      found,
    );
  }
  return found;
}

test("no page reaches code that needs Node", (t) => {
  const shared = [...reached(globSync("console/src/**/*.{ts,tsx}", { cwd: ROOT }))].filter((file) =>
    file.startsWith("src/"),
  );
  t.diagnostic(`${shared.length} files of the service run in the browser`);
  assert.ok(shared.includes("src/sms/prepared-text.ts"));
  for (const file of shared) {
    const text = readFileSync(join(ROOT, file), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
    assert.doesNotMatch(text, /from "node:|\bBuffer\b|\bprocess\./, file);
  }
});

test("the tables of transliteration are not fetched before a text needs them", () => {
  const atOnce = (file: string, found = new Set<string>()): Set<string> => {
    if (found.has(file) || file.endsWith(".css") || file.endsWith(".json")) return found;
    found.add(file);
    const text = readFileSync(join(ROOT, file), "utf8");
    for (const [, name] of text.matchAll(/^(?:import|export)(?! type\b)[^;]*?from "(\.[^"]+)"/gm))
      atOnce(relative(ROOT, join(ROOT, dirname(file), name!)), found);
    return found;
  };
  const files = atOnce("console/src/pages/compose/Compose.tsx");
  assert.ok(files.has("src/sms/parts.ts"));
  assert.ok(!files.has("src/sms/transliteration.ts"));
});
