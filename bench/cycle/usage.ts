/**
 * What processes that are not ours have used, as Linux tells in /proc. Where it does not (another system, or no right to look) there is
 * nothing to tell, and the figures are left out.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

export interface ThreadUsage {
  readonly id: number;
  /** As the program calls it: MainThread, V8Worker and so on. */
  readonly name: string;
  readonly cpuMicros: number;
  /** How long it could have run and had no core. */
  readonly waitMicros: number;
  /** How often it had nothing to do and was given something; Linux counts each time that it gives up its core by itself. */
  readonly wakeUps: number;
}

/** Every thread with the CPU time it has had. `schedstat` counts nanoseconds, where `stat` counts hundredths of a second. */
export function threadsOf(pid: number): ThreadUsage[] {
  let ids: string[];
  try {
    ids = readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
  return ids.flatMap((id) => {
    const times = read(`/proc/${pid}/task/${id}/schedstat`);
    const name = read(`/proc/${pid}/task/${id}/comm`)?.trim();
    if (times === null || name === undefined) return [];
    const [cpuMicros = 0, waitMicros = 0] = times.split(" ").map((nanos) => Number(nanos) / 1000);
    const switches = read(`/proc/${pid}/task/${id}/status`)?.match(/^voluntary_ctxt_switches:\s+(\d+)$/m);
    return [{ id: Number(id), name, cpuMicros, waitMicros, wakeUps: Number(switches?.[1] ?? 0) }];
  });
}

/** The process and all that it started, and they started. */
export function familyOf(pid: number): number[] {
  const children = new Map<number, number[]>();
  let entries: string[];
  try {
    entries = readdirSync("/proc");
  } catch {
    return [pid];
  }
  for (const entry of entries) {
    if (!/^\d+$/.test(entry)) continue;
    // The name, in brackets, may have spaces in it.
    const parent = read(`/proc/${entry}/stat`)
      ?.replace(/^.*\) /s, "")
      .split(" ")[1];
    if (parent === undefined) continue;
    const siblings = children.get(Number(parent));
    if (siblings === undefined) children.set(Number(parent), [Number(entry)]);
    else siblings.push(Number(entry));
  }
  const family = [pid];
  for (const member of family) family.push(...(children.get(member) ?? []));
  return family;
}

function kilobytes(pid: number, field: string): number | null {
  const line = read(`/proc/${pid}/status`)?.match(new RegExp(`^${field}:\\s+(\\d+) kB`, "m"));
  return line?.[1] === undefined ? null : Number(line[1]);
}

export function memoryBytes(pid: number): number | null {
  const size = kilobytes(pid, "VmRSS");
  return size === null ? null : size * 1024;
}

export function peakMemoryBytes(pid: number): number | null {
  const size = kilobytes(pid, "VmHWM");
  return size === null ? null : size * 1024;
}

/** What has been written to files, counted by whole pieces of the file cache: where those are large, it is more than reaches the disk. */
export function writtenBytes(pid: number): number | null {
  const match = read(`/proc/${pid}/io`)?.match(/^write_bytes: (\d+)$/m);
  return match?.[1] === undefined ? null : Number(match[1]);
}

/** Flushes of the whole device that a directory lies on, whoever asked for them. */
export function deviceFlushes(directory: string): number | null {
  let device: number;
  try {
    device = statSync(directory).dev;
  } catch {
    return null;
  }
  // As glibc's major() and minor() take a device number apart.
  const major = (device >> 8) & 0xfff;
  const minor = (device & 0xff) | ((device >> 12) & 0xfff00);
  for (const line of read("/proc/diskstats")?.split("\n") ?? []) {
    const fields = line.trim().split(/\s+/);
    if (Number(fields[0]) !== major || Number(fields[1]) !== minor) continue;
    // Two numbers and a name, then 15 fields; the 16th counts flushes.
    return fields[18] === undefined ? null : Number(fields[18]);
  }
  return null;
}
