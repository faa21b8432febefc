/**
 * The thread beside the store's that brings SQLite's log into the database file, while commits go on. That takes some milliseconds for every few
 * megabytes of log, and would otherwise be done by a commit, with everyone waiting for it.
 *
 * It has to be done to the end before the log can begin anew, and while others write it never comes to its end: so the store's own connection
 * does what is left when the log has grown to several times of what is done here at once (`leaveCheckpoints`).
 *
 * It is started when the store first sees that the log is long enough, and sleeps until it sees that again.
 */
import { parentPort, workerData } from "node:worker_threads";
import { CheckpointTurn, DUE_PAGES } from "../drivers/sqlite/checkpoint-turn.ts";
import { openDatabase } from "../drivers/sqlite/database.ts";

export interface CheckpointThreadData {
  readonly directory: string;
  /** The memory of the turn, which the store's thread sees too: it must know of a checkpoint that failed before it commits anything more. */
  readonly turn: SharedArrayBuffer;
}

/** What the thread says: a checkpoint failed. It goes on. */
export interface CheckpointFault {
  readonly message: string;
}

/** What the thread is told: the log is long enough, or it is to end. */
export type CheckpointOrder = "due" | "stop";

const { directory, turn: memory } = workerData as CheckpointThreadData;
const turn = new CheckpointTurn(memory);
const db = openDatabase(directory);

parentPort!.on("message", (order: CheckpointOrder) => {
  if (order === "stop") {
    parentPort!.close();
    db.close();
    return;
  }
  try {
    // Pages in the log, and how many of them are in the file.
    const [{ log, checkpointed }] = db.pragma("wal_checkpoint(NOOP)") as [{ log: number; checkpointed: number }];
    if (log - checkpointed >= DUE_PAGES) turn.work(() => db.pragma("wal_checkpoint(PASSIVE)"));
  } catch (error) {
    parentPort!.postMessage({ message: (error as Error).message } satisfies CheckpointFault);
  }
});
