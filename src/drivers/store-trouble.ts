/**
 * What stands in the way of a store, found out and told in words: of an error that a start or a command met, and of a directory that is only looked
 * at. SQLite has one word for many things (CANTOPEN, IOERR, READONLY), so the system is asked which of them it is.
 */
import { accessSync, constants, readFileSync, type Stats, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { orElse } from "../runtime/or-else.ts";
import { isForeign, knownUserName, ownUser, userName } from "../runtime/system-users.ts";
import { shellWord } from "../runtime/text.ts";
import { whyNothingIsWritten } from "./sqlite/disk-room.ts";
import { lockFileOf, storeFiles } from "./sqlite/store-files.ts";
import { databaseTrouble, fileTrouble, type Trouble } from "./trouble.ts";

const { R_OK, W_OK, X_OK } = constants;

/** The store that the settings name. */
export interface StorePlace {
  readonly url: string;
  readonly data: string;
}

function codeOf(error: unknown): string | null {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : null;
}

/** Why it may not be done; null if it may. */
function deniedBy(path: string, mode: number): string | null {
  try {
    accessSync(path, mode);
    return null;
  } catch (error) {
    return codeOf(error) ?? "EACCES";
  }
}

/** "sudo -u heliograph": a user without a name here is given by its number. */
function asUser(uid: number): string {
  const name = knownUserName(uid);
  return `sudo -u ${name === null ? `'#${uid}'` : shellWord(name)}`;
}

function giveBack(path: string, uid: number): string {
  const owner = shellWord(knownUserName(uid) ?? String(uid));
  return `give it back: sudo chown ${owner} ${shellWord(path)}; and run every command as ${userName(uid)}`;
}

/** A file or a directory whose rights are in the way. */
function rightsTrouble(path: string, what: "read" | "write" | "enter"): Trouble {
  const { uid, mode }: Stats = statSync(path);
  const rights = (mode & 0o7777).toString(8).padStart(4, "0");
  const own = ownUser();
  const me = own === null ? "this user" : userName(own);
  if (own !== null && uid === own)
    return {
      kind: "rights",
      says: `the rights of ${path} (${rights}) do not let its own user ${me} ${what} it`,
      mend: `give them back: chmod u+rwX ${shellWord(path)}`,
    };
  // What root has made in a directory of the service's by running a command as root.
  const owner = statSync(dirname(path)).uid;
  if (own !== null && owner === own)
    return {
      kind: "rights",
      says: `${path} belongs to ${userName(uid)} (${rights}) and not to ${me}, who cannot ${what} it`,
      mend: giveBack(path, own),
    };
  return {
    kind: "rights",
    says: `${path} belongs to ${userName(uid)} (${rights}), and ${me} cannot ${what} it`,
    mend: `nothing is wrong with the data: run it as its user, "${asUser(uid)} heliograph …"`,
  };
}

/** The first directory on the way to a path that this user cannot pass. */
function closedOn(path: string): Trouble | null {
  const above = dirname(path);
  const further = above === path ? null : closedOn(above);
  if (further !== null) return further;
  const denied = deniedBy(path, X_OK);
  if (denied === null || denied === "ENOENT") return null;
  if (denied === "EACCES" && !statSync(path).isDirectory()) return fileTrouble("ENOTDIR", path);
  return fileTrouble(denied, path) ?? rightsTrouble(path, "enter");
}

/** What keeps this user from reading a file that is there; null if nothing does. */
export function readTrouble(path: string): Trouble | null {
  const closed = closedOn(dirname(resolve(path)));
  if (closed !== null) return closed;
  const denied = deniedBy(path, R_OK);
  if (denied === null || denied === "ENOENT") return null;
  return fileTrouble(denied, path) ?? rightsTrouble(path, "read");
}

/** The database, and what SQLite puts beside it. */
function databaseFiles(directory: string): string[] {
  const [database, ...others] = storeFiles(directory);
  return [database!, ...others.filter((file) => file.startsWith(database!))];
}

function noData(directory: string): Trouble {
  const [database, ...beside] = databaseFiles(directory);
  // Its log holds what was accepted last: a database that is made anew would take its place.
  const left = beside.find((file) => deniedBy(file, constants.F_OK) === null);
  if (left !== undefined)
    return {
      kind: "damaged",
      says: `${database} is missing, and ${left}, which belongs to it, is there`,
      mend: "it was moved or deleted: put it back; keep what is there until then",
    };
  return {
    kind: "absent",
    says: `there is no data in ${lookedAt(directory)}`,
    mend: 'name the directory that has it with --data, or with [store] data of --config; "heliograph init" sets up a new one',
  };
}

/** Somebody who has typed a part of a path sees here where that led. */
function lookedAt(directory: string): string {
  const path = resolve(directory);
  const isThere = deniedBy(path, constants.F_OK) === null;
  return `${path}${isThere ? "" : ", which does not exist"}`;
}

function strange(code: string, directory: string): Trouble {
  const mend = "see the system's log, and keep the data as it is";
  return { kind: "failing", says: `${directory} cannot be looked at (${code})`, mend };
}

/** Why there is no data to work on: it is not there, or this user does not get to it. Null if it is there. */
export function missingData(directory: string): Trouble | null {
  const [database] = storeFiles(directory);
  try {
    statSync(database!);
    return null;
  } catch (error) {
    const code = codeOf(error) ?? "EIO";
    if (code === "ENOENT") return noData(directory);
    return fileTrouble(code, directory) ?? closedOn(resolve(directory)) ?? strange(code, directory);
  }
}

/** What keeps this user from reading and writing a data directory; null if nothing does. It writes a small file there, and takes it away. */
export function directoryTrouble(directory: string): Trouble | null {
  const path = resolve(directory);
  const closed = closedOn(path);
  if (closed !== null) return closed;
  const stats = orElse(() => statSync(path), null);
  if (stats === null) return notMade(path);
  if (!stats.isDirectory()) return fileTrouble("ENOTDIR", path);
  const files = storeFiles(path).filter((file) => deniedBy(file, constants.F_OK) === null);
  for (const [mode, what] of [
    [R_OK, "read"],
    [W_OK, "write"],
  ] as const) {
    for (const place of [path, ...files]) {
      const denied = deniedBy(place, mode);
      if (denied !== null) return fileTrouble(denied, path) ?? rightsTrouble(place, what);
    }
  }
  const code = whyNothingIsWritten(path, Math.max(0, ...files.map((file) => statSync(file).size)));
  return code === null ? null : fileTrouble(code, path);
}

/** A directory that is not there: where it would be made, nothing may be written, or all is well. */
function notMade(path: string): Trouble | null {
  const above = dirname(path);
  if (above === path) return null;
  const denied = deniedBy(above, W_OK);
  if (denied === "ENOENT") return notMade(above);
  if (denied === null) return null;
  return fileTrouble(denied, above) ?? rightsTrouble(above, "write");
}

/** Whether the data is another user's than this process's, who may be allowed everything, as root is. */
export function ownerTrouble(directory: string): Trouble | null {
  const stats = statSync(directory);
  const strange = storeFiles(directory).find((file) => {
    const found = statSync(file, { throwIfNoEntry: false });
    return found !== undefined && found.uid !== stats.uid;
  });
  const owner = userName(stats.uid);
  if (strange !== undefined && ownUser() !== null)
    return {
      kind: "rights",
      says: `${strange} belongs to ${userName(statSync(strange).uid)}, and the directory to ${owner}: a service that runs as ${owner} may not be able to write it`,
      mend: giveBack(strange, stats.uid),
    };
  if (!isForeign(stats)) return null;
  return {
    kind: "rights",
    says: `the data belongs to ${owner}, and this is ${userName(ownUser()!)}`,
    mend: `run commands as its user, "${asUser(stats.uid)} heliograph …": what another user makes there the service cannot write`,
  };
}

type LockedFile = Pick<Stats, "dev" | "ino">;

/** "fe:00:260072", as Linux names a file that is locked. Inodes are counted on each disk anew. */
function lockName({ dev, ino }: LockedFile): string {
  const number = BigInt(dev);
  const major = ((number >> 8n) & 0xfffn) | ((number >> 32n) & ~0xfffn);
  const minor = (number & 0xffn) | ((number >> 12n) & 0xffffff00n);
  const [majorText, minorText] = [major, minor].map((part) => part.toString(16).padStart(2, "0"));
  return `${majorText}:${minorText}:${ino}`;
}

/** The processes that may write to one of these files and let nobody else, out of what Linux says in /proc/locks. */
export function lockingProcesses(files: readonly LockedFile[], locks: string): number[] {
  const names = new Set(files.map(lockName));
  const pids = locks
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , mode, , file]) => mode === "WRITE" && names.has(file ?? ""))
    .map((words) => Number(words[4]))
    .filter((pid) => pid > 0);
  return [...new Set(pids)];
}

/** Other processes that hold one of these files, as Linux tells; empty elsewhere. */
function holdersOf(files: readonly string[]): number[] {
  const found = orElse(() => files.flatMap((file) => statSync(file, { throwIfNoEntry: false }) ?? []), []);
  const locks = orElse(() => readFileSync("/proc/locks", "utf8"), "");
  return lockingProcesses(found, locks).filter((pid) => pid !== process.pid);
}

/** Who holds the database of a directory. A service that is well holds the lock file all the time: that is nobody's trouble. */
function holders(directory: string): string[] {
  return holdersOf(databaseFiles(directory)).map((pid) => `${commandOf(pid)} (process ${pid})`);
}

/** The process of the service that runs on a directory; null where the system does not tell. */
export function servingProcess(directory: string): number | null {
  return holdersOf([lockFileOf(directory)])[0] ?? null;
}

function commandOf(pid: number): string {
  return orElse(() => readFileSync(join("/proc", String(pid), "comm"), "utf8").trim(), "a program");
}

/** The database of a directory is held by somebody for longer than a moment. */
export function heldTrouble(directory: string): Trouble {
  const who = holders(directory);
  return {
    kind: "held",
    says: `the database in ${directory} is locked${who.length === 0 ? " by another process" : ` by ${who.join(" and ")}`}`,
    mend: "wait until that is done, or end it; a command or a copy may have it for a while. Delete none of the files there (-wal, -shm, -journal): what was accepted is in them",
  };
}

/** By the first word of SQLite's code. */
const OF_SQLITE: readonly (readonly [fits: RegExp, words: (directory: string, message: string) => Trouble | null])[] = [
  [/^SQLITE_(BUSY|LOCKED|PROTOCOL)/, (directory) => heldTrouble(directory)],
  [
    /^SQLITE_CORRUPT/,
    (directory, message) => ({
      kind: "damaged",
      says: `the database in ${directory} is damaged (${message})`,
      mend: "stop the service, and keep a copy of all of the directory as it is; then look at the disk, and start from the newest backup in another directory",
    }),
  ],
  [
    /^SQLITE_NOTADB/,
    (directory, message) => ({
      kind: "foreign",
      says: message,
      mend: `name the directory of the data with --data; what is in ${directory} is something else, or damaged: keep it`,
    }),
  ],
  [
    /^SQLITE_NOMEM/,
    () => ({ kind: "limits", says: "there is no memory left", mend: "see what takes the memory of this machine" }),
  ],
  [/^SQLITE_FULL/, (directory) => directoryTrouble(directory) ?? fileTrouble("ENOSPC", directory)],
  [/^SQLITE_(CANTOPEN|READONLY|PERM|AUTH)/, (directory) => directoryTrouble(directory)],
  [/^SQLITE_IOERR/, (directory) => directoryTrouble(directory) ?? fileTrouble("EIO", directory)],
];

/** What an error means that the store met; null for one that has words of its own. */
export function storeTrouble(error: unknown, { url, data }: StorePlace): Trouble | null {
  for (let fault = error; fault instanceof Error; fault = fault.cause) {
    const code = (fault as { reason?: unknown }).reason ?? codeOf(fault);
    if (typeof code !== "string") continue;
    if (url !== "") return databaseTrouble(code, (error as Error).message);
    const known = OF_SQLITE.find(([fits]) => fits.test(code));
    return (
      known?.[1](data, fault.message) ?? fileTrouble(code, data) ?? (isDenial(code) ? directoryTrouble(data) : null)
    );
  }
  return null;
}

function isDenial(code: string): boolean {
  return code === "EACCES" || code === "EPERM" || code === "ENOENT";
}

/** An error that the store met, as a sentence: with its remedy where there is one to tell. */
export function inWords(error: Error, place: StorePlace): string {
  const trouble = storeTrouble(error, place);
  return trouble === null ? error.message : `${trouble.says}: ${trouble.mend}`;
}
