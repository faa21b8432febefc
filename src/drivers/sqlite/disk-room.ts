/**
 * Whether a write that failed may have found no place: then nothing is wrong with the disk, and it passes. SQLite says "full" only of a disk that
 * is; a quota, or a limit on the size of files, is an I/O error to it like one of the disk. The system's own error tells them apart.
 */
import { closeSync, fsyncSync, openSync, statfsSync, unlinkSync, writeSync } from "node:fs";
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
  } catch {
    return true;
  }
  return !NO_ROOM.has(whyNothingIsWritten(directory, atByte) ?? "");
}

/** The system's code for why a file of that directory cannot grow there; null if it can. */
export function whyNothingIsWritten(directory: string, atByte: number): string | null {
  try {
    tryToWrite(join(directory, `room.${process.pid}`), atByte);
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? null;
  }
}

/** A file with a hole takes no more room than what is written. It has no name while it is written: whoever is killed meanwhile leaves nothing behind. */
function tryToWrite(file: string, atByte: number): void {
  const handle = openSync(file, "w", 0o600);
  const isNameless = isDeleted(file);
  try {
    const octets = Buffer.alloc(TRIED_BYTES);
    for (let done = 0; done < octets.length; )
      done += writeSync(handle, octets, done, octets.length - done, atByte + done);
    // Some disks take what they have no room for, and say so only now.
    fsyncSync(handle);
  } finally {
    closeSync(handle);
    if (!isNameless) unlinkSync(file);
  }
}

/** Windows may not delete what is open. */
function isDeleted(file: string): boolean {
  try {
    unlinkSync(file);
    return true;
  } catch {
    return false;
  }
}
