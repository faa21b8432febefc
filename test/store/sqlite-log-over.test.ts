/** SQLite's log, written over itself and read anew: what is wrong in it never comes into the database file, and is noticed. */
import assert from "node:assert/strict";
import { closeSync, copyFileSync, openSync, readFileSync, readSync, statSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type Database from "better-sqlite3";
import { openDatabase } from "../../src/drivers/sqlite/database.ts";
import { readLogEnd, writeLogOver } from "../../src/drivers/sqlite/log-over.ts";
import { indexFileOf, logFileOf } from "../../src/drivers/sqlite/store-files.ts";
import { temporaryDirectory } from "../support/service.ts";
import { FILE, FRAME_BYTES, overwrite } from "./failing-disk.ts";

const HEADER_BYTES = 32;
const PAGE_BYTES = 4_096;

interface Made {
  readonly directory: string;
  readonly db: Database.Database;
  readonly log: string;
}

/** A log with as many commits as are asked for, each of two frames and more. */
async function makeLog(t: TestContext, commits: number): Promise<Made> {
  const directory = await temporaryDirectory(t);
  const db = openDatabase(directory);
  t.after(() => db.close());
  db.pragma("wal_autocheckpoint = 0");
  db.exec("CREATE TABLE page (number INTEGER PRIMARY KEY, content BLOB)");
  db.pragma("wal_checkpoint(TRUNCATE)");
  add(db, commits);
  return { directory, db, log: logFileOf(directory) };
}

function add(db: Database.Database, commits: number): void {
  const insert = db.prepare("INSERT INTO page (content) VALUES (randomblob(4000))");
  for (let count = 0; count < commits; count++) insert.run();
}

/** Writes the log over, has SQLite read it anew, and returns where it ended and where it ends. */
function readAnew({ directory, db }: Made): { before: string; after: string; frames: number } {
  db.exec("BEGIN IMMEDIATE");
  const before = writeLogOver(directory, PAGE_BYTES);
  db.exec("ROLLBACK");
  db.pragma("user_version");
  const { frames, mark } = readLogEnd(directory);
  return { before, after: mark, frames };
}

const countOf = (db: Database.Database) => db.prepare("SELECT count(*) FROM page").pluck().get() as number;
const startOf = (frame: number): number => HEADER_BYTES + frame * FRAME_BYTES;

test("a log that is right is written over as it is, to its last frame, and none counts as brought over", async (t) => {
  // More than are copied at once.
  const made = await makeLog(t, 500);
  const { directory, db, log } = made;
  db.pragma("wal_checkpoint(PASSIVE)");
  const before = readFileSync(log);
  const end = readLogEnd(directory);
  const size = (): unknown => (db.pragma("wal_checkpoint(NOOP)") as unknown[])[0];
  assert.ok(end.frames > 500);
  assert.deepEqual(size(), { busy: 0, log: end.frames, checkpointed: end.frames });
  assert.deepEqual(readAnew(made), { before: end.mark, after: end.mark, frames: end.frames });
  assert.ok(readFileSync(log).equals(before));
  assert.deepEqual(size(), { busy: 0, log: end.frames, checkpointed: 0 });
  assert.equal(countOf(db), 500);
});

test("of a log that has begun anew what is left of the one before is cut off", async (t) => {
  const made = await makeLog(t, 20);
  const { db, log } = made;
  const { size } = statSync(log);
  db.pragma("wal_checkpoint(RESTART)");
  add(db, 2);
  assert.equal(statSync(log).size, size);
  const { before, after, frames } = readAnew(made);
  assert.equal(before, after);
  assert.ok(frames < 10);
  assert.equal(statSync(log).size, startOf(frames));
  assert.equal(countOf(db), 22);
});

test("a commit that failed does not count, though it is whole in the log", async (t) => {
  const made = await makeLog(t, 5);
  const { directory, db } = made;
  // The index as it was before the last commit: what SQLite leaves when it cannot flush one.
  const index = openSync(indexFileOf(directory), "r+");
  const head = Buffer.alloc(96);
  readSync(index, head, 0, head.length, 0);
  add(db, 1);
  writeSync(index, head, 0, head.length, 0);
  const { before, after } = readAnew(made);
  assert.equal(before, after);
  assert.equal(countOf(db), 5);
  add(db, 1);
  assert.equal(countOf(db), 6);
  assert.equal(db.pragma("integrity_check", { simple: true }), "ok");
  db.close();
  closeSync(index);
});

test("a frame that is wrong is noticed, however it is wrong, and only what is before it counts", async (t) => {
  const wrong: [string, number, (made: Made, whole: Buffer) => void][] = [
    ["zeroes", 7, ({ log }) => overwrite(log, Buffer.alloc(FRAME_BYTES), startOf(7))],
    [
      "one octet of a page",
      9,
      ({ log }, whole) => overwrite(log, Buffer.of(whole[startOf(9) + 100]! ^ 1), startOf(9) + 100),
    ],
    ["the number of a page", 3, ({ log }) => overwrite(log, Buffer.of(77), startOf(3) + 3)],
    ["salts of another log", 5, ({ log }) => overwrite(log, Buffer.alloc(8, 1), startOf(5) + 8)],
    ["an earlier frame", 4, ({ log }, whole) => overwrite(log, whole.subarray(startOf(2), startOf(3)), startOf(4))],
    ["an end too soon", 11, ({ log }) => truncateSync(log, startOf(11) + 50)],
    ["the header", 0, ({ log }) => overwrite(log, Buffer.alloc(4), 16)],
    ["no header", 0, ({ log }) => truncateSync(log, 0)],
  ];
  for (const [name, right, damage] of wrong) {
    const made = await makeLog(t, 20);
    damage(made, readFileSync(made.log));
    const { before, after, frames } = readAnew(made);
    assert.notEqual(before, after, name);
    assert.ok(frames <= right && frames > right - 4, `${name}: ${frames}`);
  }
});

test("frames that are right and not the last that were written are noticed", async (t) => {
  const made = await makeLog(t, 5);
  const { directory, db, log } = made;
  const change = () => db.exec("UPDATE page SET content = randomblob(4000) WHERE number = 1");
  const index = openSync(indexFileOf(directory), "r+");
  const head = Buffer.alloc(96);
  readSync(index, head, 0, head.length, 0);
  // The same number of frames in the same places: what was there before one was written anew.
  change();
  const earlier = readFileSync(log);
  writeSync(index, head, 0, head.length, 0);
  change();
  assert.equal(statSync(log).size, earlier.length);
  overwrite(log, earlier, 0);
  const { frames } = readLogEnd(directory);
  const now = readAnew(made);
  assert.equal(now.frames, frames);
  assert.notEqual(now.before, now.after);
  db.close();
  closeSync(index);
});

test("what is behind a wrong frame does not come into the file, as the database is closed", async (t) => {
  const made = await makeLog(t, 20);
  const { directory, db, log } = made;
  const beside = await temporaryDirectory(t);
  overwrite(log, Buffer.alloc(FRAME_BYTES), startOf(10));
  db.exec("BEGIN IMMEDIATE");
  writeLogOver(directory, PAGE_BYTES);
  db.exec("ROLLBACK");
  db.close();
  copyFileSync(join(directory, FILE), join(beside, FILE));
  const left = openDatabase(beside);
  t.after(() => left.close());
  assert.equal(left.pragma("integrity_check", { simple: true }), "ok");
  const kept = countOf(left);
  assert.ok(kept > 0 && kept < 20, `${kept}`);
});
