/** The doctor on the disk of the embedded store: how much room is left. */
import { statfsSync } from "node:fs";
import type { Findings } from "./finding.ts";

const MEGABYTE = 1024 ** 2;
const GIGABYTE = 1024 * MEGABYTE;
const LEAST_FREE_BYTES = GIGABYTE / 4;
const GOOD_FREE_BYTES = 2 * GIGABYTE;

/** "54 MB", "2.5 GB" */
export function roomWords(octets: number): string {
  return octets < GIGABYTE ? `${Math.floor(octets / MEGABYTE)} MB` : `${(octets / GIGABYTE).toFixed(1)} GB`;
}

export function lookAtRoom(data: string, found: Findings): void {
  const { bavail, bsize } = statfsSync(data);
  const free = bavail * bsize;
  const told = `${roomWords(free)} are free on the disk of ${data}`;
  const mend = "free some room, move the data, or set [store] retentionDays so that old messages go";
  if (free < LEAST_FREE_BYTES) found.wrong("disk", told, mend);
  else if (free < GOOD_FREE_BYTES) found.warn("disk", told, mend);
  else found.ok("disk", told);
}
