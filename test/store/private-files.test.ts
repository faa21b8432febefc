/** What holds messages and secrets is its owner's alone, whatever the umask and whatever was there before. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { RULES } from "../../src/commands/table.ts";
import { backupStore } from "../../src/copy/backup.ts";
import { openToOthers } from "../../src/drivers/sqlite/store-files.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { localStore } from "../../src/store/group.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { commandsOn, newService } from "../cli/in-process.ts";
import { startChild } from "../support/child.ts";
import { postgresUrl } from "../support/postgres.ts";
import { temporaryDirectory } from "../support/service.ts";

/** Everybody may do everything with what is made until the test is over. */
function withoutUmask(t: TestContext): void {
  const before = process.umask(0);
  t.after(() => void process.umask(before));
}

/** The rights to a directory and to all that is in it, by name. */
function modesOf(directory: string): Record<string, string> {
  const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);
  const files = readdirSync(directory).map((name) => [name, mode(join(directory, name))]);
  return { ".": mode(directory), ...Object.fromEntries(files) };
}

function open(directory: string): SqliteEngine {
  return new SqliteEngine({
    rules: RULES,
    directory,
    clock: systemClock,
    lanes: { lane: 1, total: 1 },
    mode: "deliver",
  });
}

const PRIVATE = {
  ".": "700",
  "heliograph.lock": "600",
  "heliograph.lock-journal": "600",
  "heliograph.sqlite": "600",
  "heliograph.sqlite-shm": "600",
  "heliograph.sqlite-wal": "600",
};

test("a data directory and each file in it are made for their owner alone", async (t) => {
  withoutUmask(t);
  const directory = join(await temporaryDirectory(t), "above", "data");
  const engine = open(directory);
  t.after(() => engine.close());
  await localStore(engine, () => undefined).putCatalogue({ items: [] });
  assert.deepEqual({ ...PRIVATE, ...modesOf(directory) }, PRIVATE);
  assert.ok(readdirSync(directory).includes("heliograph.sqlite-wal"));
  assert.deepEqual(openToOthers(directory), []);
});

test("what was open to others is closed at the next start", async (t) => {
  const directory = join(await temporaryDirectory(t), "data");
  const first = open(directory);
  // Killed: the log stays beside the database.
  const files = readdirSync(directory).map((name) => [name, readFileSync(join(directory, name))] as const);
  first.close();
  for (const [name, octets] of files) writeFileSync(join(directory, name), octets);
  for (const name of readdirSync(directory)) chmodSync(join(directory, name), 0o666);
  chmodSync(directory, 0o755);
  assert.equal(openToOthers(directory).length, 1 + readdirSync(directory).length);
  const engine = open(directory);
  t.after(() => engine.close());
  assert.deepEqual({ ...PRIVATE, ...modesOf(directory) }, PRIVATE);
});

test("the service that a shell without a umask starts keeps everything to its owner, also what its threads make", async (t) => {
  withoutUmask(t);
  const data = join(await temporaryDirectory(t), "data");
  const child = await startChild(t, ["sandbox", "--port", "0", "--data", data]);
  assert.deepEqual({ ...PRIVATE, ...modesOf(data) }, PRIVATE);
  await child.end("SIGTERM");
});

test("a link in place of a data file is refused", async (t) => {
  for (const name of ["heliograph.sqlite", "heliograph.sqlite-wal", "heliograph.lock"]) {
    const place = await temporaryDirectory(t);
    const directory = join(place, "data");
    mkdirSync(directory);
    writeFileSync(join(place, "elsewhere"), "");
    symlinkSync(join(place, "elsewhere"), join(directory, name));
    assert.throws(() => open(directory), new RegExp(`${name} is a symbolic link`));
    assert.equal(readFileSync(join(place, "elsewhere"), "utf8"), "");
  }
});

test("backups from both engines are their owner's alone, also in a directory that was everybody's", async (t) => {
  withoutUmask(t);
  const service = await newService(t);
  const place = await temporaryDirectory(t);
  const url = await postgresUrl(t);
  const sources = { sqlite: { data: service.data }, postgres: { url } };
  for (const [name, from] of Object.entries(sources)) {
    const to = join(place, name);
    mkdirSync(to, { mode: 0o777 });
    await backupStore({ from, fromName: name, to });
    assert.deepEqual(modesOf(to), { ".": "700", "heliograph.sqlite": "600" });
  }
});

test("an export is its owner's alone, also over a file or a link that others could read", async (t) => {
  withoutUmask(t);
  const { done } = await newService(t);
  const place = await temporaryDirectory(t);
  const mode = (name: string): number => statSync(join(place, name)).mode & 0o777;
  await done("export", join(place, "new.toml"), "--with-secrets");
  assert.equal(mode("new.toml"), 0o600);
  writeFileSync(join(place, "old.toml"), "old");
  writeFileSync(join(place, "target"), "old");
  symlinkSync(join(place, "target"), join(place, "link.toml"));
  for (const name of ["old.toml", "link.toml"]) {
    await done("export", join(place, name), "--with-secrets", "--force");
    assert.equal(mode(name), 0o600);
  }
  assert.equal(readFileSync(join(place, "target"), "utf8"), "old", "what the link led to is left alone");
  assert.deepEqual(readdirSync(place).sort(), ["link.toml", "new.toml", "old.toml", "target"]);
});

test("data whose rights cannot be changed is used as it is, and told of", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("only root can give a file away");
  if (spawnSync("setpriv", ["--version"]).status !== 0) return t.skip("there is no setpriv");
  const { data } = await newService(t);
  const file = join(data, "heliograph.sqlite");
  for (const [path, mode] of [
    [data, 0o777],
    [file, 0o666],
  ] as const) {
    chmodSync(path, mode);
    chownSync(path, 4_242, 4_242);
  }
  const look = `import { openDatabase } from ${JSON.stringify(join(import.meta.dirname, "../../src/drivers/sqlite/database.ts"))};
    import { openToOthers } from ${JSON.stringify(join(import.meta.dirname, "../../src/drivers/sqlite/store-files.ts"))};
    openDatabase(process.argv[1]).close();
    console.log(JSON.stringify(openToOthers(process.argv[1])));`;
  // As root on a network's file system: it may write, and is refused when it changes what is another's.
  const weak = ["--bounding-set", "-fowner", "--inh-caps", "-fowner", process.execPath];
  const { stdout, stderr } = spawnSync("setpriv", [...weak, "--input-type=module", "-e", look, data]);
  assert.match(String(stdout), /can look into .*\(0777\).*can use .*heliograph.sqlite \(0666\)/, String(stderr));
  assert.equal(statSync(file).mode & 0o777, 0o666);
});

test("what belongs to another user and is open to others is told by doctor", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("only root can give a file away");
  const service = await newService(t);
  chmodSync(service.data, 0o777);
  chmodSync(join(service.data, "heliograph.sqlite"), 0o666);
  chmodSync(join(service.data, ".."), 0o755);
  chownSync(service.data, 4_242, 4_242);
  chownSync(join(service.data, "heliograph.sqlite"), 4_242, 4_242);
  const look = `import { openDatabase } from ${JSON.stringify(join(import.meta.dirname, "../../src/drivers/sqlite/database.ts"))};
    import { openToOthers } from ${JSON.stringify(join(import.meta.dirname, "../../src/drivers/sqlite/store-files.ts"))};
    import Database from "better-sqlite3";
    new Database(":memory:").close(); // Loads its library while this may read it.
    process.setgroups([]); process.setgid(4343); process.setuid(4343);
    openDatabase(process.argv[1]).close();
    console.log(JSON.stringify(openToOthers(process.argv[1])));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", look, service.data]);
  assert.match(String(stdout), /can look into .*\(0777\).*can use .*heliograph.sqlite \(0666\)/, String(stderr));
  const { stdout: told } = await commandsOn("--data", service.data).run(["doctor", "--no-connect"]);
  assert.match(told, /can look into .*\(0777\)/);
});

test("data where no directory can be made is refused at once", { skip: process.platform !== "linux" }, () => {
  for (const path of ["/proc/heliograph", "/proc/heliograph/data"]) {
    const { status, stderr } = spawnSync(process.execPath, ["bin/heliograph.js", "init", "--data", path], {
      cwd: join(import.meta.dirname, "../.."),
      encoding: "utf8",
      timeout: 60_000,
    });
    assert.deepEqual([status, stderr.split(":")[1]], [1, ` the data in ${path} cannot be opened`]);
  }
});
