/**
 * A flush that fails, on the embedded store. The kernel takes the pages of a failed flush for clean: later flushes say yes, and the pages may never
 * have reached the disk. So a crash after that leaves the log with a hole, at which recovery stops.
 */
import assert from "node:assert/strict";
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import Database from "better-sqlite3";
import { RULES } from "../../src/commands/table.ts";
import { CheckpointTurn, DUE_PAGES } from "../../src/drivers/sqlite/checkpoint-turn.ts";
import { openDatabase } from "../../src/drivers/sqlite/database.ts";
import { localStore } from "../../src/store/group.ts";
import { StoreUnavailable } from "../../src/store/port/errors.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { temporaryDirectory } from "../support/service.ts";
import {
  dropFrames,
  FILE,
  failCheckpoints,
  IO_ERROR,
  LANES,
  overwrite,
  readFrom,
  recipients,
  start,
  writeBehind,
} from "./failing-disk.ts";

const FLUSH_CODES = ["SQLITE_IOERR_FSYNC", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_TRUNCATE"];

for (const code of FLUSH_CODES) {
  test(`what is acknowledged after a commit that failed with ${code} is there after a power cut`, async (t) => {
    const embedded = await start(t);
    const { bench, disk, failing } = embedded;
    const answered: string[] = [];
    const accept = async (to: string): Promise<void> => {
      await bench.accept([bench.message({ to })]);
      answered.push(to);
    };
    for (const to of ["41790000001", "41790000002"]) await accept(to);
    await writeBehind(embedded);
    failing.push(code);
    await assert.rejects(accept("41790000003"), StoreUnavailable);
    for (const to of ["41790000004", "41790000005"]) await accept(to);
    await writeBehind(embedded);
    await accept("41790000006");
    assert.deepEqual(await recipients(disk.afterPowerCut(), bench.accountId), answered);
    assert.equal(failing.length, 0);
  });
}

test("what is acknowledged after a failed write behind is there after a power cut", async (t) => {
  const embedded = await start(t);
  const { bench, engine, disk } = embedded;
  // A hundred of them are written at once, so there are some for a second time.
  await bench.accept(Array.from({ length: 250 }, () => bench.message()));
  await writeBehind(embedded);
  // What SQLite says when it begins the log anew, and cannot flush its header.
  const exec = Database.prototype.exec;
  const failing = t.mock.method(Database.prototype, "exec", function (this: Database.Database, sql: string) {
    if (sql !== "COMMIT") return exec.call(this, sql);
    exec.call(this, "ROLLBACK");
    disk.failFlush();
    throw IO_ERROR("SQLITE_IOERR_FSYNC");
  });
  engine.onIdle();
  assert.ok(failing.mock.callCount() > 0);
  failing.mock.restore();
  await bench.accept([bench.message()]);
  assert.equal((await recipients(disk.afterPowerCut(), bench.accountId)).length, 251);
});

test("a transaction that cannot even be rolled back is ended later, and nothing of it stays", async (t) => {
  const embedded = await start(t);
  const { bench, failing } = embedded;
  await bench.accept([bench.message({ to: "41790000001" })]);
  const exec = Database.prototype.exec;
  let refused = 0;
  const stuck = t.mock.method(Database.prototype, "exec", function (this: Database.Database, sql: string) {
    if (sql === "COMMIT" || sql === "ROLLBACK") {
      refused++;
      throw IO_ERROR("SQLITE_IOERR_READ");
    }
    return exec.call(this, sql);
  });
  await assert.rejects(bench.accept([bench.message({ to: "41790000002" })]), StoreUnavailable);
  await assert.rejects(bench.accept([bench.message({ to: "41790000003" })]), StoreUnavailable);
  assert.ok(refused >= 3);
  stuck.mock.restore();
  await bench.clock.advance(1_000);
  await bench.accept([bench.message({ to: "41790000004" })]);
  assert.equal(failing.length, 0);
  assert.equal(await bench.balance(), 1_000_000_000n - 20_000n);
  bench.takeMessages();
});

test("while the log is not whole nothing is accepted and what is there is read; when it is, all goes on", async (t) => {
  const embedded = await start(t);
  const { bench, directory, failing, disk, lost } = embedded;
  await bench.accept([bench.message({ to: "41790000001" })]);
  let ill = true;
  failCheckpoints(t, directory, "SQLITE_IOERR_FSYNC", () => ill);
  failing.push("SQLITE_IOERR_FSYNC");
  for (let tries = 0; tries < 3; tries++) {
    await assert.rejects(bench.accept([bench.message({ to: "41790000002" })]), StoreUnavailable);
    assert.equal(await bench.balance(), 1_000_000_000n - 10_000n);
    await bench.clock.advance(1_000);
  }
  ill = false;
  await bench.accept([bench.message({ to: "41790000003" })]);
  assert.equal(await bench.balance(), 1_000_000_000n - 20_000n);
  assert.deepEqual(lost, []);
  assert.deepEqual(await recipients(disk.afterPowerCut(), bench.accountId), ["41790000001", "41790000003"]);
});

test("a disk that fails for a minute at every try ends the process; one without room does not", async (t) => {
  for (const { code, fault, ends } of [
    { code: "SQLITE_IOERR_FSYNC", fault: null, ends: true },
    { code: "SQLITE_IOERR_WRITE", fault: null, ends: true },
    { code: "SQLITE_IOERR_FSYNC", fault: "EIO", ends: true },
    { code: "SQLITE_IOERR_FSYNC", fault: "ENOSPC", ends: false },
    { code: "SQLITE_IOERR_FSYNC", fault: "EFBIG", ends: false },
  ]) {
    const { bench, directory, failing, lost, flushes } = await start(t);
    const { close } = Database.prototype;
    let closed = 0;
    t.mock.method(Database.prototype, "close", function (this: Database.Database) {
      if (this.name.startsWith(directory)) closed++;
      return close.call(this);
    });
    await bench.accept([bench.message()]);
    const before = readFileSync(join(directory, FILE));
    failCheckpoints(t, directory, code, () => true);
    flushes.fault = fault;
    failing.push("SQLITE_IOERR_FSYNC");
    for (let seconds = 0; seconds < 61; seconds++) {
      assert.deepEqual(lost, []);
      await assert.rejects(bench.accept([bench.message()]), StoreUnavailable);
      await bench.clock.advance(1_000);
    }
    await assert.rejects(bench.accept([bench.message()]), StoreUnavailable);
    assert.equal(lost.length, ends ? 1 : 0, `${code} ${fault}`);
    assert.equal(closed, ends ? 1 : 0, "before the driver closes it, which would bring the log over");
    assert.ok(readFileSync(join(directory, FILE)).equals(before));
    await assert.rejects(bench.accept([bench.message()]), StoreUnavailable);
    if (ends) await assert.rejects(bench.balance(), StoreUnavailable);
    else assert.equal(await bench.balance(), 1_000_000_000n - 10_000n);
    assert.ok(!readdirSync(directory).some((name) => name.startsWith("room")));
    t.mock.restoreAll();
    syncBuiltinESMExports();
  }
});

test("a checkpoint of ours that fails is heard of, and what is acknowledged after it is safe", async (t) => {
  const embedded = await start(t);
  const { bench, directory, disk } = embedded;
  let checkpoints = 0;
  failCheckpoints(t, directory, "SQLITE_IOERR_FSYNC", (sql) => {
    if (!sql.includes("PASSIVE") || ++checkpoints > 1) return false;
    disk.failFlush();
    return true;
  });
  const sent: string[] = [];
  const text = "x".repeat(4_000);
  // The log is brought over when it has a thousand pages.
  for (let count = 0; count < 1_000 && checkpoints === 0; count++) {
    const to = `4179${String(count).padStart(7, "0")}`;
    await bench.accept([bench.message({ to })], { text });
    sent.push(to);
    await writeBehind(embedded);
  }
  assert.equal(checkpoints, 1);
  await bench.accept([bench.message({ to: "41790009999" })], { text });
  assert.deepEqual(await recipients(disk.afterPowerCut(), bench.accountId), [...sent, "41790009999"]);
});

test("a checkpoint that fails after it has begun the log anew is made up for by the next one", async (t) => {
  const { bench, directory, failing, lost, disk } = await start(t);
  await bench.accept([bench.message({ to: "41790000001" })]);
  const pragma = Database.prototype.pragma;
  let failed = 0;
  t.mock.method(Database.prototype, "pragma", function (this: Database.Database, sql: string, options: object) {
    const result = pragma.call(this, sql, options);
    if (sql !== "wal_checkpoint(TRUNCATE)" || !this.name.startsWith(directory) || failed++ > 0) return result;
    throw IO_ERROR("SQLITE_IOERR_TRUNCATE");
  });
  failing.push("SQLITE_IOERR_FSYNC");
  for (let tries = 0; tries < 2; tries++)
    await assert.rejects(bench.accept([bench.message({ to: "41790000002" })]), StoreUnavailable);
  assert.equal(failed, 1);
  await bench.clock.advance(1_000);
  // Now there is nothing in the log.
  await bench.accept([bench.message({ to: "41790000003" })]);
  assert.deepEqual(lost, []);
  assert.deepEqual(await recipients(disk.afterPowerCut(), bench.accountId), ["41790000001", "41790000003"]);
});

test("a read of the log that fails leaves it to the next one to see what is lost", async (t) => {
  for (const isGone of [false, true]) {
    const embedded = await start(t);
    const { bench, directory, failing, lost } = embedded;
    await bench.accept([bench.message({ to: "41790000001" })]);
    await writeBehind(embedded);
    const pragma = Database.prototype.pragma;
    let failed = 0;
    t.mock.method(Database.prototype, "pragma", function (this: Database.Database, sql: string, options: object) {
      if (sql === "user_version" && this.name.startsWith(directory) && failed++ === 0)
        throw IO_ERROR("SQLITE_IOERR_READ");
      return pragma.call(this, sql, options);
    });
    failing.push("SQLITE_IOERR_FSYNC");
    await assert.rejects(bench.accept([bench.message({ to: "41790000002" })]), StoreUnavailable);
    if (isGone) dropFrames(directory, 1);
    await assert.rejects(bench.accept([bench.message({ to: "41790000002" })]), StoreUnavailable);
    assert.equal(failed, 1);
    await bench.clock.advance(1_000);
    const next = bench.accept([bench.message({ to: "41790000003" })]);
    await (isGone ? assert.rejects(next, StoreUnavailable) : next);
    assert.equal(lost.length, isGone ? 1 : 0);
    t.mock.restoreAll();
    syncBuiltinESMExports();
  }
});

test("the other thread is woken when the log is long enough, and sleeps until then", async (t) => {
  const embedded = await start(t);
  const { bench, engine, directory } = embedded;
  let woken = 0;
  engine.log.leaveCheckpoints(new CheckpointTurn(CheckpointTurn.memory(), () => woken++));
  const beside = openDatabase(directory);
  t.after(() => beside.close());
  const pages = () => (beside.pragma("wal_checkpoint(NOOP)") as [{ log: number; checkpointed: number }])[0];
  const text = "x".repeat(4_000);
  const commit = async (): Promise<void> => {
    await bench.accept([bench.message()], { text });
    await writeBehind(embedded);
  };
  for (let count = 0; count < 1_000 && woken === 0; count++) {
    await commit();
    const { log, checkpointed } = pages();
    assert.equal(checkpointed, 0, "the store has left it to the other");
    assert.ok(woken === 0 || log >= DUE_PAGES, `${log} pages`);
    assert.ok(woken > 0 || log < 2 * DUE_PAGES, `${log} pages`);
  }
  assert.equal(woken, 1);

  beside.pragma("wal_checkpoint(PASSIVE)");
  for (let count = 0; count < 16; count++) await commit();
  engine.log.look();
  assert.equal(woken, 1);

  // Another process writes, which leaves checkpoints to the service, and this one commits nothing.
  beside.pragma("wal_autocheckpoint = 0");
  beside.exec("CREATE TABLE page (content BLOB)");
  const write = beside.prepare("INSERT INTO page VALUES (zeroblob(4000))");
  for (let count = 0; count < DUE_PAGES; count++) write.run();
  engine.log.look();
  assert.equal(woken, 2);
});

test("a checkpoint that fails in the other thread is seen before the next answer, and is its last one until the log is whole", async (t) => {
  const embedded = await start(t);
  const { bench, engine, disk, directory } = embedded;
  const turn = new CheckpointTurn();
  engine.log.leaveCheckpoints(turn);
  await bench.accept([bench.message({ to: "41790000001" })]);
  await writeBehind(embedded);
  const fail = () => {
    disk.failFlush();
    throw IO_ERROR("SQLITE_IOERR_FSYNC");
  };
  const mustNot = () => assert.fail("the log is not whole");
  assert.throws(() => turn.work(fail), /disk/);
  turn.work(mustNot);
  let ill = true;
  failCheckpoints(t, directory, "SQLITE_IOERR_FSYNC", () => ill);
  await assert.rejects(bench.accept([bench.message({ to: "41790000009" })]), StoreUnavailable);
  turn.work(mustNot);
  ill = false;
  await bench.clock.advance(1_000);
  await bench.accept([bench.message({ to: "41790000002" })]);
  assert.deepEqual(await recipients(disk.afterPowerCut(), bench.accountId), ["41790000001", "41790000002"]);
  const full = () => {
    throw new Database.SqliteError("database or disk is full", "SQLITE_FULL");
  };
  assert.throws(() => turn.work(full), /full/);
  assert.ok(!turn.hasFailed, "the thread goes on, and a disk without room has lost nothing");
});

test("pages that were brought over and not flushed are brought over once more", async (t) => {
  const embedded = await start(t);
  const { bench, engine, directory, disk } = embedded;
  const turn = new CheckpointTurn();
  engine.log.leaveCheckpoints(turn);
  const file = join(directory, FILE);
  const before = readFileSync(file);
  await bench.accept([bench.message({ to: "41790000001" })]);
  await writeBehind(embedded);
  // A reader keeps the checkpoint from its end, and so from flushing the file.
  const reader = new Database(file, { readonly: true });
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM message").get();
  await bench.accept([bench.message({ to: "41790000002" })]);
  const beside = openDatabase(directory);
  const [{ log, checkpointed }] = beside.pragma("wal_checkpoint(PASSIVE)") as [{ log: number; checkpointed: number }];
  assert.ok(checkpointed > 0 && checkpointed < log);
  reader.close();
  beside.close();
  // Then its flush fails: the file is as it was.
  overwrite(file, before, 0);
  const fail = () => {
    throw IO_ERROR("SQLITE_IOERR_FSYNC");
  };
  assert.throws(() => turn.work(fail), /disk/);
  await bench.accept([bench.message({ to: "41790000003" })]);
  assert.equal((await recipients(disk.afterPowerCut(), bench.accountId)).length, 3);
});

test("whoever reads from the log is not in the way of making it whole, and that is done once", async (t) => {
  const { bench, directory, failing, flushes, disk } = await start(t);
  await bench.accept([bench.message({ to: "41790000001" })]);
  const reader = readFrom(t, directory);
  failing.push("SQLITE_IOERR_FSYNC");
  await assert.rejects(bench.accept([bench.message({ to: "41790000002" })]), StoreUnavailable);
  const before = flushes.done;
  for (const to of ["41790000003", "41790000004"]) await bench.accept([bench.message({ to })]);
  assert.equal(flushes.done, before + 1);
  assert.equal(reader.prepare("SELECT count(*) FROM message").pluck().get(), 0, "he reads what he read before");
  const left = disk.afterPowerCut();
  assert.deepEqual(await recipients(left, bench.accountId), ["41790000001", "41790000003", "41790000004"]);
});

test("a service that starts while somebody reads from the log accepts at once, and what it accepts is safe", async (t) => {
  const { bench, disk } = await start(t);
  await bench.accept([bench.message({ to: "41790000001" })]);
  const left = disk.afterPowerCut();
  readFrom(t, left);
  const engine = new SqliteEngine({ rules: RULES, directory: left, clock: bench.clock, lanes: LANES, mode: "deliver" });
  t.after(() => engine.close());
  const store = localStore(engine, () => undefined);
  const { kind } = await store.accept(bench.acceptance([bench.message({ to: "41790000002" })]));
  assert.equal(kind, "accepted");
});

test("what an earlier process left in the log is in the database file before the first answer of the next", async (t) => {
  const { bench, directory, disk } = await start(t);
  await bench.accept([bench.message({ to: "41790000001" })]);
  const left = disk.afterPowerCut();
  const saltsOf = (of: string) => readFileSync(join(of, `${FILE}-wal`)).toString("hex", 16, 24);
  const before = saltsOf(left);
  assert.equal(before, saltsOf(directory));
  const engine = new SqliteEngine({ rules: RULES, directory: left, clock: bench.clock, lanes: LANES, mode: "deliver" });
  t.after(() => engine.close());
  assert.notEqual(saltsOf(left), before);
  const file = await temporaryDirectory(t);
  copyFileSync(join(left, FILE), join(file, FILE));
  assert.deepEqual(await recipients(file, bench.accountId), ["41790000001"]);
});
