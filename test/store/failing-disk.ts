/** The embedded store on a disk whose flushes fail, for tests: what of its log is on the disk then, and what a power cut leaves. */
import fs, { closeSync, copyFileSync, existsSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import type { TestContext } from "node:test";
import Database from "better-sqlite3";
import { RULES } from "../../src/commands/table.ts";
import { readLogEnd } from "../../src/drivers/sqlite/log-over.ts";
import { localStore } from "../../src/store/group.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { storeDirectory } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { Bench } from "./harness.ts";

export const FILE = "heliograph.sqlite";
const FULL = 2;
const LOG_HEADER_BYTES = 32;
export const FRAME_BYTES = 24 + 4_096;
export const LANES = { lane: 100, total: 1_000 };
export const IO_ERROR = (code: string) => new Database.SqliteError("disk I/O error", code);

/** What of the log is on the disk, and what only seems to be. */
export class Disk {
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

  /** The log was written over itself up to its last commit, and flushed: what was lost of that is there again. */
  writtenOver(): void {
    const end = LOG_HEADER_BYTES + readLogEnd(this.#directory).frames * FRAME_BYTES;
    this.#lost = this.#lost.flatMap((hole) => (hole.to <= end ? [] : [{ ...hole, from: Math.max(hole.from, end) }]));
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
    for (const { from, to } of this.#lost.filter((hole) => hole.salts === salts))
      overwrite(log, Buffer.alloc(to - from), from);
    return copy;
  }
}

export interface Embedded {
  readonly bench: Bench;
  readonly engine: SqliteEngine;
  readonly directory: string;
  readonly disk: Disk;
  /** Codes of errors with which the next flushes fail, oldest first. */
  readonly failing: string[];
  readonly lost: string[];
  readonly flushes: LogFlushes;
}

export interface LogFlushes {
  /** How often a log was written over and flushed. */
  done: number;
  /** With what that fails; null when it does not. */
  fault: string | null;
}

/** Watches logs that are written over: whoever does that flushes them himself. */
export function watchLogFlushes(t: TestContext, onFlush: () => void = () => undefined): LogFlushes {
  const flushes: LogFlushes = { done: 0, fault: null };
  const { fsyncSync } = fs;
  const mock = t.mock.method(fs, "fsyncSync", (file: number) => {
    if (!fs.readlinkSync(`/proc/self/fd/${file}`).endsWith("-wal")) return fsyncSync(file);
    if (flushes.fault !== null) throw Object.assign(new Error(`${flushes.fault}: fsync`), { code: flushes.fault });
    fsyncSync(file);
    flushes.done++;
    onFlush();
  });
  syncBuiltinESMExports();
  t.after(() => {
    mock.mock.restore();
    syncBuiltinESMExports();
  });
  return flushes;
}

export function overwrite(file: string, octets: Buffer, at: number): void {
  const handle = openSync(file, "r+");
  writeSync(handle, octets, 0, octets.length, at);
  closeSync(handle);
}

/** As if the system had dropped the last so many frames of the log from its memory before they were on the disk. */
export function dropFrames(directory: string, count: number): void {
  const { frames } = readLogEnd(directory);
  overwrite(
    join(directory, `${FILE}-wal`),
    Buffer.alloc(FRAME_BYTES * count),
    LOG_HEADER_BYTES + (frames - count) * FRAME_BYTES,
  );
}

/** A store whose commits can be made to fail as SQLite's do: what was written is in the log's file, and the transaction is rolled back. */
export async function start(t: TestContext): Promise<Embedded> {
  const directory = await storeDirectory(t);
  const disk = new Disk(directory);
  const failing: string[] = [];
  const lost: string[] = [];
  const flushes = watchLogFlushes(t, () => disk.writtenOver());
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
      engine = new SqliteEngine({ rules: RULES, directory, clock, lanes, mode: "deliver" });
      engine.log.onLost((reason) => lost.push(reason));
      const opened = engine;
      return {
        store: localStore(engine, onFeed),
        overflowed: engine.overflowedLanes(),
        close: async () => opened.close(),
      };
    },
  }));
  return { bench, engine: engine!, directory, disk, failing, lost, flushes };
}

/** Has rows written to their tables, in a transaction that is not flushed. */
export async function writeBehind({ bench, engine }: Embedded): Promise<void> {
  await bench.clock.advance(5_000);
  engine.onIdle();
}

/** Makes checkpoints fail for as long as `fails` says so. */
export function failCheckpoints(
  t: TestContext,
  directory: string,
  code: string,
  fails: (sql: string) => boolean,
): void {
  const pragma = Database.prototype.pragma;
  t.mock.method(Database.prototype, "pragma", function (this: Database.Database, sql: string, options: object) {
    if (sql.startsWith("wal_checkpoint") && this.name.startsWith(directory) && fails(sql)) throw IO_ERROR(code);
    return pragma.call(this, sql, options);
  });
}

export async function recipients(directory: string, accountId: number): Promise<string[]> {
  const clock = new VirtualClock(Date.UTC(2026, 1, 13));
  const engine = new SqliteEngine({ rules: RULES, directory, clock, lanes: LANES, mode: "deliver" });
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

/** Somebody who reads from the log for long. */
export function readFrom(t: TestContext, directory: string): Database.Database {
  const reader = new Database(join(directory, FILE), { readonly: true });
  t.after(() => reader.close());
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM message").get();
  return reader;
}
