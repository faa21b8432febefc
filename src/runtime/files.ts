/**
 * Files that a setting or the catalogue names, read with a bound. A name may lead to anything: a device that never ends, a pipe that
 * nobody writes to, a file of gigabytes.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { open } from "node:fs/promises";

/** Certificates, keys and settings have some kilobytes. */
export const MAX_FILE_OCTETS = 1_048_576;
/** A catalogue has a line for each price. */
export const MAX_CATALOGUE_OCTETS = 16 * MAX_FILE_OCTETS;

const PIECE_OCTETS = 65_536;

/** A file cannot be read, or is none; the message says why. */
export class FileFault extends Error {}

interface Stats {
  isFile(): boolean;
  isFIFO(): boolean;
  readonly size: number;
}

function check(path: string, stats: Stats, maxOctets: number, mayBePipe: boolean): void {
  if (!stats.isFile() && !(mayBePipe && stats.isFIFO())) throw new FileFault(`${path} is not a file`);
  if (stats.size > maxOctets) throw tooLarge(path, maxOctets);
}

function tooLarge(path: string, maxOctets: number): FileFault {
  return new FileFault(`${path} is larger than ${maxOctets} octets`);
}

/** The text of a regular file. Waits for nobody: a pipe without a writer is opened at once, and is then none. */
export async function readSmallFile(path: string, maxOctets = MAX_FILE_OCTETS): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    check(path, await file.stat(), maxOctets, false);
    // The size is not to be relied on: a file can grow, and those of /proc have none.
    const pieces: Buffer[] = [];
    for (let length = 0; ; ) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE_OCTETS), 0, PIECE_OCTETS);
      if (bytesRead === 0) return Buffer.concat(pieces, length).toString("utf8");
      length += bytesRead;
      if (length > maxOctets) throw tooLarge(path, maxOctets);
      pieces.push(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

/** The same for the command line, whose user may name a pipe of his own, such as <(command): he waits for it himself. */
export function readGivenFile(path: string, maxOctets = MAX_FILE_OCTETS): string {
  const file = openSync(path, constants.O_RDONLY);
  try {
    check(path, fstatSync(file), maxOctets, true);
    const pieces: Buffer[] = [];
    for (let length = 0; ; ) {
      const piece = Buffer.allocUnsafe(PIECE_OCTETS);
      const read = readSync(file, piece, 0, piece.length, null);
      if (read === 0) return Buffer.concat(pieces, length).toString("utf8");
      length += read;
      if (length > maxOctets) throw tooLarge(path, maxOctets);
      pieces.push(piece.subarray(0, read));
    }
  } finally {
    closeSync(file);
  }
}
