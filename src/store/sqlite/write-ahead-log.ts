/**
 * SQLite's write-ahead log (the file `-wal`), and whether what is committed to it will be there after a power cut. The rule, for all of this engine:
 *
 *   1. What somebody is told is committed with `synchronous = FULL`: the commit flushes the log, and all that was written to it before.
 *   2. What the journal holds anyway, rows on their way to their tables, is committed with `synchronous = NORMAL`: not flushed. The next flush is for it too.
 *   3. After any I/O error nothing is committed until a *whole checkpoint* has succeeded: the log is written over itself and flushed, then every page
 *      of it is written to the database file once more, that file is flushed, and the log begins anew.
 *   4. A process trusts no log that it has found: it begins with a whole checkpoint.
 *
 * Why 3: after a flush that failed the kernel takes the pages for clean. The next flush says yes, and they may never have reached the disk. Recovery
 * reads the log up to the first page that is wrong, so whatever is committed behind such a hole is lost with it, though its own flush was good. And a
 * power cut while pages of such a log are written to the database file would leave some of them there, and no log that has the others: written over
 * itself, the log has all of its pages to be flushed again.
 *
 * SQLite does its automatic checkpoints without telling of their errors, so they are off, and are done here.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  statfsSync,
  statSync,
  writeSync,
} from "node:fs";
import type { Clock } from "../../runtime/clock.ts";
import { StoreUnavailable } from "../port.ts";
import type { CheckpointTurn } from "./checkpoint-turn.ts";
import { BUSY_TIMEOUT_MS, type Db, indexFileOf, isIoError } from "./database.ts";

export interface LogEvents {
  /** From now on nothing is committed. */
  readonly onDistrust?: (error: unknown) => void;
  /** The log is whole again. */
  readonly onTrust?: () => void;
  /** It cannot be made whole: the process should end, and be started anew. */
  readonly onLost?: (reason: string) => void;
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

const COPIED_OCTETS = 1 << 20;

/** What a write says that finds no place, such as with a quota: it has lost nothing. */
const NO_PLACE = /^SQLITE_IOERR_(WRITE|SHMSIZE)/;
/** With less room than this an error is taken to be about that. */
const MIN_FREE_BYTES = 16 * 1024 * 1024;

interface Distrust {
  readonly reason: unknown;
  /** Since when every try met an I/O error; null while there was none. */
  failingSinceMs: number | null;
  nextTryMs: number;
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
  #knownFaults = 0;
  #onLost: (reason: string) => void;

  constructor(options: WriteAheadLogOptions) {
    this.#options = options;
    this.#db = options.db;
    this.#onLost = options.onLost ?? (() => undefined);
    this.#db.pragma("wal_autocheckpoint = 0");
    this.#size = this.#db.prepare<[], { log: number; checkpointed: number }>("PRAGMA wal_checkpoint(NOOP)");
  }

  /** Whether the next commit is safe once it is flushed. A failure in the thread for checkpoints is seen here first. */
  get isTrusted(): boolean {
    this.#heedThread();
    return this.#distrust === null;
  }

  #heedThread(): void {
    const faults = this.#turn?.faults ?? this.#knownFaults;
    if (faults === this.#knownFaults) return;
    this.#knownFaults = faults;
    this.distrust(new Error("the thread for checkpoints met an error"));
  }

  /** What whoever wants to write is told while the log is not trusted. */
  get reason(): StoreUnavailable {
    const { reason } = this.#distrust!;
    return new StoreUnavailable(`the store's log is not safe (${(reason as Error).message})`);
  }

  /** An error of the database: one of input or output makes the log suspect, others do not. */
  heed(error: unknown): void {
    if (isIoError(error)) this.distrust(error);
  }

  distrust(reason: unknown): void {
    if (this.#distrust !== null) return;
    this.#distrust = { reason, failingSinceMs: null, nextTryMs: Number.NEGATIVE_INFINITY };
    this.#options.onDistrust?.(reason);
  }

  /** The first thing of a process that takes the directory. Throws if the log of an earlier one cannot be brought over for any reason but others that read it. */
  begin(): void {
    if (this.#size.get()!.log === 0) return;
    try {
      if (!this.#beginAnew()) this.distrust(new Error("another process reads from it since before the start"));
    } catch (error) {
      const { message } = error as Error;
      throw new Error(`what an earlier process has left in the log cannot be brought into the database: ${message}`);
    }
  }

  /** Sets how the next transaction is committed: everyone who begins one says so. An error leaves it as it was, so that the next one tries again. */
  synchronous(mode: "FULL" | "NORMAL"): void {
    if (this.#synchronous === mode) return;
    this.#db.pragma(`synchronous = ${mode}`);
    this.#synchronous = mode;
  }

  /** Tries to make the log whole, now and then; true when it is. */
  restore(): boolean {
    if (this.isTrusted) return true;
    const distrust = this.#distrust!;
    const nowMs = this.#options.clock.monotonic();
    if (nowMs < distrust.nextTryMs) return false;
    distrust.nextTryMs = nowMs + RETRY_EVERY_MS;
    try {
      this.#db.pragma(`busy_timeout = ${RETRY_WAIT_MS}`);
      if (!this.#bringAll()) {
        distrust.failingSinceMs = null;
        return false;
      }
    } catch (error) {
      this.#failed(distrust, error, nowMs);
      return false;
    } finally {
      this.#db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
    this.#distrust = null;
    this.#options.onTrust?.();
    return true;
  }

  /** A disk without room, or a database that others use, passes, and what is there can be read meanwhile. A disk that fails at every try does not. */
  #failed(distrust: Distrust, error: unknown, nowMs: number): void {
    if (!isLossOfDisk(error) || NO_PLACE.test((error as { code: string }).code) || isFull(this.#options.directory)) {
      distrust.failingSinceMs = null;
      return;
    }
    distrust.failingSinceMs ??= nowMs;
    if (nowMs - distrust.failingSinceMs < MAX_FAILING_MS) return;
    this.#onLost(
      `the disk has failed at every try for ${MAX_FAILING_MS / 1_000} seconds (${(error as Error).message}): see to the disk and the system's log`,
    );
  }

  /** A whole checkpoint. False when another process reads from the log, or holds it otherwise. */
  #bringAll(): boolean {
    if (this.#turn?.hold() === false) return false;
    try {
      if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
      this.synchronous("FULL");
      bringAllOnceMore(this.#options.directory);
      return this.#beginAnew();
    } finally {
      this.#turn?.release();
    }
  }

  #beginAnew(): boolean {
    try {
      // Nobody else may write to it meanwhile.
      this.#db.exec("BEGIN IMMEDIATE");
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
    try {
      writeOnceMore(`${this.#db.name}-wal`);
    } finally {
      this.#db.exec("ROLLBACK");
    }
    const [{ busy }] = this.#db.pragma("wal_checkpoint(TRUNCATE)") as [{ busy: number }];
    return busy === 0;
  }

  /** After a commit: what SQLite would do by itself, with its errors heard. The commit is flushed, so whoever waits for it may be told. */
  checkpointIfDue(): void {
    if (!this.#options.checkpoints || ++this.#commits % LOOK_EVERY_COMMITS !== 0) return;
    const due = this.#turn === null ? CHECKPOINT_PAGES.own : CHECKPOINT_PAGES.left;
    try {
      if (this.#size.get()!.log >= due) this.#db.pragma("wal_checkpoint(PASSIVE)");
    } catch (error) {
      this.heed(error);
    }
  }

  /** Another thread brings the log into the file (threads/checkpoint.ts), or with null has ceased to. */
  leaveCheckpoints(turn: CheckpointTurn | null): void {
    this.#heedThread();
    this.#turn = turn;
    this.#knownFaults = turn?.faults ?? 0;
  }

  onLost(tell: (reason: string) => void): void {
    this.#onLost = tell;
  }

  /** Before the connection ends: the last one brings the log over, and of a log that is not trusted all of it. */
  end(): void {
    if (this.#distrust !== null && existsSync(indexFileOf(this.#options.directory)))
      bringAllOnceMore(this.#options.directory);
  }
}

/** Read and written over itself, so that the next flush is for all of it. Octets of a log that is read meanwhile stay what they are. */
function writeOnceMore(file: string): void {
  const log = openSync(file, "r+");
  try {
    const octets = Buffer.alloc(COPIED_OCTETS);
    for (let at = 0; ; ) {
      const read = readSync(log, octets, 0, octets.length, at);
      if (read === 0) break;
      for (let done = 0; done < read; ) done += writeSync(log, octets, done, read - done, at + done);
      at += read;
    }
    fsyncSync(log);
  } finally {
    // SQLite has no locks on this file that closing it would give up.
    closeSync(log);
  }
}

function isBusy(error: unknown): boolean {
  return (error as { code?: string }).code?.startsWith("SQLITE_BUSY") === true;
}

/** SQLite's word for it, or the system's own. */
function isLossOfDisk(error: unknown): boolean {
  return isIoError(error) || (error as { code?: string }).code === "EIO";
}

function isFull(directory: string): boolean {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize < MIN_FREE_BYTES;
}

/** Where SQLite's index of the log says how many of its pages are in the database file: "nBackfill" of https://sqlite.org/walformat.html. */
const BROUGHT_OVER_AT = 96;

/** For each index the file as it was opened. It stays open: to close a file gives up all locks that the process has on it, SQLite's among them. */
const openIndexes = new Map<string, number>();

function indexOf(directory: string): number {
  const file = indexFileOf(directory);
  const known = openIndexes.get(file);
  if (known !== undefined) {
    if (fstatSync(known).ino === statSync(file).ino) return known;
    // The last connection took that one away, and nobody has a lock on it.
    openIndexes.delete(file);
    closeSync(known);
  }
  const index = openSync(file, "r+");
  openIndexes.set(file, index);
  return index;
}

/**
 * Has the next checkpoint bring over all of the log. SQLite counts pages as brought over before the database file is flushed, so if that flush
 * fails a later checkpoint would leave them out, and they may be missing in the file.
 */
function bringAllOnceMore(directory: string): void {
  writeSync(indexOf(directory), Buffer.alloc(4), 0, 4, BROUGHT_OVER_AT);
}

/** The same for a process that has not opened the database yet. Where nobody else has it open either, SQLite makes the index anew. */
export function distrustFound(directory: string): void {
  let index: number;
  try {
    index = openSync(indexFileOf(directory), "r+");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  try {
    if (fstatSync(index).size > BROUGHT_OVER_AT) writeSync(index, Buffer.alloc(4), 0, 4, BROUGHT_OVER_AT);
  } finally {
    closeSync(index);
  }
}
