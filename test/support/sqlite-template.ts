/**
 * An embedded store with the schema and nothing else, to begin with: the migrations take longer than most tests. It is made once in a whole
 * `npm test` (test/run.ts), or once in a test file that runs alone.
 */
import { constants, copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../src/drivers/sqlite/database.ts";
import { storeFiles } from "../../src/drivers/sqlite/store-files.ts";
import { migrate } from "../../src/store/sqlite/migrate.ts";

/** The environment variable that tells the tests of a run of the one they share. */
export const SHARED_TEMPLATE = "TEST_SQLITE_TEMPLATE";

export interface SqliteTemplate {
  readonly directory: string;
  remove(): void;
}

export function makeSqliteTemplate(parent = tmpdir()): SqliteTemplate {
  const directory = mkdtempSync(join(parent, "heliograph-template-"));
  const db = openDatabase(directory);
  migrate(db);
  // With the last connection the log is in the database, which is then one file.
  db.close();
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

let own: SqliteTemplate | null = null;

function templateDirectory(): string {
  const given = process.env[SHARED_TEMPLATE];
  if (given !== undefined) return given;
  if (own === null) {
    own = makeSqliteTemplate();
    process.on("exit", own.remove);
  }
  return own.directory;
}

/** Gives a data directory a store, unless it has one. */
export function layTemplate(directory: string): void {
  const [database] = storeFiles(directory);
  if (existsSync(database!)) return;
  const [template] = storeFiles(templateDirectory());
  copyFileSync(template!, database!, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
}
