/** `npm run powercut` in a size that a part of the long run has time for. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { seed } from "../support/chance.ts";

const CANNOT_RUN = 2;

test("no power cut loses a message, also after a flush that failed", (t) => {
  const options = ["--messages", "2000", "--cuts", "120", "--failures", "5", "--seed", String(seed % 1_000_000)];
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, "index.ts"), ...options], {
    encoding: "utf8",
  });
  if (status === CANNOT_RUN) return t.skip(stderr.trim());
  t.diagnostic(stdout);
  assert.equal(status, 0, `${stdout}\n${stderr}`);
});
