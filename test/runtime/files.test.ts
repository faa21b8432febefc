/** Files that a setting or the catalogue names: whatever the name leads to, it is read with a bound, and nobody waits for it. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { FileFault, MAX_FILE_OCTETS, readGivenFile, readSmallFile } from "../../src/runtime/files.ts";
import { temporaryDirectory } from "../support/service.ts";

test("a file of the largest size is read whole, and one of an octet more not at all", async (t) => {
  const file = join(await temporaryDirectory(t), "file");
  const text = "é".repeat(MAX_FILE_OCTETS / 2);
  await writeFile(file, text);
  assert.equal(await readSmallFile(file), text);
  assert.equal(readGivenFile(file), text);
  await truncate(file, MAX_FILE_OCTETS + 1);
  await assert.rejects(readSmallFile(file), FileFault);
  assert.throws(() => readGivenFile(file), FileFault);
});

test("devices, directories and pipes without a writer are no files", async (t) => {
  const directory = await temporaryDirectory(t);
  const pipe = join(directory, "pipe");
  execFileSync("mkfifo", [pipe]);
  for (const path of ["/dev/zero", directory, pipe]) await assert.rejects(readSmallFile(path), FileFault);
  for (const path of ["/dev/zero", directory]) assert.throws(() => readGivenFile(path), FileFault);
});

test("whoever runs the command line may name a pipe of his own, which has a bound too", async (t) => {
  const pipe = join(await temporaryDirectory(t), "pipe");
  execFileSync("mkfifo", [pipe]);
  spawn("sh", ["-c", `printf hello > "$0"`, pipe]);
  assert.equal(readGivenFile(pipe), "hello");
  const writer = spawn("sh", ["-c", `cat /dev/zero > "$0"`, pipe], { stdio: "ignore" });
  const ended = new Promise((resolve) => writer.once("exit", resolve));
  assert.throws(() => readGivenFile(pipe), FileFault);
  await ended;
});
