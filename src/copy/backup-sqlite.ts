/**
 * Takes a backup of the embedded store, page by page of its file. All is read in one transaction: the pages are those of one moment, and services
 * go on writing meanwhile, to the log beside the file. Without the transaction every write of theirs would have the copy begin anew, and under
 * load it would never end. VACUUM INTO would do too, but it builds every index again and cannot say how far it is.
 */
import { join } from "node:path";
import { openDatabase, openToRead } from "../drivers/sqlite/database.ts";
import { migrate } from "../store/sqlite/migrate.ts";
import type { BackupOptions } from "./backup-options.ts";
import { CopyRefused } from "./copied-tables.ts";

/** Of 4 KiB each: some milliseconds, after which progress is told and a signal heard. */
const PAGES_A_STEP = 2_000;

export async function takePages({
  data,
  to,
  onProgress,
}: Pick<BackupOptions, "onProgress"> & { readonly data: string; readonly to: string }): Promise<void> {
  const db = openToRead(data);
  try {
    db.exec("BEGIN");
    // The transaction's moment is that of its first read.
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    await db.backup(join(to, "heliograph.sqlite"), {
      progress({ totalPages, remainingPages }) {
        onProgress?.({ table: null, done: totalPages - remainingPages, total: totalPages });
        return PAGES_A_STEP;
      },
    });
  } finally {
    db.close();
  }
  const made = openDatabase(to);
  try {
    const [fault] = made.pragma("quick_check(1)", { simple: false }) as { quick_check: string }[];
    if (fault?.quick_check !== "ok")
      throw new CopyRefused(`the file of ${data} is damaged, and so is every copy of it: ${fault?.quick_check}`);
    // An older store is backed up by a newer program before it is brought up to date.
    migrate(made);
  } finally {
    made.close();
  }
}
