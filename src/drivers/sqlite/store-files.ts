/** The files of the embedded store: their names, and that they are private. Without the driver, which not every thread needs. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { makePrivateDirectory, makePrivateFile, protectFile, tooOpen } from "../../runtime/private-files.ts";

const DATABASE = "heliograph.sqlite";
const LOCK = "heliograph.lock";
/** What SQLite puts beside a database, with the rights of the database. */
const BESIDE = ["-wal", "-shm", "-journal"];

export function databaseFileOf(directory: string): string {
  return join(directory, DATABASE);
}

/** SQLite's log. */
export function logFileOf(directory: string): string {
  return join(directory, `${DATABASE}-wal`);
}

/** The index of SQLite's log, in memory that all who have the database open share. */
export function indexFileOf(directory: string): string {
  return join(directory, `${DATABASE}-shm`);
}

/** What the service that runs on a directory holds. */
export function lockFileOf(directory: string): string {
  return join(directory, LOCK);
}

/** There are messages and secrets in these files. They are made before SQLite would make them with the rights that the umask leaves. */
export function keepPrivate(directory: string, fileOf: (directory: string) => string): string {
  makePrivateDirectory(directory);
  const file = fileOf(directory);
  makePrivateFile(file);
  for (const suffix of BESIDE) protectFile(`${file}${suffix}`);
  return file;
}

/** The files of a store that are there or may be, the database first. */
export function storeFiles(directory: string): string[] {
  return [DATABASE, LOCK]
    .flatMap((name) => [name, ...BESIDE.map((suffix) => name + suffix)])
    .map((name) => join(directory, name));
}

/** What others can see of a data directory, in words. What belongs to another user cannot be mended from here. */
export function openToOthers(directory: string): string[] {
  return [directory, ...storeFiles(directory)].map(tooOpen).filter((says) => says !== null);
}

/** Deletes the database. For whoever holds the directory: nobody else may have it open. */
export function deleteDatabase(directory: string): void {
  for (const suffix of ["", ...BESIDE]) rmSync(`${databaseFileOf(directory)}${suffix}`, { force: true });
}
