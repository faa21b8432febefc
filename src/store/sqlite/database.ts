/** Opens the SQLite database: durable settings, numbered migrations, and the lock that lets one service at a time deliver from it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { makePrivateDirectory, makePrivateFile, protectFile, tooOpen } from "../../runtime/private-files.ts";
import { MigrationRefused } from "../port/errors.ts";

export type Db = Database.Database;

const MIGRATIONS = join(import.meta.dirname, "migrations");

export class DataDirectoryInUse extends Error {
  constructor(directory: string) {
    super(`another Heliograph already runs on ${directory}: stop it first, or name another directory with --data`);
  }
}

/** A command looks whether the directory is free, and has it for that moment. */
const LOCK_WAIT_MS = 500;

const DATABASE = "heliograph.sqlite";
const LOCK = "heliograph.lock";
/** What SQLite puts beside a database, with the rights of the database. */
const BESIDE = ["-wal", "-shm", "-journal"];

/** The index of SQLite's log, in memory that all who have the database open share. */
export function indexFileOf(directory: string): string {
  return join(directory, `${DATABASE}-shm`);
}

/** There are messages and secrets in these files. They are made before SQLite would make them with the rights that the umask leaves. */
function keepPrivate(directory: string, name: string): string {
  makePrivateDirectory(directory);
  const file = join(directory, name);
  makePrivateFile(file);
  for (const suffix of BESIDE) protectFile(`${file}${suffix}`);
  return file;
}

/** What others can see of a data directory, in words. What belongs to another user cannot be mended from here. */
export function openToOthers(directory: string): string[] {
  const files = [DATABASE, LOCK].flatMap((name) => [name, ...BESIDE.map((suffix) => name + suffix)]);
  return [directory, ...files.map((name) => join(directory, name))].map(tooOpen).filter((says) => says !== null);
}

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
  const db = new Database(keepPrivate(directory, DATABASE), { timeout: BUSY_TIMEOUT_MS });
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
  return new Database(join(directory, DATABASE), { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
}

function migrations(): string[] {
  return readdirSync(MIGRATIONS)
    .filter((name) => /^\d{3}-.*\.sql$/.test(name))
    .sort();
}

/**
 * Brings the schema up to date and returns how many steps that took. Safe to run twice. For whoever holds the directory (`lockDirectory`): a
 * service must not find another schema than its own under it.
 */
export function migrate(db: Db): number {
  const files = migrations();
  return db
    .transaction(() => {
      const applied = db.pragma("user_version", { simple: true }) as number;
      if (applied > files.length) throw new Error("the data is from a newer Heliograph than this one");
      for (const file of files.slice(applied)) db.exec(readFileSync(join(MIGRATIONS, file), "utf8"));
      db.pragma(`user_version = ${files.length}`);
      return files.length - applied;
    })
    .immediate();
}

export function isMigrated(db: Db): boolean {
  return (db.pragma("user_version", { simple: true }) as number) === migrations().length;
}

/** The same for a command that works beside a service: it takes the directory for as long as it migrates, and refuses where it cannot. */
export function migrateAlone(db: Db, directory: string): number {
  if (isMigrated(db)) return 0;
  if ((db.pragma("user_version", { simple: true }) as number) > migrations().length) return migrate(db);
  let unlock: () => void;
  try {
    unlock = lockDirectory(directory);
  } catch (error) {
    if (error instanceof DataDirectoryInUse) throw new MigrationRefused(`a service runs on ${directory}`);
    throw error;
  }
  try {
    return migrate(db);
  } finally {
    unlock();
  }
}

/**
 * Holds the data directory for this process. The lock is an open transaction on a file beside the database, so the
 * operating system drops it however the process ends.
 */
export function lockDirectory(directory: string, waitMs = LOCK_WAIT_MS): () => void {
  const lock = new Database(keepPrivate(directory, LOCK), { timeout: waitMs });
  try {
    lock.exec("BEGIN EXCLUSIVE");
  } catch {
    lock.close();
    throw new DataDirectoryInUse(directory);
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
