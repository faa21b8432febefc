/**
 * SQLite's index of its log (the file `-shm`), memory that all who have the database open share. It says how far the log goes and how much of it is
 * in the database file. SQLite trusts it; after an I/O error some of it has to be set right from outside, by the layout in
 * https://sqlite.org/walformat.html. Whoever changes it has the writer's place.
 */
import { closeSync, fstatSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { endianness } from "node:os";
import { indexFileOf } from "./database.ts";

/** Where the log ends. */
export interface LogEnd {
  readonly frames: number;
  /** Of the log's header, and of every frame that belongs to it. */
  readonly salts: Buffer;
  /** Of all frames together. */
  readonly checksum: readonly [number, number];
  /** Of the database, with what is in the log. */
  readonly databaseBytes: number;
}

/** The head is there twice, and is valid while both are the same. "nBackfill" is behind them. */
const HEAD_BYTES = 48;
const SECOND_CHECKSUM_AT = HEAD_BYTES + 40;
const BROUGHT_OVER_AT = 2 * HEAD_BYTES;

/** For each index the file as it was opened. It stays open: to close a file gives up all locks that the process has on it, SQLite's among them. */
const openIndexes = new Map<string, number>();

function indexOf(directory: string): number {
  const file = indexFileOf(directory);
  const known = openIndexes.get(file);
  if (known !== undefined) {
    if (fstatSync(known).ino === statSync(file).ino) return known;
    // The last connection took that one away, and nobody has a lock on it.
    openIndexes.delete(file);
    closeSync(known);
  }
  const index = openSync(file, "r+");
  openIndexes.set(file, index);
  return index;
}

export function readLogEnd(directory: string): LogEnd {
  const head = Buffer.alloc(HEAD_BYTES);
  readSync(indexOf(directory), head, 0, HEAD_BYTES, 0);
  const at16 = (at: number): number => (endianness() === "LE" ? head.readUInt16LE(at) : head.readUInt16BE(at));
  const at32 = (at: number): number => (endianness() === "LE" ? head.readUInt32LE(at) : head.readUInt32BE(at));
  // The largest size of a page does not fit, and is written as 1.
  const pageBytes = at16(14) === 1 ? 65_536 : at16(14);
  return {
    frames: at32(16),
    databaseBytes: at32(20) * pageBytes,
    checksum: [at32(24), at32(28)],
    salts: head.subarray(32, 40),
  };
}

/**
 * Has the next checkpoint bring over all of the log. SQLite counts pages as brought over before the database file is flushed, so if that flush
 * fails a later checkpoint would leave them out, and they may be missing in the file.
 */
export function bringAllOnceMore(directory: string): void {
  writeSync(indexOf(directory), Buffer.alloc(4), 0, 4, BROUGHT_OVER_AT);
}

/** The same for a process that has not opened the database yet. Where nobody else has it open either, SQLite makes the index anew. */
export function distrustFound(directory: string): void {
  try {
    if (fstatSync(indexOf(directory)).size > BROUGHT_OVER_AT) bringAllOnceMore(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

/** Makes the index invalid: whoever uses it next, be it to read, to bring the log over or to close, first makes it anew from the log as that is. */
export function makeIndexAnew(directory: string): void {
  const checksum = Buffer.alloc(8);
  readSync(indexOf(directory), checksum, 0, 8, SECOND_CHECKSUM_AT);
  writeSync(
    indexOf(directory),
    checksum.map((octet) => octet ^ 0xff),
    0,
    8,
    SECOND_CHECKSUM_AT,
  );
}
