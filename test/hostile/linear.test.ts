/** Nothing that looks at what others wrote takes the square of its length: not one regular expression, not one function. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { growthFault, microsFor } from "../support/growth.ts";
import { attacksOn } from "./support/attacks.ts";
import { BOUNDED } from "./support/bounded.ts";
import { attempt, READERS } from "./support/readers.ts";
import { type FoundRegex, readSources } from "./support/sources.ts";

const sources = readSources();

const MAX_MICROS_AT_BOUND = 1_000;

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
