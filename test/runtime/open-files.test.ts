/** How many files the system lets the process have open, as far as it tells. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { maxOpenFiles } from "../../src/runtime/open-files.ts";

test("the limit of open files is the one that a shell of ours has too", (t) => {
  if (process.platform !== "linux") return t.skip("only Linux tells");
  const says = execFileSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" }).trim();
  if (says === "unlimited") assert.equal(maxOpenFiles(), null);
  else assert.equal(maxOpenFiles(), Number(says));
});
