/** Which message a part belongs to, for what is noted of its receipt. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { PartNames } from "../../src/dispatch/part-names.ts";

test("a part is known by its carrier, its id and its phone", () => {
  const names = new PartNames();
  names.remember("a", "b 7", "41790000001", "1234567890123456789");
  assert.equal(names.find("a", "b 7", "41790000001"), "1234567890123456789");
  assert.equal(names.find("a", "b 7", "+41790000001"), "1234567890123456789", "as the carrier writes it");
  assert.equal(names.find("a", "b 7", null), "1234567890123456789");
  assert.equal(names.find("a", "b 7", "41790000002"), null);
  assert.equal(names.find("a b", "7", null), null);
  assert.equal(names.find("b", "b 7", null), null);
  assert.equal(names.find("", "", null), null);
});

test("of very many the last are known, and none is taken for another", () => {
  const names = new PartNames();
  const idOf = (index: number): string => (2 ** 40 + index).toString(16).toUpperCase();
  for (let index = 1; index <= 100_000; index++) names.remember("carrier", idOf(index), `4179${index}`, String(index));
  let known = 0;
  for (let index = 1; index <= 100_000; index++) {
    const found = names.find("carrier", idOf(index), null);
    assert.ok(found === null || found === String(index));
    if (found !== null && index > 90_000) known++;
  }
  assert.ok(known > 8_000, `${known} of the last 10,000`);
  for (let index = 100_001; index <= 200_000; index++) assert.equal(names.find("carrier", idOf(index), null), null);
});
