/** The tables of docs/api.md have every error of the catalogue, with what that says of it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ApiError, ERROR_KINDS, type ErrorName } from "../../src/api/errors.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../docs/api.md"), "utf8");
/** Rows that begin with an HTTP status, below the heading of errors. */
const ROWS = PAGE.slice(PAGE.indexOf("\n## Errors"), PAGE.indexOf("\n## Limits"))
  .split("\n")
  .filter((line) => /^\| \d{3} \|/.test(line));

const rowOf = (name: ErrorName): string => {
  const { status, messageId, text, when, remedy, isPlain } = new ApiError(name).kind;
  return `| ${[status, ...(isPlain ? [] : [messageId]), text, when, remedy].join(" | ")} |`;
};

test("each error has its row on the page, in the order of the catalogue, and no row is of another", () => {
  assert.deepEqual(ROWS, (Object.keys(ERROR_KINDS) as ErrorName[]).map(rowOf));
});

test("what is told of an error is a sentence", () => {
  for (const [name, { when, remedy }] of Object.entries(ERROR_KINDS))
    for (const sentence of [when, remedy]) assert.match(sentence, /^[A-Z].*[.!]$/, name);
});
