/** A log of the embedded store that cannot be trusted: what is done with it at a start, at an end, by commands, and when some of it is lost. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import Database from "better-sqlite3";
import { lookAtSqlite } from "../../src/cli/doctor/sqlite.ts";
import { RULES } from "../../src/commands/table.ts";
import { CopySource } from "../../src/copy/copy-source.ts";
import { Findings } from "../../src/doctor/finding.ts";
import { hasRoom } from "../../src/drivers/sqlite/disk-room.ts";
import { readSettings } from "../../src/settings/settings.ts";
import { localStore } from "../../src/store/group.ts";
import { migrateStore } from "../../src/store/open.ts";
import { StoreUnavailable } from "../../src/store/port/errors.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { temporaryDirectory } from "../support/service.ts";
import {
  dropFrames,
  type Embedded,
  FILE,
  failCheckpoints,
  IO_ERROR,
  LANES,
  readFrom,
  recipients,
  start,
  writeBehind,
} from "./failing-disk.ts";

const LOG = `${FILE}-wal`;
/** The statement of the command "balance". */
const BALANCE = /AS balance, currency FROM wallet/;

/** The file alone, without its log. */
function fileAlone(directory: string): string {
  const copy = mkdtempSync(join(directory, "alone"));
  copyFileSync(join(directory, FILE), join(copy, FILE));
  return copy;
}

function integrity(directory: string): unknown {
  const db = new Database(join(directory, FILE));
  try {
    return db.pragma("integrity_check", { simple: true });
  } finally {
    db.close();
  }
}

/** The files as a killed service leaves them, with messages that are in the log only. */
async function leftBehind(t: TestContext): Promise<Embedded & { readonly left: string }> {
  const embedded = await start(t);
  for (const to of ["41790000001", "41790000002"]) await embedded.bench.accept([embedded.bench.message({ to })]);
  await writeBehind(embedded);
  return { ...embedded, left: embedded.disk.afterPowerCut() };
}

test("frames that were lost never come into the database file: the process ends, and the next one has what was before them", async (t) => {
  const embedded = await start(t);
  const { bench, engine, directory, failing, lost } = embedded;
  await bench.accept([bench.message({ to: "41790000001" })]);
  await writeBehind(embedded);
  await bench.accept([bench.message({ to: "41790000002" })]);
  failing.push("SQLITE_IOERR_FSYNC");
  await assert.rejects(bench.accept([bench.message({ to: "41790000003" })]), StoreUnavailable);
  dropFrames(directory, 1);
  for (let tries = 0; tries < 3; tries++) {
    await assert.rejects(bench.accept([bench.message({ to: "41790000004" })]), StoreUnavailable);
    await bench.clock.advance(1_000);
  }
  assert.equal(lost.length, 1);
  assert.match(lost[0]!, /some of the log was lost/);
  engine.close();
  assert.equal(integrity(fileAlone(directory)), "ok");
  assert.deepEqual(await recipients(directory, bench.accountId), ["41790000001"]);
});

test("a service that starts beside a reader, on a log of which some is lost, goes on with what is there", async (t) => {
  const { bench, left } = await leftBehind(t);
  const reader = readFrom(t, left);
  dropFrames(left, 1);
  const engine = new SqliteEngine({ rules: RULES, directory: left, clock: bench.clock, lanes: LANES, mode: "deliver" });
  const store = localStore(engine, () => undefined);
  assert.equal((await store.accept(bench.acceptance([bench.message({ to: "41790000003" })]))).kind, "accepted");
  reader.close();
  engine.close();
  assert.equal(integrity(fileAlone(left)), "ok");
  assert.ok((await recipients(left, bench.accountId)).includes("41790000003"));
});

test("a read that an error of the disk ended does not make the next ones of its group wrong", async (t) => {
  const { bench, engine, directory, failing } = await start(t);
  await bench.accept([bench.message({ to: "41790000001" })]);
  failCheckpoints(t, directory, "SQLITE_IOERR_FSYNC", () => true);
  failing.push("SQLITE_IOERR_FSYNC");
  await assert.rejects(bench.accept([bench.message()]), StoreUnavailable);
  // SQLite rolls all back by itself.
  let armed = false;
  const probe = new Database(":memory:");
  const statement = Object.getPrototypeOf(probe.prepare("SELECT 1"));
  probe.close();
  const { get } = statement;
  t.mock.method(statement, "get", function (this: Database.Statement, ...values: unknown[]) {
    if (!armed || !BALANCE.test(this.source)) return get.apply(this, values);
    armed = false;
    this.database.exec("ROLLBACK");
    throw IO_ERROR("SQLITE_IOERR_READ");
  });
  const balance = { command: "balance", input: { accountId: bench.accountId } } as const;
  armed = true;
  const { outcomes } = await engine.run([balance, balance, balance]);
  assert.deepEqual(
    outcomes.map(({ ok }) => ok),
    [false, true, true],
  );
  for (const outcome of outcomes.slice(1))
    assert.equal(outcome.ok && (outcome.value as { balanceMicros: bigint }).balanceMicros, 1_000_000_000n - 10_000n);
});

test("where a log that was left cannot be made whole the command line still reads, and a service does not start", async (t) => {
  const { bench, left, flushes } = await leftBehind(t);
  const before = readFileSync(join(left, FILE));
  flushes.fault = "ENOSPC";
  const open = (mode: "deliver" | "tool") =>
    new SqliteEngine({ rules: RULES, directory: left, clock: bench.clock, lanes: LANES, mode });
  assert.throws(() => open("deliver"), /cannot be made whole: ENOSPC/);
  const engine = open("tool");
  const store = localStore(engine, () => undefined);
  assert.equal((await store.balance({ accountId: bench.accountId })).balanceMicros, 1_000_000_000n - 20_000n);
  await assert.rejects(store.accept(bench.acceptance([bench.message()])), StoreUnavailable);
  engine.close();
  assert.ok(readFileSync(join(left, FILE)).equals(before), "no page of a log that is not whole goes to the file");
  assert.ok(existsSync(join(left, LOG)));
  flushes.fault = null;
  assert.deepEqual(await recipients(left, bench.accountId), ["41790000001", "41790000002"]);
});

test("a disk too full for a checkpoint keeps nobody from reading a log that was left", async (t) => {
  const { bench, left } = await leftBehind(t);
  failCheckpoints(t, left, "SQLITE_FULL", (sql) => !sql.includes("NOOP"));
  const engine = new SqliteEngine({ rules: RULES, directory: left, clock: bench.clock, lanes: LANES, mode: "tool" });
  t.after(() => engine.close());
  const store = localStore(engine, () => undefined);
  assert.equal((await store.balance({ accountId: bench.accountId })).balanceMicros, 1_000_000_000n - 20_000n);
});

test("a stop makes a log whole that is not, at once; where that fails the log stays for the next start", async (t) => {
  for (const stillFails of [false, true]) {
    const embedded = await start(t);
    const { bench, engine, directory, failing, flushes } = embedded;
    await bench.accept([bench.message({ to: "41790000001" })]);
    await writeBehind(embedded);
    const before = readFileSync(join(directory, FILE));
    failing.push("SQLITE_IOERR_FSYNC");
    flushes.fault = "EIO";
    // The second one is the last try for a while.
    for (let tries = 0; tries < 2; tries++)
      await assert.rejects(bench.accept([bench.message({ to: "41790000002" })]), StoreUnavailable);
    if (!stillFails) flushes.fault = null;
    const { done } = flushes;
    engine.settle();
    engine.close();
    assert.equal(flushes.done > done, !stillFails);
    assert.equal(existsSync(join(directory, LOG)), stillFails);
    assert.equal(readFileSync(join(directory, FILE)).equals(before), stillFails);
    flushes.fault = null;
    assert.deepEqual(await recipients(directory, bench.accountId), ["41790000001"]);
    t.mock.restoreAll();
  }
});

test("a command that may be alone makes a log whole before it brings it over, and the doctor leaves it alone", async (t) => {
  const { left } = await leftBehind(t);
  const settingsOf = (data: string) => readSettings({ environment: {}, flags: { store: { data } } });
  const before = readFileSync(join(left, FILE));
  lookAtSqlite(settingsOf(left), new Findings("store"));
  assert.ok(readFileSync(join(left, FILE)).equals(before));
  assert.ok(existsSync(join(left, LOG)));
  const commands: Record<string, (data: string) => unknown> = {
    migrate: (data) => migrateStore(settingsOf(data)),
    copy: (data) => new CopySource(data).close(),
  };
  for (const [name, run] of Object.entries(commands)) {
    const { left, flushes } = await leftBehind(t);
    const { done } = flushes;
    await run(left);
    assert.equal(flushes.done, done + 1, name);
    assert.ok(!existsSync(join(left, LOG)), name);
  }
});

test("a limit on the size of files is told from a disk that fails", async (t) => {
  const directory = await temporaryDirectory(t);
  assert.equal(hasRoom(directory, 10_000_000), true);
  assert.equal(hasRoom(join(directory, "gone"), 0), true, "a disk that cannot be asked is no full one");
  const room = join(import.meta.dirname, "../../src/drivers/sqlite/disk-room.ts");
  const ask = (atByte: number) =>
    `import { hasRoom } from ${JSON.stringify(room)}; console.log(hasRoom(${JSON.stringify(directory)}, ${atByte}));`;
  for (const [atByte, expected] of [
    [0, "true"],
    [1_000_000, "false"],
  ] as const) {
    const { stdout, stderr } = spawnSync(
      "sh",
      ["-c", 'ulimit -f 512; exec "$@"', "sh", process.execPath, "--input-type=module-typescript", "-e", ask(atByte)],
      { encoding: "utf8" },
    );
    assert.equal(stdout.trim(), expected, stderr);
  }
});
