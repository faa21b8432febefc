/** The embedded store as the source of a copy: held so that nobody writes to it meanwhile, read page by page. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { DataDirectoryInUse, type Db, lockDirectory } from "../drivers/sqlite/database.ts";
import { openAlone, type WriteAheadLog } from "../drivers/sqlite/write-ahead-log.ts";
import { firstIdAt } from "../runtime/ids.ts";
import type { ColumnTypes } from "../store/postgres/columns.ts";
import { IS_NOT_REJECTED } from "../store/rows.ts";
import { replayJournal } from "../store/sqlite/journal.ts";
import { migrate } from "../store/sqlite/migrate.ts";
import { COPIED, COUNTER, type CopiedTable, CopyRefused } from "./copied-tables.ts";

/** The values of a primary key, in its order; numbers as text, because they may be beyond 2^53. */
export type Key = readonly string[];
export type CopyRow = Readonly<Record<string, string | number | null>>;

export interface CopyPage {
  readonly rows: readonly CopyRow[];
  readonly last: Key;
}

export interface CounterRow {
  readonly changes: number;
  readonly starts: number;
  readonly purpose: string | null;
  readonly is_backup: number;
}

/** The bounds of a page. Most rows are a few hundred characters; a batch of reports may be a hundred thousand. */
export interface PageBounds {
  readonly rows: number;
  readonly characters: number;
}

const KEYS_A_DAY = firstIdAt(86_400_000);

/** Without those that are computed from others. */
export function columnsIn(db: Db, table: string): string[] {
  const columns = db.prepare<[string], { name: string }>(
    "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid",
  );
  return columns.all(table).map(({ name }) => name);
}

export class CopySource {
  readonly directory: string;
  readonly #db: Db;
  readonly #log: WriteAheadLog;
  readonly #unlock: () => void;

  /** Takes the directory, as a service would, and brings its schema up to date. */
  constructor(directory: string) {
    this.directory = directory;
    const file = join(directory, "heliograph.sqlite");
    if (!existsSync(file)) {
      throw new CopyRefused(
        `there is no data in ${directory}: name the directory that the service runs on with --from sqlite:DIRECTORY`,
      );
    }
    this.#unlock = lock(directory);
    let log: WriteAheadLog | null = null;
    try {
      const opened = openAlone(directory);
      const guard = opened.db;
      log = opened.log;
      migrate(guard);
      replayJournal(guard);
      // The command line may write beside a service, and so beside us: with the one writer's place taken it cannot.
      guard.exec("BEGIN IMMEDIATE");
      this.#db = new Database(file, { readonly: true, fileMustExist: true });
    } catch (error) {
      log?.noteError(error);
      log?.close();
      this.#unlock();
      throw new CopyRefused(`the data in ${directory} cannot be opened: ${(error as Error).message}`);
    }
    this.#log = log;
  }

  close(): void {
    this.#db.close();
    this.#log.close();
    this.#unlock();
  }

  columns(table: string): string[] {
    return columnsIn(this.#db, table);
  }

  count(table: string): number {
    return this.#db.prepare<[], { count: number }>(`SELECT count(*) AS count FROM ${table}`).get()!.count;
  }

  /** How many messages have a name of the client's that no other may have. */
  countNames(): number {
    const names = this.#db.prepare<[], { count: number }>(
      `SELECT count(*) AS count FROM message WHERE client_message_id IS NOT NULL AND ${IS_NOT_REJECTED}`,
    );
    return names.get()!.count;
  }

  /** What a look at the table says about it; the same again means that nothing was changed in between. */
  fingerprint({ name, key, watched }: { name: string; key?: readonly string[]; watched?: readonly string[] }): string {
    const hash = createHash("sha256");
    const add = (rows: Iterable<unknown[]>): void => {
      for (const row of rows) hash.update(`${JSON.stringify(row)}\n`);
    };
    const asText = (columns: readonly string[]): string => columns.map((column) => `CAST(${column} AS TEXT)`).join();
    const order = key === undefined ? "" : `ORDER BY ${key.join()}`;
    if (key !== undefined) {
      const backwards = key.map((column) => `${column} DESC`).join();
      const last = this.#db.prepare<[], unknown[]>(`SELECT ${asText(key)} FROM ${name} ORDER BY ${backwards} LIMIT 1`);
      add(last.raw().iterate());
    }
    if (watched !== undefined) {
      const rows = this.#db.prepare<[], unknown[]>(`SELECT ${asText(watched)} FROM ${name} ${order}`);
      add(rows.raw().iterate());
    }
    return `${this.count(name)} rows, ${hash.digest("hex").slice(0, 32)}`;
  }

  schemaVersion(): number {
    return this.#db.pragma("user_version", { simple: true }) as number;
  }

  counter(): CounterRow {
    return this.#db.prepare<[], CounterRow>(`SELECT ${COUNTER.watched.join()} FROM counter`).get()!;
  }

  /** Each page begins after the last key of the one before; the last one ends with `until`, where that is given. */
  *pages(
    table: CopiedTable,
    types: ColumnTypes,
    after: Key,
    until: Key | null,
    bounds: PageBounds,
  ): Generator<CopyPage> {
    const columns = Object.entries(types).map(([column, type]) => {
      const read = table.instead?.[column] ?? column;
      return `${type === "bigint" ? `CAST(${read} AS TEXT)` : read} AS ${column}`;
    });
    const long = Object.keys(types).filter((column) => types[column] === "text");
    const key = `(${table.key.join()})`;
    const values = `(${table.key.map(() => "?").join()})`;
    const next = (isFirst: boolean) =>
      this.#db.prepare<(string | bigint)[], CopyRow>(
        `SELECT ${columns.join()} FROM ${table.name}
         WHERE ${isFirst ? "TRUE" : `${key} > ${values}`} AND ${until === null ? "TRUE" : `${key} <= ${values}`}
         ORDER BY ${table.key.map((column) => `${table.name}.${column}`).join()} LIMIT ${bounds.rows}`,
      );
    const bound = (names: Key) =>
      names.map((value, index) => (types[table.key[index]!] === "text" ? value : BigInt(value)));
    for (let last = after; ; ) {
      const statement = next(last.length === 0);
      const rows: CopyRow[] = [];
      let characters = 0;
      for (const row of statement.iterate(...bound(last), ...bound(until ?? []))) {
        rows.push(row);
        for (const column of long) characters += (row[column] as string | null)?.length ?? 0;
        if (characters > bounds.characters) break;
      }
      const end = rows.at(-1);
      if (end === undefined) return;
      last = table.key.map((column) => String(end[column]));
      yield { rows, last };
    }
  }

  /** Keys that part a table with one number for its key into so many pieces of about the same size; the last piece has no end. */
  ends(table: CopiedTable, pieces: number, count: number): Key[] {
    const at = this.#db.prepare<[number], { key: string }>(
      `SELECT CAST(${table.key[0]} AS TEXT) AS key FROM ${table.name} ORDER BY ${table.name}.${table.key[0]} LIMIT 1 OFFSET ?`,
    );
    return Array.from({ length: pieces - 1 }, (_, index) => [at.get(Math.floor((count * (index + 1)) / pieces))!.key]);
  }

  /** The first key of each day that has any, found by hops along the index. */
  firstKeysOfDays(table: string): string[] {
    const next = this.#db.prepare<[bigint], { key: string | null }>(
      `SELECT CAST(min(key) AS TEXT) AS key FROM ${table} WHERE key >= ?`,
    );
    const keys: string[] = [];
    for (let key = next.get(0n)!.key; key !== null; ) {
      keys.push(key);
      key = next.get((BigInt(key) / KEYS_A_DAY + 1n) * KEYS_A_DAY)!.key;
    }
    return keys;
  }

  /** The highest number that was ever given out, as far as that is known. */
  highestId(table: string): string {
    const row = this.#db
      .prepare<[string], { id: string }>(
        `SELECT CAST(max(coalesce((SELECT max(id) FROM ${table}), 0), coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?), 0)) AS TEXT) AS id`,
      )
      .get(table);
    return row!.id;
  }

  /** The answer to a question that both sides understand: pairs of a name and a value. */
  pairs(text: string): [string, string][] {
    return this.#db.prepare<[], [string, string]>(text).raw().all();
  }
}

function lock(directory: string): () => void {
  try {
    return lockDirectory(directory);
  } catch (error) {
    if (error instanceof DataDirectoryInUse)
      throw new CopyRefused(`a service runs on ${directory}, or another copy: stop it, then copy`);
    throw new CopyRefused(`${directory} cannot be locked: ${(error as Error).message}`);
  }
}

/** All that is looked at when two looks are compared. A newer schema may have columns that rows copied before it lack. */
export function fingerprints(source: CopySource): Map<string, string> {
  return new Map([
    ...[...COPIED, COUNTER].map((table) => [table.name, source.fingerprint(table)] as const),
    ["schema", `version ${source.schemaVersion()}`],
  ]);
}
