import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { test } from "node:test";

test("planted shakiness", () => {
  const mark = process.env.PLANTED_MARK!;
  const isFirst = !existsSync(mark);
  writeFileSync(mark, "");
  assert.ok(!isFirst, "the first time only");
});
