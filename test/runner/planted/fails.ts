import assert from "node:assert/strict";
import { test } from "node:test";

test("good", () => {});
test("outer", async (t) => {
  await t.test("planted failure", () => assert.equal(1, 2, "one is not two"));
});
