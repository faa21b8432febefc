/**
 * Writes SQLite's log over itself, so that the next flush is for all of it, and looks at every frame meanwhile. Pages that a flush has failed for
 * may be gone from memory: then what is read is older than what was written, and the checksums of the frames tell. SQLite itself looks at
 * them only when it makes its index anew, and would bring such frames into the database file.
 *
 * The log is a header of 32 octets, then frames: 24 octets of header and a page. All is big-endian but the words that are summed up, which the magic
 * number tells. Every checksum goes on from the one before (https://sqlite.org/walformat.html).
 */
import { closeSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import type { LogEnd } from "./log-index.ts";

type Sum = readonly [number, number];

const MAGIC = { little: 0x377f0682, big: 0x377f0683 };
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const PAGE_BYTES = { min: 512, max: 65_536 };
const COPIED_BYTES = 1 << 20;

/** How many frames are right, from the first one on. Only when all of them are is the log flushed. Nobody may write to it meanwhile. */
export function writeLogOver(file: string, { frames, salts, checksum }: Omit<LogEnd, "databaseBytes">): number {
  if (frames === 0) return 0;
  const log = openSync(file, "r+");
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    readAll(log, header, 0);
    const magic = header.readUInt32BE(0);
    const isLittle = magic === MAGIC.little;
    const pageBytes = header.readUInt32BE(8);
    let sum = add([0, 0], header.subarray(0, 24), isLittle);
    if (!isLittle && magic !== MAGIC.big) return 0;
    if (pageBytes < PAGE_BYTES.min || pageBytes > PAGE_BYTES.max) return 0;
    if (!is(sum, header, 24) || !salts.equals(header.subarray(16, 24))) return 0;
    writeAll(log, header, 0);

    const frameBytes = FRAME_HEADER_BYTES + pageBytes;
    const framesAtOnce = Math.ceil(COPIED_BYTES / frameBytes);
    const octets = Buffer.alloc(framesAtOnce * frameBytes);
    for (let done = 0; done < frames; done += framesAtOnce) {
      const some = octets.subarray(0, Math.min(framesAtOnce, frames - done) * frameBytes);
      const at = HEADER_BYTES + done * frameBytes;
      readAll(log, some, at);
      for (let from = 0; from < some.length; from += frameBytes) {
        const frame = some.subarray(from, from + frameBytes);
        sum = add(sum, frame.subarray(0, 8), isLittle);
        sum = add(sum, frame.subarray(FRAME_HEADER_BYTES), isLittle);
        if (!is(sum, frame, 16) || !salts.equals(frame.subarray(8, 16))) return done + from / frameBytes;
      }
      writeAll(log, some, at);
    }
    // Frames of an earlier time may be right by themselves.
    if (sum[0] !== checksum[0] || sum[1] !== checksum[1]) return frames - 1;
    fsyncSync(log);
    return frames;
  } finally {
    // SQLite has no locks on this file that closing it would give up.
    closeSync(log);
  }
}

function add([first, second]: Sum, octets: Buffer, isLittle: boolean): Sum {
  const words = new DataView(octets.buffer, octets.byteOffset, octets.length);
  for (let at = 0; at < octets.length; at += 8) {
    first = (first + words.getUint32(at, isLittle) + second) >>> 0;
    second = (second + words.getUint32(at + 4, isLittle) + first) >>> 0;
  }
  return [first, second];
}

function is([first, second]: Sum, octets: Buffer, at: number): boolean {
  return octets.readUInt32BE(at) === first && octets.readUInt32BE(at + 4) === second;
}

/** What the file does not have is 0. */
function readAll(file: number, octets: Buffer, at: number): void {
  let done = 0;
  while (done < octets.length) {
    const read = readSync(file, octets, done, octets.length - done, at + done);
    if (read === 0) break;
    done += read;
  }
  octets.fill(0, done);
}

function writeAll(file: number, octets: Buffer, at: number): void {
  for (let done = 0; done < octets.length; ) done += writeSync(file, octets, done, octets.length - done, at + done);
}
