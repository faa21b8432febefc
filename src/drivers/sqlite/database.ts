/** Opens the SQLite database: durable settings, what its errors mean, and the lock that lets one service at a time deliver from it. */
import { existsSync } from "node:fs";
import Database from "better-sqlite3";
import { databaseFileOf, keepPrivate, lockFileOf } from "./store-files.ts";

export type Db = Database.Database;

export class DataDirectoryInUse extends Error {
  constructor(directory: string) {
    super(`another Heliograph already runs on ${directory}: stop it first, or name another directory with --data`);
  }
}

/** A command looks whether the directory is free, and has it for that moment. */
const LOCK_WAIT_MS = 500;

/** Busy, full or damaged: whatever is asked, the answer is the same. */
const FOR_ALL = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|NOMEM|READONLY|PROTOCOL|CORRUPT|NOTADB)/;
/** What stands in the way of writing only. */
const READABLE = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN)/;
/** The disk failed, or seems to have. */
const IO_ERROR = /^SQLITE_IOERR/;
/** These are about values. */
const REFUSED = /^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH|RANGE)/;
/** The driver says it with a TypeError, as it says of a value that has no place. */
const NOT_OPEN = /database connection is (not open|busy)/;

/** Whether everything would fail now, not only what was asked. */
export function failsForAll(error: unknown): boolean {
  return error instanceof Database.SqliteError && FOR_ALL.test(error.code);
}

/** Whether something may be missing on the disk that a flush was to bring there (write-ahead-log.ts). */
export function isIoError(error: unknown): boolean {
  return error instanceof Database.SqliteError && IO_ERROR.test(error.code);
}

/** Whether somebody else is in the way. */
export function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith("SQLITE_BUSY");
}

/** Whether the database is there, and only cannot be written to: the disk is full, or ill. Who is in the way of others is gone soon. */
export function canBeRead(error: unknown): boolean {
  return error instanceof Database.SqliteError && READABLE.test(error.code);
}

/**
 * Whether what was asked is at fault: its values have no place, or our own code fails on them. It would fail always. All else may work later,
 * so what the database says and is not known here is no refusal.
 */
export function isRefusal(error: unknown): boolean {
  if (error instanceof Database.SqliteError) return REFUSED.test(error.code);
  return !(error instanceof TypeError && NOT_OPEN.test(error.message));
}

/** For the command line writing beside a running service. */
export const BUSY_TIMEOUT_MS = 5_000;

export function openDatabase(directory: string): Db {
  const db = new Database(keepPrivate(directory, databaseFileOf), { timeout: BUSY_TIMEOUT_MS });
  db.pragma("journal_mode = WAL");
  // FULL flushes the log at every commit: a 200 is sent only for what a power cut leaves behind. write-ahead-log.ts has the rule.
  db.pragma("synchronous = FULL");
  db.pragma("foreign_keys = ON");
  db.pragma("temp_store = MEMORY");
  db.pragma("cache_size = -16384");
  return db;
}

/** To look at it and change nothing: who may only read does not bring the log over when he closes. */
export function openToRead(directory: string): Db {
  return new Database(databaseFileOf(directory), { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
}

/**
 * Holds the data directory for this process. The lock is an open transaction on a file beside the database, so the
 * operating system drops it however the process ends.
 */
export function lockDirectory(directory: string, waitMs = LOCK_WAIT_MS): () => void {
  const lock = new Database(keepPrivate(directory, lockFileOf), { timeout: waitMs });
  try {
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    // A disk that is read-only or full, or another user's file, is no other service.
    throw isBusy(error) ? new DataDirectoryInUse(directory) : error;
  }
  return () => lock.close();
}

/** The same for whoever can do without where a service has it: null then. */
export function lockIfFree(directory: string): (() => void) | null {
  try {
    return lockDirectory(directory, 0);
  } catch (error) {
    if (error instanceof DataDirectoryInUse) return null;
    throw error;
  }
}

/** Whether a service runs on the directory: it holds the lock for as long as it does, and a command only for a moment. Nothing is taken for it, or made. */
export function isServed(directory: string): boolean {
  const file = lockFileOf(directory);
  if (!existsSync(file)) return false;
  const lock = new Database(file, { readonly: true, fileMustExist: true, timeout: LOCK_WAIT_MS });
  try {
    lock.prepare("SELECT count(*) FROM sqlite_master").get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    lock.close();
  }
}
