/** Nothing that looks at what others wrote takes the square of its length: not one regular expression, not one function. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { growthFault, microsFor } from "../support/growth.ts";
import { attacksOn } from "./support/attacks.ts";
import { attempt, EXEMPT, READERS } from "./support/readers.ts";
import { type FoundRegex, readSources } from "./support/sources.ts";

const sources = readSources();

/** Worse than linear, but of a text that is bounded before: its file, the pattern, and that bound, which stands beside it in the source. */
const BOUNDED: readonly (readonly [file: string, pattern: string, maxLength: number])[] = [
  ["src/money/amounts.ts", "/0+$/", 6],
  ["src/message/incoming.ts", "/^[^\\p{L}\\p{N}]+|[^\\p{L}\\p{N}]+$/gu", 64],
];
const MAX_MICROS_AT_BOUND = 1_000;

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

const boundOf = ({ file, regex }: FoundRegex): number | undefined =>
  BOUNDED.find(([boundedFile, pattern]) => boundedFile === file && pattern === String(regex))?.[2];

const lookedAt = (regex: RegExp, subject: string) => (): void => {
  regex.lastIndex = 0;
  if (regex.global) subject.replace(regex, "");
  else regex.exec(subject);
};

function faultOfRegex(found: FoundRegex): string | null {
  const { file, regex } = found;
  const bound = boundOf(found);
  for (const { name, text } of attacksOn(regex)) {
    const micros = bound === undefined ? 0 : microsFor(lookedAt(regex, text(bound)));
    const fault =
      bound === undefined
        ? growthFault((length) => lookedAt(regex, text(length)))
        : micros > MAX_MICROS_AT_BOUND && `takes ${micros} µs at its bound`;
    if (fault) return `${file} ${regex}: ${fault}; ${name}`;
  }
  return null;
}

test("every regular expression in the source takes time in proportion to its text", (t) => {
  assert.ok(sources.regexes.length > 80, `${sources.regexes.length} are in the source`);
  assert.deepEqual(
    sources.regexes.map(faultOfRegex).filter((fault) => fault !== null),
    [],
  );
  t.diagnostic(`${sources.regexes.length} regular expressions`);
});

test("an expression that takes the square of its length is found, and one that takes more", () => {
  for (const regex of [/\bid\s*:.*\bstat\s*:/is, /(a+)+$/, /\s+$/, /^(\w+\s?)*$/, /[^\p{L}]+$/u, /x*y/, /^-+|-+$/g]) {
    assert.notEqual(faultOfRegex({ file: "here", regex }), null, String(regex));
  }
});

test("expressions that are put together when the service runs are known, and bounds name what there is", () => {
  assert.deepEqual([...sources.builders].sort(), Object.keys(BUILDERS).sort());
  for (const [file, pattern] of BOUNDED)
    assert.ok(
      sources.regexes.some((found) => found.file === file && String(found.regex) === pattern),
      `${file} ${pattern}`,
    );
});

/** Letters, digits and signs of every kind that some reader treats in a way of its own. */
const PUMPS = [
  "a",
  "1",
  "0",
  " ",
  "\n",
  "\0",
  ":",
  ",",
  "&",
  "=",
  "%",
  "%41",
  ".",
  "/",
  "[",
  '"',
  "\\",
  "-",
  "é",
  "ß",
  "İ",
  "Щ",
  "ΐ",
  "e\u0301",
  "\u0301",
  "\u0345\u0301",
  "😀",
  "\u200d😀",
  "ﷺ",
  "𝔸",
  "{}",
  "a:",
  "id:",
  "id: stat",
  "a b",
  "🏳\u200d",
];
const LENGTH = 8_000;

test("every function that reads a text takes time in proportion to it", (t) => {
  const faults = Object.entries(READERS).flatMap(([name, read]) => {
    for (const pump of PUMPS) {
      const fault = growthFault((length) => {
        const text = pump.repeat(Math.ceil(length / pump.length));
        const octets = Buffer.from(text);
        return () => attempt(() => read(text, octets));
      }, LENGTH);
      if (fault !== null) return [`${name}: ${fault}; ${JSON.stringify(pump)} again and again`];
    }
    return [];
  });
  assert.deepEqual(faults, []);
  t.diagnostic(`${Object.keys(READERS).length} functions, ${PUMPS.length} texts each`);
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
