/** Reads what the recorder (recorder.c) wrote down: what the service did to the files of its data directory, in order. */
import { readFileSync } from "node:fs";

/** By their numbers in the recorder. */
const KINDS = [
  "",
  "created",
  "written",
  "truncated",
  "flush begun",
  "flushed",
  "flush failed",
  "unlinked",
  "renamed",
] as const;
const FLUSHES = ["", "commit", "commits", "log", "database", "directory", "other"] as const;

/**
 * What a flush is for. A commit flushes SQLite's log from the thread that wrote it, and with it commits before it that were not flushed by themselves;
 * a checkpoint first flushes the log, from its own thread, and then the database.
 */
export type FlushKind = Exclude<(typeof FLUSHES)[number], "">;

interface At {
  /** When it happened, in nanoseconds of the monotonic clock. */
  readonly atNs: bigint;
}
export type Entry = At &
  (
    | { readonly kind: "created" | "unlinked"; readonly file: bigint; readonly name: string }
    | { readonly kind: "renamed"; readonly name: string; readonly newName: string }
    | { readonly kind: "written"; readonly file: bigint; readonly offset: number; readonly data: Buffer }
    | { readonly kind: "truncated"; readonly file: bigint; readonly size: number }
    | {
        readonly kind: "flush begun" | "flushed" | "flush failed";
        readonly file: bigint;
        readonly flush: FlushKind;
        /** The same for its beginning and its end. A service that is started again counts anew. */
        readonly number: number;
      }
  );

const HEAD_BYTES = 40;

export function readTrace(path: string): Entry[] {
  const octets = readFileSync(path);
  const entries: Entry[] = [];
  for (let at = 0; at < octets.length; ) {
    const length = Number(octets.readBigUInt64LE(at + 32));
    const data = octets.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length);
    entries.push(readEntry(octets.subarray(at, at + HEAD_BYTES), data));
    at += HEAD_BYTES + length;
  }
  return entries;
}

function readEntry(head: Buffer, data: Buffer): Entry {
  const kind = KINDS[head.readUInt32LE(0)];
  const flush = FLUSHES[head.readUInt32LE(4)];
  const file = head.readBigUInt64LE(8);
  const offset = Number(head.readBigUInt64LE(16));
  const atNs = head.readBigUInt64LE(24);
  switch (kind) {
    case "created":
    case "unlinked":
      return { kind, atNs, file, name: data.toString() };
    case "renamed": {
      const [name = "", newName = ""] = data.toString().split("\0");
      return { kind, atNs, name, newName };
    }
    case "written":
      return { kind, atNs, file, offset, data };
    case "truncated":
      return { kind, atNs, file, size: offset };
    case "flush begun":
    case "flushed":
    case "flush failed":
      if (flush !== undefined && flush !== "") return { kind, atNs, file, flush, number: offset };
  }
  throw new Error("the trace is not what this program reads");
}
