/** The doctor on the embedded store: its files, its schema, room on the disk and how long a flush takes. */
import { closeSync, fsyncSync, openSync, readdirSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../runtime/clock.ts";
import type { Settings } from "../../runtime/settings.ts";
import { openToOthers, openToRead } from "../../store/sqlite/database.ts";
import { JOURNAL_VERSION, JournalOfNewer } from "../../store/sqlite/journal.ts";
import { hasData } from "../support.ts";
import type { Findings } from "./finding.ts";

const MIGRATIONS = join(import.meta.dirname, "../../store/sqlite/migrations");
const GIGABYTE = 1024 ** 3;
const LEAST_FREE_BYTES = GIGABYTE / 4;
const GOOD_FREE_BYTES = 2 * GIGABYTE;
const FLUSHES = 5;
const SLOW_FLUSH_MS = 50;

/** Whether the store can be opened without changing it. */
export function lookAtSqlite(settings: Settings, found: Findings): boolean {
  const { data } = settings.store;
  if (!hasData(settings)) {
    found.wrong(
      "data",
      `there is no data in ${data}`,
      'set it up with "heliograph init", or name its directory with --data',
    );
    return false;
  }
  lookAtRights(data, found);
  lookAtDisk(data, found);
  return lookAtSchema(data, found) && lookAtJournal(data, found);
}

function lookAtRights(data: string, found: Findings): void {
  const open = openToOthers(data);
  if (open.length === 0) found.ok("data", data);
  else
    found.warn(
      "data",
      open.join("; "),
      `a start of the service closes what is its own; for the rest: chmod 700 ${data}; chmod 600 ${data}/heliograph.*`,
    );
}

function lookAtDisk(data: string, found: Findings): void {
  const { bavail, bsize } = statfsSync(data);
  const free = bavail * bsize;
  const told = `${(free / GIGABYTE).toFixed(1)} GB are free on the disk of ${data}`;
  const mend = "free some room, move the data, or set [store] retentionDays so that old messages go";
  if (free < LEAST_FREE_BYTES) found.wrong("disk", told, mend);
  else if (free < GOOD_FREE_BYTES) found.warn("disk", told, mend);
  else found.ok("disk", told);

  try {
    const ms = flushMs(data);
    const flush = `a flush to the disk takes ${ms.toFixed(1)} ms`;
    if (ms > SLOW_FLUSH_MS)
      found.warn("flush", flush, "every answer waits for one: use a disk that is local, or one with a protected cache");
    else found.ok("flush", flush);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    found.wrong("flush", `nothing can be written in ${data} (${code})`, "give this user the right to write there");
  }
}

/** The middle one of a few. */
function flushMs(data: string): number {
  const file = join(data, `doctor.${process.pid}`);
  const times: number[] = [];
  const handle = openSync(file, "w", 0o600);
  try {
    for (let count = 0; count < FLUSHES; count++) {
      const startedAt = systemClock.monotonic();
      writeSync(handle, Buffer.alloc(4_096));
      fsyncSync(handle);
      times.push(systemClock.monotonic() - startedAt);
    }
  } finally {
    closeSync(handle);
    rmSync(file, { force: true });
  }
  return times.sort((first, second) => first - second)[Math.floor(FLUSHES / 2)]!;
}

function lookAtSchema(data: string, found: Findings): boolean {
  let version: number;
  try {
    const db = openToRead(data);
    try {
      version = db.pragma("user_version", { simple: true }) as number;
    } finally {
      db.close();
    }
  } catch (error) {
    found.wrong(
      "database",
      `it cannot be opened: ${(error as Error).message}`,
      "restore it from a copy, or see to its rights",
    );
    return false;
  }
  return toldSchema(version, stepsIn(MIGRATIONS), found);
}

/** Whether it can be read here. What is damaged in it is set aside when the store is opened, and told of then. */
function lookAtJournal(data: string, found: Findings): boolean {
  const db = openToRead(data);
  try {
    const newest = db.prepare<[], number | null>("SELECT max(version) FROM journal").pluck().get() ?? 0;
    if (newest <= JOURNAL_VERSION) return true;
    found.wrong(
      "journal",
      new JournalOfNewer(newest).message,
      "nothing is lost: the newer Heliograph finishes what is there",
    );
    return false;
  } finally {
    db.close();
  }
}

export function stepsIn(folder: string): number {
  return readdirSync(folder).filter((name) => /^\d{3}-.*\.sql$/.test(name)).length;
}

export function toldSchema(version: number, steps: number, found: Findings): boolean {
  if (version > steps) {
    found.wrong("schema", `version ${version}, and this Heliograph knows up to ${steps}`, "use the newer Heliograph");
    return false;
  }
  if (version < steps) {
    found.warn(
      "schema",
      `version ${version} of ${steps}: what is in the store is looked at after that`,
      '"heliograph migrate", or a start of the service, brings it up to date',
    );
    return false;
  }
  found.ok("schema", `version ${version}, up to date`);
  return true;
}
