/** Brings the schema of the embedded store up to date: numbered files, applied once, by whoever has the data directory for himself. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DataDirectoryInUse, type Db, lockDirectory } from "../../drivers/sqlite/database.ts";
import { MigrationRefused } from "../port/errors.ts";

const MIGRATIONS = join(import.meta.dirname, "migrations");

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
