/**
 * Whether a write that failed may have found no place: then nothing is wrong with the disk, and it passes. SQLite says "full" only of a disk that
 * is; a quota, or a limit on the size of files, is an I/O error to it like one of the disk. The system's own error tells them apart.
 */
import { closeSync, openSync, statfsSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";

/** With less room than this an error is taken to be about that. */
const MIN_FREE_BYTES = 16 * 1024 * 1024;
const TRIED_BYTES = 64 * 1024;
const NO_ROOM = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** `atByte` is where a file of that directory would have to grow. A disk that cannot even be asked is no full one. */
export function hasRoom(directory: string, atByte: number): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory);
    if (bavail * bsize < MIN_FREE_BYTES) return false;
    tryToWrite(join(directory, `room.${process.pid}`), atByte);
    return true;
  } catch (error) {
    return !NO_ROOM.has((error as NodeJS.ErrnoException).code ?? "");
  }
}

/** A file with a hole takes no more room than what is written. */
function tryToWrite(file: string, atByte: number): void {
  const handle = openSync(file, "w", 0o600);
  try {
    const octets = Buffer.alloc(TRIED_BYTES);
    for (let done = 0; done < octets.length; )
      done += writeSync(handle, octets, done, octets.length - done, atByte + done);
  } finally {
    closeSync(handle);
    unlinkSync(file);
  }
}
