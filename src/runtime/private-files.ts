/**
 * Files for their owner alone: what holds messages, passwords or secrets is 0600 in directories of 0700, whatever the umask and whatever was
 * there before.
 *
 * Rights are looked at and set by path. A database that is in use is never opened here: when a process closes a file, the system drops all locks
 * that this process has on it, SQLite's too.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { publicId } from "./random.ts";

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const OTHERS = 0o077;
/** A secret in a file is a line or a few. */
const MAX_SECRET_BYTES = 65_536;

/** A file that must not be used as it is; the message says why. */
class UnsafeFile extends Error {}

/** Windows has other rights, which the directory hands on. */
const hasModes = process.platform !== "win32";

function found(path: string, look: (path: string) => Stats = lstatSync): Stats | null {
  try {
    return look(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Makes a directory with those above it. Not by Node's `recursive`, which never ends where the system says of a parent that it is not there, as below /proc. */
export function makeDirectories(path: string): void {
  const isThere = (): boolean => found(path, statSync)?.isDirectory() === true;
  if (isThere()) return;
  if (dirname(path) !== path) makeDirectories(dirname(path));
  try {
    mkdirSync(path, { mode: DIRECTORY_MODE });
  } catch (error) {
    // Somebody else may have made it meanwhile.
    if (!isThere()) throw error;
  }
}

/** Makes the directory, or takes others' rights to the one that is there. */
export function makePrivateDirectory(path: string): void {
  makeDirectories(path);
  narrow(path, statSync(path), DIRECTORY_MODE);
}

/** Makes an empty file, or takes others' rights to the one that is there. A link is refused: whoever made it chose where our data goes. */
export function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, FILE_MODE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  protectFile(path);
}

/** Takes others' rights to a file, if it is there. */
export function protectFile(path: string): void {
  const stats = found(path);
  if (stats === null) return;
  if (!stats.isFile()) {
    const what = stats.isSymbolicLink() ? "a symbolic link" : "no regular file";
    throw new UnsafeFile(`${path} is ${what}: put the file itself there`);
  }
  narrow(path, stats, FILE_MODE);
}

/** Somebody else's file, or a file system that has no rights or changes none (vfat, CIFS, NFS for a root that it does not trust). */
const CANNOT_CHANGE: ReadonlySet<unknown> = new Set(["EPERM", "EACCES", "EROFS", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/** What cannot be narrowed is used as it is: `tooOpen` tells of it at start. */
function narrow(path: string, { mode }: Stats, wanted: number): void {
  if (!hasModes || (mode & OTHERS) === 0) return;
  try {
    chmodSync(path, wanted);
  } catch (error) {
    if (!CANNOT_CHANGE.has((error as NodeJS.ErrnoException).code)) throw error;
  }
}

/** What others may do with a file or a directory that is there, in words; null if nothing. */
export function tooOpen(path: string): string | null {
  const stats = hasModes ? found(path, statSync) : null;
  if (stats === null || (stats.mode & OTHERS) === 0) return null;
  const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
  return `others on this machine can ${stats.isDirectory() ? "look into" : "use"} ${path} (${mode})`;
}

/** Writes a file for its owner alone: whole or not at all, a new one, or in place of one that is there. */
export function writePrivateFile(path: string, text: string, { replace }: { readonly replace: boolean }): void {
  const unfinished = replace ? `${path}.${publicId(6)}` : path;
  const file = openSync(unfinished, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, FILE_MODE);
  try {
    try {
      fchmodSync(file, FILE_MODE);
      const octets = Buffer.from(text);
      for (let at = 0; at < octets.length; ) at += writeSync(file, octets, at);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (replace) renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
  if (hasModes) flushFile(dirname(path));
}

/** A file, or the names in a directory: what was written is there after a power cut. */
export function flushFile(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** CR and LF. */
const LINE_ENDS: ReadonlySet<number> = new Set([0x0d, 0x0a]);

/** A secret from a file, without the line's end behind it. It may be a link: that is how orchestrators hand secrets out. */
export function readSecretFile(path: string): string {
  // Without O_NONBLOCK a pipe would have us wait for whoever writes to it.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new UnsafeFile(`${path} is no regular file`);
    if (stats.size > MAX_SECRET_BYTES) throw new UnsafeFile(`${path} has more than ${MAX_SECRET_BYTES} octets`);
    const octets = Buffer.alloc(MAX_SECRET_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < octets.length; length += read)
      read = readSync(file, octets, length, octets.length - length, null);
    if (length > MAX_SECRET_BYTES) throw new UnsafeFile(`${path} has more than ${MAX_SECRET_BYTES} octets`);
    while (length > 0 && LINE_ENDS.has(octets[length - 1]!)) length--;
    const text = octets.toString("utf8", 0, length);
    if (text === "") throw new UnsafeFile(`${path} is empty`);
    return text;
  } finally {
    closeSync(file);
  }
}
