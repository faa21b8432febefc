/**
 * `heliograph doctor`, and the commands that open the store, where the disk is full or read-only, the files are another user's, or the database is
 * locked: each is really so. Whatever is in the way, nobody is told to make new data, or to put a copy in place of what is there.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs, {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Finding } from "../../src/doctor/finding.ts";
import { whyNothingIsWritten } from "../../src/drivers/sqlite/disk-room.ts";
import { heldTrouble, lockingProcesses } from "../../src/drivers/store-trouble.ts";
import { openData } from "../support/accounts.ts";
import { examination, NOBODY, noDisk, noOtherUser, onDisk, runAround } from "../support/doctor.ts";
import { temporaryDirectory } from "../support/service.ts";
import { newService } from "./in-process.ts";

/** A user whom no machine has a name for. */
const NAMELESS = 54_321;
/** What would destroy, or hide, what is there. */
const DESTROYS = /heliograph init|restore it|\brm\b|chmod 777|integrity_check|VACUUM/;

function harmless(findings: readonly Finding[]): void {
  for (const { state, mend } of findings) if (state === "wrong") assert.doesNotMatch(mend!, DESTROYS);
}

/** A store that is set up, closed in good order, in a directory that others can get to. */
async function closedStore(t: TestContext): Promise<{ place: string; data: string }> {
  const { data } = await newService(t);
  const place = await temporaryDirectory(t);
  chmodSync(place, 0o755);
  cpSync(data, join(place, "data"), { recursive: true });
  chmodSync(join(place, "data"), 0o700);
  return { place, data: join(place, "data") };
}

/** What `serve`, `init` and a command that only reads say, which all open the store. */
async function complaints(data: string, around: Parameters<typeof runAround>[1]): Promise<string[]> {
  const commands = [["serve", "--port", "0"], ["init"], ["account", "list"]];
  const ended = await Promise.all(commands.map((command) => runAround([...command, "--data", data], around)));
  for (const { code, stderr } of ended) assert.equal(code, 1, stderr);
  return ended.map(({ stderr }) => stderr);
}

test("on a full disk it says so, and that what was accepted is safe there", async (t) => {
  const { data } = await closedStore(t);
  const disk = join(await temporaryDirectory(t), "disk");
  mkdirSync(disk);
  const reason = noDisk(disk);
  if (reason !== null) return t.skip(reason);
  const fill = `cp -r "${data}/." "$1"; dd if=/dev/zero of="$1/other" bs=4096 2>/dev/null || true`;
  const around = { by: onDisk(disk, 8, fill) };
  const { findings, about } = await examination(["--data", disk], around);
  const { state, says, mend } = about("disk");
  assert.deepEqual([state, says], ["wrong", `the disk of ${disk} is full`]);
  assert.match(mend!, /^free some room .*; delete nothing there: what was accepted is in these files/);
  harmless(findings);
  const { code, stderr } = await runAround(["serve", "--port", "0", "--data", disk], around);
  assert.equal(code, 1);
  assert.ok(stderr.includes(`the disk of ${disk} is full: free some room`), stderr);
});

test("where files may not grow it says which limit that is", async (t) => {
  const { data } = await closedStore(t);
  const limit = Math.floor(statSync(join(data, "heliograph.sqlite")).size / 1_024);
  const around = { by: ["sh", "-c", `ulimit -f ${limit}; exec "$@"`, "sh"] };
  const { findings, about } = await examination(["--data", data], around);
  assert.match(about("disk").says, /^a file in \S+ would become larger than this process may write$/);
  assert.match(about("disk").mend!, /^raise the limit on the size of files/);
  assert.equal(about("operator").state, "ok", "what is in the store is looked at all the same");
  harmless(findings);
});

test("on a disk that is read-only it says so, and so do the commands that open the store", async (t) => {
  const { data } = await closedStore(t);
  const disk = join(await temporaryDirectory(t), "disk");
  mkdirSync(disk);
  const reason = noDisk(disk);
  if (reason !== null) return t.skip(reason);
  const around = { by: onDisk(disk, 64, `cp -r "${data}/." "$1"; mount -o remount,ro "$1"`) };
  const { code, findings, about } = await examination(["--data", disk], around);
  assert.equal(code, 1);
  assert.deepEqual([about("disk").state, about("disk").says], ["wrong", `the disk of ${disk} is read-only`]);
  assert.match(about("disk").mend!, /system's log/);
  harmless(findings);
  for (const says of await complaints(disk, around)) {
    assert.ok(says.includes(`the disk of ${disk} is read-only: see the system's log`), says);
    assert.doesNotMatch(says, DESTROYS);
  }
});

test("a wrong user is told whose the data is, and never to set it up anew", async (t) => {
  const reason = noOtherUser();
  if (reason !== null) return t.skip(reason);
  const { data } = await closedStore(t);
  const before = readdirSync(data);
  const around = { uid: NOBODY };
  const { findings, about } = await examination(["--data", data], around);
  const { state, says, mend } = about("rights");
  assert.equal(state, "wrong");
  assert.match(says, /^\S+data belongs to root \(0700\), and (nobody|the user 65534) cannot enter it$/);
  assert.match(mend!, /run it as its user, "sudo -u root heliograph …"$/);
  harmless(findings);
  for (const complaint of await complaints(data, around)) {
    assert.ok(complaint.includes("cannot be opened") && complaint.includes(says), complaint);
    assert.doesNotMatch(complaint, DESTROYS);
  }
  assert.deepEqual(readdirSync(data), before);
});

test("a file that root has made in the service's directory is named, with how to give it back", async (t) => {
  const reason = noOtherUser();
  if (reason !== null) return t.skip(reason);
  const { data } = await closedStore(t);
  chownSync(data, NOBODY, NOBODY);
  for (const name of readdirSync(data)) chownSync(join(data, name), NOBODY, NOBODY);
  const lock = join(data, "heliograph.lock");
  chownSync(lock, 0, 0);
  const own = (await examination(["--data", data], { uid: NOBODY })).about("rights");
  assert.match(own.says, /heliograph\.lock belongs to root \(0600\) and not to \S+, who cannot read it$/);
  assert.match(own.mend!, /^give it back: sudo chown \S+ \S+heliograph\.lock; and run every command as/);
  assert.match((await examination(["--data", data])).about("owner").mend!, /^give it back: sudo chown/);
  for (const name of [".", ...readdirSync(data)]) chownSync(join(data, name), NAMELESS, NAMELESS);
  chownSync(lock, 0, 0);
  for (const around of [{ uid: NAMELESS }, {}]) {
    const { mend } = (await examination(["--data", data], around)).about(around.uid === undefined ? "owner" : "rights");
    assert.equal(mend, `give it back: sudo chown ${NAMELESS} ${lock}; and run every command as the user ${NAMELESS}`);
  }
});

test("root, who may do everything, is told whose the data is, and leaves nothing of his own there", async (t) => {
  const reason = noOtherUser();
  if (reason !== null) return t.skip(reason);
  const { data } = await closedStore(t);
  chownSync(data, NOBODY, NOBODY);
  for (const name of readdirSync(data)) chownSync(join(data, name), NOBODY, NOBODY);
  const { findings, about } = await examination(["--data", data]);
  assert.ok(!findings.some(({ area, state }) => area === "store" && state === "wrong"));
  assert.equal(about("owner").state, "warning");
  assert.match(about("owner").says, /^the data belongs to (nobody|the user 65534), and this is root$/);
  assert.equal(about("operator").state, "ok", "it was looked into");
  for (const name of readdirSync(data)) assert.equal(statSync(join(data, name)).uid, NOBODY, name);
});

test("rights that were taken from the own user are told apart from another user's", async (t) => {
  const isRoot = process.getuid?.() === 0;
  const reason = isRoot ? noOtherUser() : null;
  if (reason !== null) return t.skip(reason);
  const { data } = await closedStore(t);
  const around = isRoot ? { uid: NOBODY } : {};
  if (isRoot)
    for (const path of [data, ...readdirSync(data).map((name) => join(data, name))]) chownSync(path, NOBODY, NOBODY);
  chmodSync(data, 0o500);
  const { about } = await examination(["--data", data], around).finally(() => chmodSync(data, 0o700));
  assert.match(about("rights").says, /^the rights of \S+data \(0500\) do not let its own user \S.* write it$/);
  assert.match(about("rights").mend!, /^give them back: chmod u\+rwX \S+data$/);
});

test("a database that somebody holds is told with who it is, and is looked into all the same", async (t) => {
  const { data } = await closedStore(t);
  const holder = openData(data);
  t.after(() => holder.close());
  holder.exec("BEGIN IMMEDIATE");
  const { code, findings, about } = await examination(["--data", data]);
  assert.equal(code, 1);
  assert.equal(about("lock").state, "wrong");
  const who = process.platform === "linux" ? `by \\S+ \\(process ${process.pid}\\)$` : "";
  assert.match(about("lock").says, new RegExp(`^the database in \\S+data is locked ${who}`));
  assert.match(about("lock").mend!, /Delete none of the files there/);
  assert.equal(about("operator").state, "ok");
  harmless(findings);
  const made = await runAround(["account", "create", "--key", "NEW1", "--username", "new1", "--data", data]);
  assert.equal(made.code, 1);
  assert.match(made.stderr, /the database in \S+data is locked .*: wait until that is done/);
  holder.exec("ROLLBACK");
  assert.ok(!(await examination(["--data", data])).findings.some((finding) => finding.about === "lock"));
});

test("a service that is well holds its lock file, and is not named as the one who holds the database", {
  skip: process.platform !== "linux" && "only Linux says who holds a lock",
}, async (t) => {
  const { data } = await closedStore(t);
  const script = `
    const db = require("better-sqlite3")(process.argv[1]);
    db.exec("BEGIN EXCLUSIVE");
    console.log("held");
    setInterval(() => db, 1000);`;
  const hold = async (file: string): Promise<number> => {
    const child = spawn(process.execPath, ["-e", script, join(data, file)], {
      stdio: ["ignore", "pipe", "inherit"],
      cwd: join(import.meta.dirname, "../.."),
    });
    t.after(() => child.kill("SIGKILL"));
    await once(child.stdout, "data");
    return child.pid!;
  };
  await hold("heliograph.lock");
  assert.equal(heldTrouble(data).says, `the database in ${data} is locked by another process`);
  const pid = await hold("heliograph.sqlite");
  assert.match(heldTrouble(data).says, new RegExp(` is locked by \\S+ \\(process ${pid}\\)$`));
});

test("who locks a file of the same number on another disk is not named", () => {
  const locks = [
    "1: POSIX  ADVISORY  WRITE 11 fe:00:4711 128 128",
    "2: POSIX  ADVISORY  WRITE 12 fe:01:4711 128 128",
    "3: POSIX  ADVISORY  READ 13 fe:01:4711 128 128",
    "3: -> POSIX  ADVISORY  WRITE 14 fe:01:4711 128 128",
    "4: POSIX  ADVISORY  WRITE 15 103:1ff:4711 0 EOF",
  ].join("\n");
  assert.deepEqual(lockingProcesses([{ dev: 0xfe01, ino: 4711 }], locks), [12]);
  // Linux packs a device so: the major in the middle of the minor.
  assert.deepEqual(lockingProcesses([{ dev: (0x100 << 12) | (0x103 << 8) | 0xff, ino: 4711 }], locks), [15]);
});

test("a look at the disk leaves no file, also when it is killed while it writes", async (t) => {
  const directory = await temporaryDirectory(t);
  const { writeSync } = fs;
  const seen: string[][] = [];
  t.mock.method(fs, "writeSync", (...args: Parameters<typeof writeSync>) => {
    seen.push(readdirSync(directory));
    return writeSync(...args);
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  assert.equal(whyNothingIsWritten(directory, 1_000_000), null);
  assert.deepEqual(
    [seen.length > 0, seen.flat(), readdirSync(directory)],
    [true, process.platform === "win32" ? seen.flat() : [], []],
  );
});

test("a file that is no database, and one that is damaged, are kept and told apart", async (t) => {
  const { data, place } = await closedStore(t);
  const junk = join(place, "junk");
  mkdirSync(junk);
  writeFileSync(join(junk, "heliograph.sqlite"), "this is no database, but it is long enough to look at".repeat(100));
  const other = await examination(["--data", junk]);
  assert.deepEqual([other.about("database").state, other.about("database").says], ["wrong", "file is not a database"]);
  harmless(other.findings);

  const db = openData(data);
  const pages = db.pragma("page_count", { simple: true }) as number;
  const size = db.pragma("page_size", { simple: true }) as number;
  db.close();
  const file = join(data, "heliograph.sqlite");
  const octets = readFileSync(file);
  // Its first page, with the list of its tables, is left out: all behind it is noise.
  octets.fill(0xa5, size, pages * size);
  writeFileSync(file, octets);
  const damaged = await examination(["--data", data]);
  assert.equal(damaged.code, 1);
  assert.match(damaged.about("database").says, /^the database in \S+data is damaged/);
  assert.match(damaged.about("database").mend!, /keep a copy of all of the directory as it is/);
  harmless(damaged.findings);
});

test("a clock that is behind what is stored is told", async (t) => {
  const { data } = await closedStore(t);
  assert.equal((await examination(["--data", data])).about("clock").state, "ok");
  // As a service leaves it whose clock was an hour ahead of what this machine's says now.
  const db = openData(data);
  db.exec(`INSERT INTO audit (at_ms, actor, action, kind, subject)
    SELECT at_ms + 3600000, actor, action, kind, subject FROM audit ORDER BY id DESC LIMIT 1`);
  db.close();
  const { code, about } = await examination(["--data", data]);
  assert.equal(code, 1);
  assert.equal(about("clock").state, "wrong");
  assert.match(about("clock").says, /^it says \S+, and the newest in the store is of \S+, 3\d{3} s later$/);
  assert.match(about("clock").mend!, /time service \(NTP\)/);
});

test("a database that is gone from beside its log is not made anew", async (t) => {
  const data = await temporaryDirectory(t);
  writeFileSync(join(data, "heliograph.sqlite-wal"), "what was accepted last");
  const { findings, about } = await examination(["--data", data]);
  assert.match(about("database").says, /heliograph\.sqlite is missing, and \S+-wal, which belongs to it, is there$/);
  harmless(findings);
  for (const says of await complaints(data, {})) assert.match(says, /heliograph\.sqlite is missing/);
  assert.deepEqual(readdirSync(data), ["heliograph.sqlite-wal"]);
});

test("data that is not there is told so, and only then how it is made", async (t) => {
  const nowhere = join(await temporaryDirectory(t), "nowhere");
  const { about } = await examination(["--data", nowhere]);
  assert.equal(about("data").says, `there is no data in ${nowhere}, which does not exist`);
  assert.match(about("data").mend!, /heliograph init/);
});
