/**
 * SQLite's write-ahead log (the file `-wal`), and whether what is committed to it will be there after a power cut. The rule, for all of this engine:
 *
 *   1. What somebody is told is committed with `synchronous = FULL`: the commit flushes the log, and all that was written to it before.
 *   2. What the journal holds anyway, rows on their way to their tables, is committed with `synchronous = NORMAL`: not flushed. The next flush is for it too.
 *   3. After any I/O error nothing is committed, and no page goes from the log to the database file, until the log is *whole*: all of it is written
 *      over itself and flushed, and SQLite has read it anew as after a crash (log-over.ts), so that no frame counts as brought over.
 *   4. A process trusts no log that it has found: it begins with making it whole. Whoever closes the database last has SQLite bring the log over, so that
 *      goes for every process that may be alone with it (`openAlone`), and for the end of one.
 *
 * Why: after a flush that failed the kernel takes the pages for clean. The next flush says yes, and they may never have reached the disk. Recovery
 * reads the log up to the first page that is wrong, so whatever is committed behind such a hole is lost with it, though its own flush was good. And a
 * power cut while pages of such a log are written to the database file would leave some of them there, and no log that has the others.
 *
 * Why a whole log is enough, whoever reads from it: all that is committed is in it, on the disk. It can begin anew only after a checkpoint that has
 * brought all of it over, as none of it counts as that, and has flushed the database file. If that fails it is an I/O error, and rule 3 begins again.
 *
 * Pages of a failed flush may be gone from memory before they are written again. Then frames are wrong. Those of a failed commit are behind the end of
 * the log, so these are of commits without a flush (2), and the journal has what was in them. SQLite finds what a power cut would have left, and the
 * process ends, because it knows of more than that.
 *
 * SQLite does its automatic checkpoints without telling of their errors, so they are off, and are done here.
 */
import { statSync } from "node:fs";
import Database from "better-sqlite3";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import { orElse } from "../../runtime/or-else.ts";
import { DatabaseUnavailable } from "../errors.ts";
import type { CheckpointTurn } from "./checkpoint-turn.ts";
import { BUSY_TIMEOUT_MS, canBeRead, type Db, isBusy, isIoError, openDatabase } from "./database.ts";
import { hasRoom } from "./disk-room.ts";
import { readLogEnd, writeLogOver } from "./log-over.ts";
import { logFileOf } from "./store-files.ts";

export interface LogEvents {
  /** From now on nothing is committed. */
  readonly onDistrust?: (error: unknown) => void;
  /** The log is whole again. */
  readonly onTrust?: () => void;
}

export interface WriteAheadLogOptions extends LogEvents {
  readonly db: Db;
  readonly directory: string;
  readonly clock: Clock;
  /** Whether it brings the log into the file by itself: the command line beside a service leaves that to the service. */
  readonly checkpoints: boolean;
}

/** Pages of the log that a commit brings into the file: SQLite's own choice, and what may be left to another thread. */
const CHECKPOINT_PAGES = { own: 1_000, left: 8_000 };
/** To look how long the log is takes some microseconds, and a commit adds few pages to it. */
const LOOK_EVERY_COMMITS = 8;
/** A log that is not whole is tried again so often, at most. */
const RETRY_EVERY_MS = 250;
/** How long a try waits for whoever reads from the log or writes to it. */
const RETRY_WAIT_MS = 100;
/** I/O errors for so long, at every try, are no passing ones. */
const MAX_FAILING_MS = 60_000;

interface Distrust {
  readonly reason: unknown;
  /** Since when every try met an I/O error; null while there was none. */
  failingSinceMs: number | null;
  nextTryMs: number;
  /** Where the log ended when SQLite was to read it anew, until it has. */
  end: string | null;
  /** Some of the log is lost: this process commits nothing more. */
  isFinal: boolean;
}

export class WriteAheadLog {
  readonly #options: WriteAheadLogOptions;
  readonly #db: Db;
  readonly #size;
  #synchronous: "FULL" | "NORMAL" = "FULL";
  #commits = 0;
  #distrust: Distrust | null = null;
  /** The thread that does most of the checkpoints; null where there is none. */
  #turn: CheckpointTurn | null = null;
  #onLost: (reason: string) => void = () => undefined;

  constructor(options: WriteAheadLogOptions) {
    this.#options = options;
    this.#db = options.db;
    this.#db.pragma("wal_autocheckpoint = 0");
    this.#size = this.#db.prepare<[], { log: number; checkpointed: number }>("PRAGMA wal_checkpoint(NOOP)");
  }

  /** Whether the next commit is safe once it is flushed. A failure in the thread for checkpoints is seen here first. */
  get isTrusted(): boolean {
    this.#watchThread();
    return this.#distrust === null;
  }

  #watchThread(): void {
    if (this.#turn?.hasFailed) this.distrust(new Error("the thread for checkpoints met an error"));
  }

  /** What whoever wants to write is told while the log is not trusted. */
  get reason(): DatabaseUnavailable {
    const { reason } = this.#distrust!;
    return new DatabaseUnavailable(`the store's log is not safe (${(reason as Error).message})`);
  }

  /** An error of the database: one of input or output makes the log suspect, others do not. */
  noteError(error: unknown): void {
    if (isIoError(error)) this.distrust(error);
  }

  distrust(reason: unknown): void {
    if (this.#distrust !== null) return;
    this.#distrust = { reason, failingSinceMs: null, nextTryMs: Number.NEGATIVE_INFINITY, end: null, isFinal: false };
    this.#options.onDistrust?.(reason);
  }

  /**
   * The first thing of a process that has the directory. If the log of an earlier one cannot be made whole it throws, or where nothing has to be
   * written (`mayOnlyRead`) leaves the log alone.
   */
  begin(mayOnlyRead = false): void {
    try {
      if (this.#size.get()!.log === 0) return;
      // Of what is lost this process knows nothing: what is left is taken, as after a power cut.
      if (this.#writeOver() === null) throw new Error("another process is writing");
      this.#bringOver();
    } catch (error) {
      this.distrust(error);
      const cause = error as Error;
      if (!mayOnlyRead || (error instanceof Database.SqliteError && !canBeRead(error) && !isBusy(error)))
        throw new Error(`the log that an earlier process has left cannot be made whole: ${cause.message}`, { cause });
    }
  }

  /** Sets how the next transaction is committed: everyone who begins one says so. An error leaves it as it was, so that the next one tries again. */
  synchronous(mode: "FULL" | "NORMAL"): void {
    if (this.#synchronous === mode) return;
    // It changes many times a second, and the driver's own way makes a statement each time.
    this.#db.exec(`PRAGMA synchronous = ${mode}`);
    this.#synchronous = mode;
  }

  /** Tries to make the log whole, now and then; true when it is. */
  restore(): boolean {
    if (this.isTrusted) return true;
    const nowMs = this.#options.clock.monotonic();
    return nowMs >= this.#distrust!.nextTryMs && this.#restoreNow(this.#distrust!, nowMs);
  }

  #restoreNow(distrust: Distrust, nowMs: number): boolean {
    if (distrust.isFinal) return false;
    distrust.nextTryMs = nowMs + RETRY_EVERY_MS;
    if (this.#turn?.hold() === false) return false;
    try {
      if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
      this.synchronous("FULL");
      this.#db.pragma(`busy_timeout = ${RETRY_WAIT_MS}`);
      const end = this.#writeOver();
      if (end === null) {
        distrust.failingSinceMs = null;
        return false;
      }
      distrust.end ??= end;
      // Any read has SQLite look at the log.
      this.#db.pragma("user_version");
      distrust.isFinal = readLogEnd(this.#options.directory).mark !== distrust.end;
      distrust.end = null;
      if (distrust.isFinal) {
        this.#onLost("some of the log was lost after an I/O error: see to the disk and the system's log");
        return false;
      }
      this.#bringOver();
    } catch (error) {
      this.#failed(distrust, error, nowMs);
      return false;
    } finally {
      if (this.#db.open) this.#db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
    this.#turn?.release();
    this.#distrust = null;
    this.#options.onTrust?.();
    return true;
  }

  /** A disk without room, or a database that others use, passes, and what is there can be read meanwhile. A disk that fails at every try does not. */
  #failed(distrust: Distrust, error: unknown, nowMs: number): void {
    if (!isLossOfDisk(error) || !hasRoom(this.#options.directory, this.#largestFile())) {
      distrust.failingSinceMs = null;
      return;
    }
    distrust.failingSinceMs ??= nowMs;
    if (nowMs - distrust.failingSinceMs < MAX_FAILING_MS) return;
    distrust.isFinal = true;
    // The driver closes what is open as the process ends, and would have the log brought over.
    this.close();
    this.#onLost(
      `the disk has failed at every try for ${MAX_FAILING_MS / 1_000} seconds (${(error as Error).message}): see to the disk and the system's log`,
    );
  }

  /** How large the database or its log may have to be. What a disk that fails does not tell counts as 0. */
  #largestFile(): number {
    const log = orElse(() => statSync(logFileOf(this.#options.directory)).size, 0);
    const pages = (): number => this.#db.pragma("page_count", { simple: true }) as number;
    const database = orElse(() => this.#pageBytes * pages(), 0);
    return Math.max(log, database);
  }

  get #pageBytes(): number {
    return this.#db.pragma("page_size", { simple: true }) as number;
  }

  /** Returns where the log ends; null where somebody else writes to it, or brings it over. Who only reads from it is not in the way. */
  #writeOver(): string | null {
    try {
      this.#db.exec("BEGIN IMMEDIATE");
    } catch (error) {
      if (isBusy(error)) return null;
      throw error;
    }
    try {
      return writeLogOver(this.#options.directory, this.#pageBytes);
    } finally {
      this.#db.exec("ROLLBACK");
    }
  }

  /** Brings a whole log into the file and has it begin anew, as far as nobody who reads from it is in the way: nobody waits for him. */
  #bringOver(): void {
    this.#db.pragma("busy_timeout = 0");
    try {
      this.#db.pragma("wal_checkpoint(TRUNCATE)");
    } catch (error) {
      // What is not brought over now is so by any later checkpoint. A disk without room has lost nothing.
      if (!isBusy(error) && (error as { code?: string }).code !== "SQLITE_FULL") throw error;
    } finally {
      this.#db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
  }

  /** After a commit: what SQLite would do by itself, with its errors heard. The commit is flushed, so whoever waits for it may be told. */
  checkpointIfDue(): void {
    if (++this.#commits % LOOK_EVERY_COMMITS === 0) this.look();
  }

  /** Sees to the log, however few commits there were: other processes write to it too, and a single commit may be large. */
  look(): void {
    if (!this.#options.checkpoints || !this.#db.open || !this.isTrusted) return;
    const due = this.#turn === null ? CHECKPOINT_PAGES.own : CHECKPOINT_PAGES.left;
    try {
      const { log, checkpointed } = this.#size.get()!;
      if (log >= due) this.#db.pragma("wal_checkpoint(PASSIVE)");
      else this.#turn?.due(log - checkpointed);
    } catch (error) {
      this.noteError(error);
    }
  }

  /** Another thread brings the log into the file (threads/checkpoint.ts), or with null has ceased to. */
  leaveCheckpoints(turn: CheckpointTurn | null): void {
    if (!this.#db.open) return;
    this.#watchThread();
    this.#turn = turn;
  }

  /** Tells when nothing more can be kept here and the process should end. */
  onLost(tell: (reason: string) => void): void {
    this.#onLost = tell;
  }

  /** Ends the connection. The last one brings the log over, so one that is not trusted is made whole first, and where that fails it is left as it is. */
  close(): void {
    if (!this.#db.open) return;
    try {
      if (!this.isTrusted && !this.#restoreNow(this.#distrust!, this.#options.clock.monotonic()))
        leaveLogBehind(this.#db.name);
    } finally {
      this.#db.close();
    }
  }
}

/** Opens the database for whoever has the directory to himself and is no engine. He ends it with the log's `close`. */
export function openAlone(directory: string): { readonly db: Db; readonly log: WriteAheadLog } {
  const db = openDatabase(directory);
  const log = new WriteAheadLog({ db, directory, clock: systemClock, checkpoints: true });
  try {
    log.begin();
    return { db, log };
  } catch (error) {
    log.close();
    throw error;
  }
}

/** Until the process ends. One that nobody refers to would be closed. */
const leftOpen: Db[] = [];

/** Keeps SQLite from bringing the log over when a connection closes: it is not the last one, and this one, which may only read, cannot. */
function leaveLogBehind(file: string): void {
  try {
    const reader = new Database(file, { readonly: true, fileMustExist: true });
    leftOpen.push(reader);
    reader.pragma("user_version");
  } catch {
    // What cannot even be read is not brought over either.
  }
}

/** SQLite's word for it, or the system's own. */
function isLossOfDisk(error: unknown): boolean {
  return isIoError(error) || (error as { code?: string }).code === "EIO";
}
