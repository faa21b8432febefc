/** Lists as they were left are found again, and only so many of them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LeftLists } from "../../console/src/pages/messages/left.ts";

const scroll = { page: 7, table: 400 };
const rows = (count: number) => ({ rows: new Array(count).fill("row") });

test("a list is found by its search, with its rows and its place", () => {
  const left = new LeftLists();
  const list = rows(3);
  left.keep("failed", list, scroll);
  assert.deepEqual(left.get("failed"), { list, scroll });
  assert.equal(left.get("stuck"), null);
});

test("the oldest go first, by their number and by their rows", () => {
  const left = new LeftLists();
  for (let index = 0; index < 9; index++) left.keep(`/${index}`, rows(1), scroll);
  assert.equal(left.get("/0"), null);
  assert.notEqual(left.get("/1"), null);
  left.keep("/1", rows(2), scroll);
  left.keep("/long", rows(19_998), scroll);
  assert.equal(left.get("/8"), null);
  assert.notEqual(left.get("/1"), null, "what was left last stays longest");
  left.keep("/longer", rows(20_000), scroll);
  assert.equal(left.get("/long"), null);
  assert.notEqual(left.get("/longer"), null);
});
