/**
 * The doctor on the embedded store: whose its files are, whether they can be written, room on the disk, how long a flush takes, who holds the
 * database, its schema, and whether the clock is behind what is stored. What is in the way is told once, by the first who meets it.
 */
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { lookAtRoom } from "../../doctor/disk.ts";
import type { Findings } from "../../doctor/finding.ts";
import { stepsIn, toldSchema } from "../../doctor/schema.ts";
import { type Db, isBusy, openToRead } from "../../drivers/sqlite/database.ts";
import { openToOthers } from "../../drivers/sqlite/store-files.ts";
import { directoryTrouble, heldTrouble, missingData, ownerTrouble, storeTrouble } from "../../drivers/store-trouble.ts";
import type { Trouble, TroubleKind } from "../../drivers/trouble.ts";
import { systemClock } from "../../runtime/clock.ts";
import { keptOffsetMs } from "../../runtime/time-travel.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import type { Settings } from "../../settings/settings.ts";
import { JOURNAL_VERSION, JournalOfNewer } from "../../store/sqlite/journal.ts";

const MIGRATIONS = join(import.meta.dirname, "../../store/sqlite/migrations");
const FLUSHES = 5;
const SLOW_FLUSH_MS = 50;
/** A service that runs has the writer's place for some milliseconds at a time. */
const LOCK_WAIT_MS = 3_000;
const LARGE_CLOCK_DIFFERENCE_MS = 1_000;
const WRONG_CLOCK_DIFFERENCE_MS = 60_000;

/** How the store may be opened: not at all, to be looked at as it is, or as any command does. */
export type Way = "none" | "look" | "work";

export interface SqliteLook {
  readonly way: Way;
  /** Changes that are in the journal, and not in their tables. */
  readonly unwritten: number;
}

const CLOSED: SqliteLook = { way: "none", unwritten: 0 };

/** What a trouble is about, in the findings. */
const ABOUT: Readonly<Partial<Record<TroubleKind, string>>> = {
  absent: "data",
  rights: "rights",
  full: "disk",
  "read-only": "disk",
  failing: "disk",
  held: "lock",
};

export function toldStoreTrouble({ kind, says, mend }: Trouble, found: Findings): void {
  found.wrong(ABOUT[kind] ?? "database", says, mend);
}

export function lookAtSqlite({ store }: Pick<Settings, "store">, found: Findings): SqliteLook {
  const { data } = store;
  const missing = missingData(data);
  if (missing !== null) {
    toldStoreTrouble(missing, found);
    return CLOSED;
  }
  const trouble = directoryTrouble(data);
  if (trouble !== null) toldStoreTrouble(trouble, found);
  const owner = trouble?.kind === "rights" ? null : ownerTrouble(data);
  if (owner !== null) found.warn("owner", owner.says, owner.mend);
  try {
    lookAtRights(data, found);
    if (trouble?.kind !== "full") lookAtRoom(data, found);
    if (trouble === null) lookAtFlush(data, found);
    return lookIntoDatabase(data, trouble === null && owner === null, found);
  } catch (error) {
    const why = storeTrouble(error, { url: "", data });
    // What keeps it from being opened has been told.
    if (why !== null && why.kind === trouble?.kind) return CLOSED;
    if (why !== null) toldStoreTrouble(why, found);
    else
      found.wrong(
        "database",
        `it cannot be opened: ${(error as Error).message}`,
        "keep all of the directory as it is, and see the system's log; a copy of it can be looked at elsewhere",
      );
    return CLOSED;
  }
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

function lookAtFlush(data: string, found: Findings): void {
  const ms = flushMs(data);
  const flush = `a flush to the disk takes ${ms.toFixed(1)} ms`;
  if (ms > SLOW_FLUSH_MS)
    found.warn("flush", flush, "every answer waits for one: use a disk that is local, or one with a protected cache");
  else found.ok("flush", flush);
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

/** With a connection that only reads: it leaves the log beside the database as it is, also when it is the last one. */
function lookIntoDatabase(data: string, mayWrite: boolean, found: Findings): SqliteLook {
  const db = openToRead(data);
  try {
    const version = db.pragma("user_version", { simple: true }) as number;
    const isFree = !mayWrite || lookAtLock(db, data, found);
    if (!toldSchema(version, stepsIn(MIGRATIONS), found)) return CLOSED;
    lookAtClock(db, data, found);
    const unwritten = lookAtJournal(db, found);
    if (unwritten === null) return CLOSED;
    return { way: mayWrite && isFree ? "work" : "look", unwritten };
  } finally {
    db.close();
  }
}

/** Takes the writer's place for a moment, and writes nothing. The connection that reads is open meanwhile, so this one is not the last. */
function lookAtLock({ name }: Db, data: string, found: Findings): boolean {
  const writer = new Database(name, { fileMustExist: true, timeout: LOCK_WAIT_MS });
  try {
    writer.exec("BEGIN IMMEDIATE");
    writer.exec("ROLLBACK");
    return true;
  } catch (error) {
    if (!isBusy(error)) throw error;
    toldStoreTrouble(heldTrouble(data), found);
    return false;
  } finally {
    writer.close();
  }
}

/** The newest rows of tables that everything writes to. */
const NEWEST = [
  "SELECT received_at_ms FROM message ORDER BY key DESC LIMIT 1",
  "SELECT at_ms FROM posting ORDER BY id DESC LIMIT 1",
  "SELECT at_ms FROM audit ORDER BY id DESC LIMIT 1",
];

/** There is no other machine to compare with; but nothing that is stored can be of a time that has not come. */
function lookAtClock(db: Db, data: string, found: Findings): void {
  const times = NEWEST.map((text) => db.prepare<[], number>(text).pluck().get() ?? 0);
  const newestMs = Math.max(...times);
  // A sandbox may live ahead of its time.
  const nowMs = systemClock.now() + keptOffsetMs(data);
  const aheadMs = newestMs - nowMs;
  if (aheadMs <= LARGE_CLOCK_DIFFERENCE_MS) {
    found.ok("clock", "it is not behind what is stored");
    return;
  }
  const says = `it says ${formatDateTime(nowMs)}, and the newest in the store is of ${formatDateTime(newestMs)}, ${Math.round(aheadMs / 1_000)} s later`;
  const mend =
    "set the clock of this machine by a time service (NTP): times to send, validity and sessions go by it. If it is right now, it was ahead before, and nothing is to be done";
  if (aheadMs > WRONG_CLOCK_DIFFERENCE_MS) found.wrong("clock", says, mend);
  else found.warn("clock", says, mend);
}

/** How many entries it has; null if they cannot be read here. What is damaged in it is set aside when the store is opened, and told of then. */
function lookAtJournal(db: Db, found: Findings): number | null {
  const { newest, count } = db
    .prepare<[], { newest: number | null; count: number }>(
      "SELECT max(version) AS newest, count(*) AS count FROM journal",
    )
    .get()!;
  if (newest === null || newest <= JOURNAL_VERSION) return count;
  found.wrong(
    "journal",
    new JournalOfNewer(newest).message,
    "nothing is lost: the newer Heliograph finishes what is there",
  );
  return null;
}
