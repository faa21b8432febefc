/**
 * A backup is a data directory of the embedded store, whatever the store is that it was made from: it can be opened, checked and served like any
 * other. It is made while services run, and is what the store held at one moment.
 *
 *   DIRECTORY/unfinished/heliograph.sqlite ──filled──▶ checked ──flushed──▶ DIRECTORY/heliograph.sqlite
 *         └── killed at any point: there is no data in DIRECTORY, and the next backup begins anew
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { RULES } from "../commands/table.ts";
import { DataDirectoryInUse, lockDirectory, openDatabase } from "../drivers/sqlite/database.ts";
import { systemClock } from "../runtime/clock.ts";
import { flushFile, makeDirectories, makePrivateDirectory } from "../runtime/private-files.ts";
import { localStore } from "../store/group.ts";
import { SqliteEngine } from "../store/sqlite/engine.ts";
import type { BackupOptions } from "./backup-options.ts";
import { takeRows } from "./backup-postgres.ts";
import { takePages } from "./backup-sqlite.ts";
import { COPIED, CopyRefused } from "./copied-tables.ts";
import { CopySource } from "./copy-source.ts";

export interface BackupOutcome {
  /** Whatever was committed before this is in it. */
  readonly atMs: number;
  /** Rows by table. */
  readonly rows: ReadonlyMap<string, number>;
  /** The backup is whole all the same: these are the store's own. */
  readonly ledgerFaults: readonly string[];
}

const FILE = "heliograph.sqlite";
const UNFINISHED = "unfinished";
const LOCK = "heliograph.lock";
/** What a backup that was killed may leave behind. */
const OURS = new Set([UNFINISHED, LOCK, `${LOCK}-journal`]);

export async function backupStore(options: BackupOptions): Promise<BackupOutcome> {
  const { to, onStep } = options;
  const unlock = takeDirectory(to);
  const unfinished = join(to, UNFINISHED);
  try {
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished, { mode: 0o700 });
    const atMs = systemClock.now();
    onStep?.("reading");
    if ("url" in options.from) await takeRows({ ...options, url: options.from.url, to: unfinished });
    else await takePages({ ...options, data: options.from.data, to: unfinished });
    if (!("url" in options.from)) onStep?.("checking");
    sayWhatItIs(unfinished);
    const rows = countRows(unfinished);
    const ledgerFaults = await verifyLedger(unfinished);
    finish(to);
    return { atMs, rows, ledgerFaults };
  } finally {
    // After a failure too: a disk that is full is to be so no longer.
    rmSync(unfinished, { recursive: true, force: true });
    rmSync(join(to, LOCK), { force: true });
    unlock();
  }
}

function takeDirectory(directory: string): () => void {
  try {
    makeDirectories(directory);
    requireEmpty(directory);
    // Not before it is known to be empty: it may have been a mistake, and everybody's.
    makePrivateDirectory(directory);
    const unlock = lockDirectory(directory);
    try {
      // Another backup may have ended just before.
      requireEmpty(directory);
      return unlock;
    } catch (error) {
      unlock();
      throw error;
    }
  } catch (error) {
    if (error instanceof CopyRefused) throw error;
    if (error instanceof DataDirectoryInUse) throw new CopyRefused(`another backup into ${directory} is under way`);
    throw new CopyRefused(`${directory} cannot be written: ${(error as Error).message}`);
  }
}

function requireEmpty(directory: string): void {
  const [other] = readdirSync(directory).filter((name) => !OURS.has(name));
  if (other === undefined) return;
  throw new CopyRefused(`${directory} is not empty (${other} is in it): name a directory that is empty or not there`);
}

/** The first service on it must know: it is behind the ids that were handed out since (store/id-mark.ts). */
function sayWhatItIs(directory: string): void {
  const db = openDatabase(directory);
  try {
    db.exec("UPDATE counter SET is_backup = 1");
  } finally {
    db.close();
  }
}

function countRows(directory: string): Map<string, number> {
  const source = new CopySource(directory);
  try {
    return new Map(COPIED.map(({ name }) => [name, source.count(name)]));
  } finally {
    source.close();
  }
}

/** As a service on it would find it. */
async function verifyLedger(directory: string): Promise<string[]> {
  const engine = new SqliteEngine({
    rules: RULES,
    directory,
    clock: systemClock,
    lanes: { lane: 0, total: 0 },
    mode: "tool",
  });
  try {
    return await localStore(engine, () => undefined).verifyLedger();
  } finally {
    engine.close();
  }
}

/** The name comes after the contents, also for a power cut. */
function finish(directory: string): void {
  const made = join(directory, UNFINISHED, FILE);
  if (existsSync(`${made}-wal`)) throw new Error(`${made} was not closed by all that had it open`);
  // There are secrets in it, and the directory may be everybody's to read.
  chmodSync(made, 0o600);
  flushFile(made);
  renameSync(made, join(directory, FILE));
  flushFile(directory);
}
