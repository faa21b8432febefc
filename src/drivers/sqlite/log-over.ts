/**
 * Has SQLite read its log (the file `-wal`) anew from the disk, as after a crash. After a flush that failed, pages of the log may be in memory only, or
 * gone from there too. So the log is written over itself and flushed, and SQLite's index of it (the file `-shm`, memory that all who have the
 * database open share) is made invalid. Whoever reads next makes it anew: SQLite looks at the checksum of every frame then, leaves out all from the
 * first wrong one on, and counts none as brought over to the database file.
 *
 * The layouts are in https://sqlite.org/walformat.html. Whoever calls this has the writer's place.
 */
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { indexFileOf, logFileOf } from "./store-files.ts";

const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const COPIED_BYTES = 1 << 20;
/** The head of the index is there twice, and is valid while both are the same. */
const INDEX_HEAD_BYTES = 48;

/** Where the log ends, by the index. */
export interface LogEnd {
  readonly frames: number;
  /** The same only for the same frames: it has their number, the checksum over all of them, and the salts of the log. Empty if there are none. */
  readonly mark: string;
}

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
  // Its words are as this machine has them.
  const words = new Uint32Array(INDEX_HEAD_BYTES / Uint32Array.BYTES_PER_ELEMENT);
  readSync(indexOf(directory), words, 0, INDEX_HEAD_BYTES, 0);
  const frames = words[4]!;
  return { frames, mark: frames === 0 ? "" : words.subarray(4, 10).join() };
}

/** Returns the mark of where the log ends. A commit that failed is behind that, perhaps whole: it is cut off, or it would count from now on. */
export function writeLogOver(directory: string, pageBytes: number): string {
  const { frames, mark } = readLogEnd(directory);
  const bytes = frames === 0 ? 0 : LOG_HEADER_BYTES + frames * (FRAME_HEADER_BYTES + pageBytes);
  const log = openSync(logFileOf(directory), "r+");
  try {
    const octets = Buffer.alloc(COPIED_BYTES);
    for (let at = 0; at < bytes; ) {
      const length = readSync(log, octets, 0, Math.min(octets.length, bytes - at), at);
      if (length === 0) break;
      for (let done = 0; done < length; ) done += writeSync(log, octets, done, length - done, at + done);
      at += length;
    }
    ftruncateSync(log, bytes);
    fsyncSync(log);
  } finally {
    // SQLite has no locks on this file that closing it would give up.
    closeSync(log);
  }
  writeSync(indexOf(directory), Buffer.alloc(INDEX_HEAD_BYTES), 0, INDEX_HEAD_BYTES, INDEX_HEAD_BYTES);
  return mark;
}
