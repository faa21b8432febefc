/** The thread for checkpoints, on a database that another connection writes to. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { CheckpointTurn } from "../../src/drivers/sqlite/checkpoint-turn.ts";
import { openDatabase } from "../../src/drivers/sqlite/database.ts";
import type { CheckpointOrder, CheckpointThreadData } from "../../src/threads/checkpoint.ts";
import { eventually, temporaryDirectory } from "../support/service.ts";

const PAGES = 3_000;

test("the log is brought into the file beside whoever writes, who then begins it anew", async (t) => {
  const directory = await temporaryDirectory(t);
  const db = openDatabase(directory);
  t.after(() => db.close());
  // The writer does nothing of it by itself.
  db.pragma("wal_autocheckpoint = 0");
  db.exec("CREATE TABLE page (content BLOB)");
  const write = db.prepare("INSERT INTO page VALUES (zeroblob(4000))");
  const sizeOfLog = () => (db.pragma("wal_checkpoint(NOOP)") as [{ log: number; checkpointed: number }])[0];

  const workerData: CheckpointThreadData = { directory, turn: new CheckpointTurn().memory };
  const worker = new Worker(new URL("../../src/threads/checkpoint.ts", import.meta.url), { workerData });
  t.after(() => worker.terminate());
  const version = db.pragma("data_version", { simple: true });
  for (let count = 0; count < PAGES; count++) write.run();
  assert.ok(sizeOfLog().log >= PAGES);
  worker.postMessage("due" satisfies CheckpointOrder);
  await eventually(async () => {
    const { log, checkpointed } = sizeOfLog();
    return log - checkpointed < 1_000;
  });
  assert.equal(db.pragma("data_version", { simple: true }), version, "nothing was written that we did not know");

  worker.postMessage("stop" satisfies CheckpointOrder);
  assert.deepEqual(await once(worker, "exit"), [0]);
  db.pragma("wal_checkpoint(PASSIVE)");
  write.run();
  assert.ok(sizeOfLog().log < 10);
  assert.equal(db.prepare("SELECT count(*) FROM page").pluck().get(), PAGES + 1);
});
