/** Whatever looks at what others wrote is known here by name, so that the long run can measure it (linear.test.ts). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { BOUNDED } from "./support/bounded.ts";
import { EXEMPT, READERS } from "./support/readers.ts";
import { readSources } from "./support/sources.ts";

const sources = readSources();

/** They put regular expressions together when they run. */
const BUILDERS: Readonly<Record<string, string>> = {
  "src/auth/api-keys.ts": "out of a prefix of ours; storedForm is among the functions below",
  "src/api/dead-letters.ts": "gives an expression that is measured here to a schema",
  "src/smsc/faults.ts":
    "for whoever tests with the simulated network of his own machine: the pattern is his, and so is the text",
  "src/catalogue/numbers.ts": "gives an expression of store/names.ts to a schema, for keys of at most 64 characters",
  "src/runtime/schema-faults.ts": "out of the patterns of our own schemas, which are measured here where they stand",
  "src/money/csv.ts": "for cells of a statement, of which a description has the most characters: 255",
  "src/sms/transliteration/nonunicode.ts": "out of our own tables; gsmFromAny is among the functions below",
};

test("expressions that are put together when the service runs are known, and bounds name what there is", () => {
  assert.deepEqual([...sources.builders].sort(), Object.keys(BUILDERS).sort());
  for (const [file, pattern] of BOUNDED)
    assert.ok(
      sources.regexes.some((found) => found.file === file && String(found.regex) === pattern),
      `${file} ${pattern}`,
    );
});

test("no function is left out that is exported and takes a text or octets first", () => {
  const known = new Set([...Object.keys(READERS), ...Object.keys(EXEMPT)]);
  assert.deepEqual(
    sources.functions.filter((name) => !known.has(name)),
    [],
  );
  const there = new Set(sources.functions);
  assert.deepEqual(
    Object.keys(EXEMPT).filter((name) => !there.has(name)),
    [],
    "exempt, and not there",
  );
});
