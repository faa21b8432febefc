/**
 * The thread beside the store's that brings SQLite's log into the database file, while commits go on. That takes some milliseconds for every few
 * megabytes of log, and would otherwise be done by a commit, with everyone waiting for it.
 *
 * It has to be done to the end before the log can begin anew, and while others write it never comes to its end: so the store's own connection
 * does what is left when the log has grown to several times of what is done here at once (`leaveCheckpoints`).
 */
import { parentPort, workerData } from "node:worker_threads";
import { Repeating, systemClock } from "../runtime/clock.ts";
import { openDatabase } from "../store/sqlite/database.ts";

export interface CheckpointThreadData {
  readonly directory: string;
}

/** Pages of log that are brought over at once, at least. */
const DUE_PAGES = 1_000;
const LOOK_EVERY_MS = 50;

const { directory } = workerData as CheckpointThreadData;
const db = openDatabase(directory);

const looking = new Repeating(systemClock, LOOK_EVERY_MS, async () => {
  // Pages in the log, and how many of them are in the file.
  const [{ log, checkpointed }] = db.pragma("wal_checkpoint(NOOP)") as [{ log: number; checkpointed: number }];
  if (log - checkpointed >= DUE_PAGES) db.pragma("wal_checkpoint(PASSIVE)");
});

parentPort!.once("message", async () => {
  await looking.stop();
  db.close();
});
