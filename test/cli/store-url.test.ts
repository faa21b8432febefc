/** The database's URL and its password: read from a file or the environment, and told to nobody. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runProgram, startChild } from "../support/child.ts";
import { postgresUrl } from "../support/postgres.ts";
import { temporaryDirectory } from "../support/service.ts";
import { commandsOn, newService } from "./in-process.ts";

test("every command finds the database by a file, and its password is not among the process's arguments", async (t) => {
  const url = await postgresUrl(t, { empty: true });
  const password = new URL(url).password;
  assert.notEqual(password, "");
  const place = await temporaryDirectory(t);
  const file = join(place, "store-url");
  writeFileSync(file, `${url}\n`);
  const { done } = commandsOn("--store-file", file);
  await done("init");
  await done("apply", join(import.meta.dirname, "../../sandbox.catalogue.toml"));
  assert.match(await done("account", "list"), /OPERATOR1/);
  await done("backup", join(place, "backup"));
  const { code, stdout } = await runProgram(["account", "list"], { HELIOGRAPH_STORE_URL_FILE: file });
  assert.deepEqual([code, /OPERATOR1/.test(stdout)], [0, true]);

  const service = await startChild(t, ["serve", "--port", "0", "--store-file", file]);
  if (process.platform === "linux")
    assert.ok(!readFileSync(`/proc/${service.process.pid}/cmdline`, "utf8").includes(password));
  assert.ok(!service.output().includes(password));
  await service.end("SIGTERM");
});

test("a store is copied to the database of a file", async (t) => {
  const service = await newService(t);
  const url = await postgresUrl(t, { empty: true });
  const file = join(await temporaryDirectory(t), "store-url");
  writeFileSync(file, url);
  const { code, stdout, stderr } = await runProgram(["copy", "--from", service.data, "--to-file", file]);
  assert.equal(code, 0, stderr);
  assert.ok(!stdout.includes(new URL(url).password));
  assert.match(await commandsOn("--store-file", file).done("account", "list"), /OPERATOR1/);
});

/** Slips of whoever writes a URL, each with the password "hush". */
const WRONG = [
  "postgres://user:hush@127.0.0.1:1/db",
  "postgres://user:hush@127.0.0.1:99999/db",
  "postgres://user:12/hush@127.0.0.1:1/db",
  "postgres://user:hu%zzhush@127.0.0.1:1/db",
  "postgres://user@127.0.0.1:1/db?password=hush",
  "postgres:user:hush@127.0.0.1/db",
  "user:hush@127.0.0.1/db",
  "mysql://user:hush@127.0.0.1/db",
  "host=127.0.0.1 port=1 password=hush",
];

test("whatever is wrong with the URL, no command tells its password", async (t) => {
  const place = await temporaryDirectory(t);
  for (const url of WRONG) {
    for (const command of [
      ["account", "list"],
      ["migrate"],
      ["serve"],
      ["doctor"],
      ["backup", join(place, "backup")],
    ]) {
      const { code, stdout, stderr } = await commandsOn("--store", url).run(command);
      assert.equal(code, 1, `${command} ${url}`);
      assert.ok(!`${stdout}${stderr}`.includes("hush"), `${command} ${url}: ${stdout}${stderr}`);
    }
  }
});
