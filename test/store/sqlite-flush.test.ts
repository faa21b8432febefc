/**
 * A flush that fails, on the embedded store. The kernel takes the pages of a failed flush for clean: later flushes say yes, and the pages may never
 * have reached the disk. So a crash after that leaves the log with a hole, at which recovery stops.
 */
import assert from "node:assert/strict";
import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import Database from "better-sqlite3";
import { localStore } from "../../src/store/group.ts";
import { StoreUnavailable } from "../../src/store/port.ts";
import { CheckpointTurn } from "../../src/store/sqlite/checkpoint-turn.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { temporaryDirectory } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { Bench } from "./harness.ts";

const FILE = "heliograph.sqlite";
const FULL = 2;
const LANES = { lane: 100, total: 1_000 };
const IO_ERROR = (code: string) => new Database.SqliteError("disk I/O error", code);

/** What of the log is on the disk, and what only seems to be. */
class Disk {
  readonly #directory: string;
  /** What was in the log at its last good flush, and how long it was. */
  #flushed = { salts: "", length: 0 };
  /** Written between that and a flush that failed. */
  #lost: { salts: string; from: number; to: number }[] = [];

  constructor(directory: string) {
    this.#directory = directory;
  }

  get #log(): Buffer {
    const file = join(this.#directory, `${FILE}-wal`);
    return existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  }

  #salts(): string {
    return this.#log.toString("hex", 16, 24);
  }

  flush(): void {
    this.#flushed = { salts: this.#salts(), length: this.#log.length };
  }

  failFlush(): void {
    const salts = this.#salts();
    const from = this.#flushed.salts === salts ? this.#flushed.length : 32;
    this.#lost.push({ salts, from, to: this.#log.length });
  }

  /** The files as a power cut leaves them. */
  afterPowerCut(): string {
    const copy = join(this.#directory, "after");
    mkdirSync(copy);
    for (const name of [FILE, `${FILE}-wal`])
      if (existsSync(join(this.#directory, name))) copyFileSync(join(this.#directory, name), join(copy, name));
    const salts = this.#salts();
    const log = join(copy, `${FILE}-wal`);
    for (const { from, to } of this.#lost.filter((hole) => hole.salts === salts)) {
      const handle = openSync(log, "r+");
      writeSync(handle, Buffer.alloc(to - from), 0, to - from, from);
      closeSync(handle);
    }
    return copy;
  }
}

interface Embedded {
  readonly bench: Bench;
  readonly engine: SqliteEngine;
  readonly directory: string;
  readonly disk: Disk;
  /** Codes of errors with which the next flushes fail, oldest first. */
  readonly failing: string[];
  readonly lost: string[];
}

/** A store whose commits can be made to fail as SQLite's do: what was written is in the log's file, and the transaction is rolled back. */
async function start(t: TestContext): Promise<Embedded> {
  const directory = await temporaryDirectory(t);
  const disk = new Disk(directory);
  const failing: string[] = [];
  const lost: string[] = [];
  const exec = Database.prototype.exec;
  t.mock.method(Database.prototype, "exec", function (this: Database.Database, sql: string) {
    if (sql !== "COMMIT" || !this.name.startsWith(directory)) return exec.call(this, sql);
    const flushes = this.pragma("synchronous", { simple: true }) === FULL;
    const code = flushes ? failing.shift() : undefined;
    if (code !== undefined) {
      exec.call(this, "ROLLBACK");
      disk.failFlush();
      throw IO_ERROR(code);
    }
    exec.call(this, sql);
    if (flushes) disk.flush();
    return this;
  });
  let engine: SqliteEngine | null = null;
  const bench = await Bench.start(t, async () => ({
    async open(clock, lanes, onFeed) {
      engine = new SqliteEngine({ directory, clock, lanes, mode: "deliver" });
      engine.onLost((reason) => lost.push(reason));
      const opened = engine;
      return { store: localStore(engine, onFeed), spilled: engine.spilledLanes(), close: async () => opened.close() };
    },
  }));
  return { bench, engine: engine!, directory, disk, failing, lost };
}

/** Has rows written to their tables, in a transaction that is not flushed. */
async function writeBehind({ bench, engine }: Embedded): Promise<void> {
  await bench.clock.advance(5_000);
  engine.rest();
}

/** Makes checkpoints fail for as long as `fails` says so. */
function failCheckpoints(t: TestContext, directory: string, code: string, fails: (sql: string) => boolean): void {
  const pragma = Database.prototype.pragma;
  t.mock.method(Database.prototype, "pragma", function (this: Database.Database, sql: string, options: object) {
    if (sql.startsWith("wal_checkpoint") && this.name.startsWith(directory) && fails(sql)) throw IO_ERROR(code);
    return pragma.call(this, sql, options);
  });
}

async function recipients(directory: string, accountId: number): Promise<string[]> {
  const clock = new VirtualClock(Date.UTC(2026, 1, 13));
  const engine = new SqliteEngine({ directory, clock, lanes: LANES, mode: "deliver" });
  try {
    engine.settle();
    const db = new Database(join(directory, FILE), { readonly: true });
    const rows = db
      .prepare<[number], string>("SELECT recipient FROM message WHERE account_id = ? ORDER BY key")
      .pluck()
      .all(accountId);
    db.close();
    return rows;
  } finally {
    engine.close();
  }
}

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
  engine.rest();
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
  for (const { code, ends } of [
    { code: "SQLITE_IOERR_FSYNC", ends: true },
    { code: "SQLITE_FULL", ends: false },
    { code: "SQLITE_IOERR_WRITE", ends: false },
  ]) {
    const { bench, directory, failing, lost } = await start(t);
    failCheckpoints(t, directory, code, () => true);
    failing.push("SQLITE_IOERR_FSYNC");
    for (let seconds = 0; seconds < 61; seconds++) {
      assert.deepEqual(lost, []);
      await assert.rejects(bench.accept([bench.message()]), StoreUnavailable);
      await bench.clock.advance(1_000);
    }
    await assert.rejects(bench.accept([bench.message()]), StoreUnavailable);
    assert.equal(lost.length > 0, ends, code);
    t.mock.restoreAll();
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

test("a checkpoint that fails in the other thread is seen before the next answer", async (t) => {
  const embedded = await start(t);
  const { bench, engine, disk } = embedded;
  const turn = new CheckpointTurn();
  engine.leaveCheckpoints(turn);
  await bench.accept([bench.message({ to: "41790000001" })]);
  await writeBehind(embedded);
  const fail = () => {
    disk.failFlush();
    throw IO_ERROR("SQLITE_IOERR_FSYNC");
  };
  assert.throws(() => turn.work(fail), /disk/);
  await bench.accept([bench.message({ to: "41790000002" })]);
  assert.deepEqual(await recipients(disk.afterPowerCut(), bench.accountId), ["41790000001", "41790000002"]);
  const { faults } = turn;
  const full = () => {
    throw new Database.SqliteError("database or disk is full", "SQLITE_FULL");
  };
  assert.throws(() => turn.work(full), /full/);
  assert.equal(turn.faults, faults, "the thread goes on, and a disk without room has lost nothing");
});

test("pages that were brought over and not flushed are brought over once more", async (t) => {
  const embedded = await start(t);
  const { bench, engine, directory, disk } = embedded;
  const turn = new CheckpointTurn();
  engine.leaveCheckpoints(turn);
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
  const handle = openSync(file, "r+");
  writeSync(handle, before, 0, before.length, 0);
  closeSync(handle);
  const fail = () => {
    throw IO_ERROR("SQLITE_IOERR_FSYNC");
  };
  assert.throws(() => turn.work(fail), /disk/);
  await bench.accept([bench.message({ to: "41790000003" })]);
  assert.equal((await recipients(disk.afterPowerCut(), bench.accountId)).length, 3);
});

test("while somebody else reads from the log it cannot begin anew, and nothing is accepted until he has done", async (t) => {
  const { bench, directory, failing } = await start(t);
  await bench.accept([bench.message()]);
  const reader = new Database(join(directory, FILE), { readonly: true });
  t.after(() => reader.close());
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM message").get();
  failing.push("SQLITE_IOERR_FSYNC");
  await assert.rejects(bench.accept([bench.message()]), StoreUnavailable);
  await assert.rejects(bench.accept([bench.message()]), StoreUnavailable);
  reader.exec("COMMIT");
  await bench.clock.advance(1_000);
  await bench.accept([bench.message()]);
  assert.equal(await bench.balance(), 1_000_000_000n - 20_000n);
});

test("what an earlier process left in the log is in the database file before the first answer of the next", async (t) => {
  const { bench, directory, disk } = await start(t);
  await bench.accept([bench.message({ to: "41790000001" })]);
  const left = disk.afterPowerCut();
  const saltsOf = (of: string) => readFileSync(join(of, `${FILE}-wal`)).toString("hex", 16, 24);
  const before = saltsOf(left);
  assert.equal(before, saltsOf(directory));
  const engine = new SqliteEngine({ directory: left, clock: bench.clock, lanes: LANES, mode: "deliver" });
  t.after(() => engine.close());
  assert.notEqual(saltsOf(left), before);
  const file = await temporaryDirectory(t);
  copyFileSync(join(left, FILE), join(file, FILE));
  assert.deepEqual(await recipients(file, bench.accountId), ["41790000001"]);
});
