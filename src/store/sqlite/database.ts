/** Opens the SQLite database: durable settings, numbered migrations, and the lock that lets one service at a time deliver from it. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";

export type Db = Database.Database;

const MIGRATIONS = join(import.meta.dirname, "migrations");

export class DataDirectoryInUse extends Error {
  constructor(directory: string) {
    super(`another Heliograph already runs on ${directory}: stop it first, or name another directory with --data`);
  }
}

const PASSING = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|NOMEM|READONLY|PROTOCOL)/;

/** Whether the database is busy, full or broken: that is so for everything, and the same may work later. */
export function isPassing(error: unknown): error is InstanceType<typeof Database.SqliteError> {
  return error instanceof Database.SqliteError && PASSING.test(error.code);
}

export function openDatabase(directory: string): Db {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // The time-out is for the command line writing beside a running service.
  const db = new Database(join(directory, "heliograph.sqlite"), { timeout: 5_000 });
  db.pragma("journal_mode = WAL");
  // FULL flushes the log at every commit: a 200 is sent only for what a power cut leaves behind.
  db.pragma("synchronous = FULL");
  db.pragma("foreign_keys = ON");
  db.pragma("temp_store = MEMORY");
  db.pragma("cache_size = -16384");
  return db;
}

/** Brings the schema up to date and returns how many steps that took. Safe to run twice, and by two processes at once. */
export function migrate(db: Db): number {
  const files = readdirSync(MIGRATIONS)
    .filter((name) => /^\d{3}-.*\.sql$/.test(name))
    .sort();
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

/**
 * Holds the data directory for this process. The lock is an open transaction on a file beside the database, so the
 * operating system drops it however the process ends.
 */
export function lockDirectory(directory: string): () => void {
  const lock = new Database(join(directory, "heliograph.lock"), { timeout: 0 });
  try {
    lock.exec("BEGIN EXCLUSIVE");
  } catch {
    lock.close();
    throw new DataDirectoryInUse(directory);
  }
  return () => lock.close();
}
