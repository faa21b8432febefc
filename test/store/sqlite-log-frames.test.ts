/** SQLite's log, written over itself: every frame is looked at, and what is wrong never comes into the database file. */
import assert from "node:assert/strict";
import { closeSync, copyFileSync, openSync, readFileSync, statSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type Database from "better-sqlite3";
import { openDatabase } from "../../src/drivers/sqlite/database.ts";
import { writeLogOver } from "../../src/drivers/sqlite/log-frames.ts";
import { bringAllOnceMore, makeIndexAnew, readLogEnd } from "../../src/drivers/sqlite/log-index.ts";
import { temporaryDirectory } from "../support/service.ts";

const FILE = "heliograph.sqlite";
const HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 4_096;

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
  return { directory, db, log: join(directory, `${FILE}-wal`) };
}

function add(db: Database.Database, commits: number): void {
  const insert = db.prepare("INSERT INTO page (content) VALUES (randomblob(4000))");
  for (let count = 0; count < commits; count++) insert.run();
}

function overwrite(file: string, octets: Buffer, at: number): void {
  const handle = openSync(file, "r+");
  writeSync(handle, octets, 0, octets.length, at);
  closeSync(handle);
}

const startOf = (frame: number): number => HEADER_BYTES + frame * FRAME_BYTES;

test("a log that is right is written over as it is, to its last frame", async (t) => {
  // More than are read at once.
  const { directory, db, log } = await makeLog(t, 500);
  const before = readFileSync(log);
  const end = readLogEnd(directory);
  assert.equal(end.frames, (db.pragma("wal_checkpoint(NOOP)") as [{ log: number }])[0].log);
  assert.ok(end.frames > 500);
  assert.equal(writeLogOver(log, end), end.frames);
  assert.ok(readFileSync(log).equals(before));
});

test("a log that has begun anew is right as far as it goes, with what is left of the one before behind it", async (t) => {
  const { directory, db, log } = await makeLog(t, 20);
  const { size } = statSync(log);
  db.pragma("wal_checkpoint(RESTART)");
  add(db, 2);
  assert.equal(statSync(log).size, size);
  const end = readLogEnd(directory);
  assert.ok(end.frames < 10);
  assert.equal(writeLogOver(log, end), end.frames);
});

test("the first frame that is wrong is found, however it is wrong", async (t) => {
  const { directory, log } = await makeLog(t, 20);
  const end = readLogEnd(directory);
  const whole = readFileSync(log);
  const wrong: [string, number, () => void][] = [
    ["zeroes", 7, () => overwrite(log, Buffer.alloc(FRAME_BYTES), startOf(7))],
    ["one octet of a page", 9, () => overwrite(log, Buffer.of(whole[startOf(9) + 100]! ^ 1), startOf(9) + 100)],
    ["the number of a page", 3, () => overwrite(log, Buffer.of(77), startOf(3) + 3)],
    ["salts of another log", 5, () => overwrite(log, Buffer.alloc(8, 1), startOf(5) + 8)],
    ["an earlier frame", 4, () => overwrite(log, whole.subarray(startOf(2), startOf(3)), startOf(4))],
    ["an end too soon", 11, () => truncateSync(log, startOf(11) + 50)],
    ["the header", 0, () => overwrite(log, Buffer.alloc(4), 16)],
    ["no header", 0, () => truncateSync(log, 0)],
  ];
  for (const [name, right, damage] of wrong) {
    damage();
    assert.equal(writeLogOver(log, end), right, name);
    overwrite(log, whole, 0);
  }
  assert.equal(writeLogOver(log, end), end.frames);
});

test("frames that are right and not the last that were written are found by the checksum of all", async (t) => {
  const { directory, db, log } = await makeLog(t, 5);
  const earlier = readFileSync(log);
  const { frames } = readLogEnd(directory);
  db.exec("BEGIN; UPDATE page SET content = randomblob(4000) WHERE number = 1; COMMIT");
  const end = readLogEnd(directory);
  const now = { ...end, frames };
  overwrite(log, earlier, 0);
  assert.ok(writeLogOver(log, now) < frames);
});

test("with its index made invalid a log with a wrong frame comes into the file only up to there, as it is closed", async (t) => {
  const { directory, db, log } = await makeLog(t, 20);
  const beside = await temporaryDirectory(t);
  const end = readLogEnd(directory);
  overwrite(log, Buffer.alloc(FRAME_BYTES), startOf(10));
  db.exec("BEGIN IMMEDIATE");
  bringAllOnceMore(directory);
  assert.ok(writeLogOver(log, end) < end.frames);
  makeIndexAnew(directory);
  db.exec("ROLLBACK");
  db.close();
  copyFileSync(join(directory, FILE), join(beside, FILE));
  const left = openDatabase(beside);
  t.after(() => left.close());
  assert.equal(left.pragma("integrity_check", { simple: true }), "ok");
  const kept = left.prepare("SELECT count(*) FROM page").pluck().get() as number;
  assert.ok(kept > 0 && kept < 20, `${kept}`);
});
