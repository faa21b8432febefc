/**
 * Takes a backup of PostgreSQL: every table, read in one transaction that sees one moment, into a fresh file of SQLite. Nodes go on meanwhile; only
 * rows that they delete are not cleared away until the transaction is over.
 */
import { asDatabaseError } from "../drivers/postgres/faults.ts";
import { PostgresLink } from "../drivers/postgres/link.ts";
import { type Db, openDatabase } from "../drivers/sqlite/database.ts";
import type { ColumnTypes } from "../store/postgres/columns.ts";
import { STEPS } from "../store/postgres/schema-version.ts";
import { migrate } from "../store/sqlite/migrate.ts";
import type { BackupOptions } from "./backup-options.ts";
import { compare, isDifferent } from "./check.ts";
import { COPIED, type CopiedTable, CopyRefused } from "./copied-tables.ts";
import { type CopyRow, CopySource, type CounterRow, columnsIn } from "./copy-source.ts";
import { PostgresReader } from "./postgres-reader.ts";

const PAGE_CHARACTERS = 1_000_000;
const FIRST_PAGE_ROWS = 16;
const MAX_PAGE_ROWS = 4_096;

export async function takeRows(
  options: Pick<BackupOptions, "fromName" | "onStep" | "onProgress" | "pageCharacters"> & {
    readonly url: string;
    readonly to: string;
  },
): Promise<void> {
  const moment = new Moment(options.url);
  try {
    await moment.begin(options.fromName);
    const db = openDatabase(options.to);
    try {
      migrate(db);
      await fill(db, moment, options);
    } finally {
      db.close();
    }
    options.onStep?.("checking");
    await check(options.to, moment);
  } catch (error) {
    throw asDatabaseError(error);
  } finally {
    moment.end();
  }
}

async function fill(
  db: Db,
  moment: Moment,
  { fromName, onProgress, pageCharacters = PAGE_CHARACTERS }: Parameters<typeof takeRows>[0],
): Promise<void> {
  // If this is interrupted nobody looks at the file again, so nothing has to be undone or flushed.
  db.pragma("journal_mode = OFF");
  db.pragma("synchronous = OFF");
  // Made at the end, from all rows at once: 200,000 messages took 9 s so, and 18 to 22 when each row found its place in ten indexes.
  const indexes = db
    .prepare<[], { name: string; sql: string }>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
    )
    .all();
  for (const { name } of indexes) db.exec(`DROP INDEX ${name}`);
  const counts = new Map<string, number>();
  for (const { name } of COPIED) counts.set(name, await moment.reader.count(name));
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  let done = 0;
  for (const table of COPIED) {
    const columns = columnsIn(db, table.name);
    const types = await moment.reader.types(table.name);
    requireSame(table.name, columns, types, fromName);
    const insert = db.prepare(
      `INSERT INTO ${table.name} (${columns.join()}) VALUES (${columns.map(() => "?").join()})`,
    );
    const write = db.transaction((rows: readonly CopyRow[]) => {
      for (const row of rows) insert.run(...columns.map((column) => row[column]));
    });
    for await (const rows of moment.pages(table, columns, types, pageCharacters)) {
      write(rows);
      done += rows.length;
      onProgress?.({ table: table.name, done, total });
    }
  }
  for (const { sql } of indexes) db.exec(sql);
  const { changes, starts, purpose } = await moment.counter();
  db.prepare("UPDATE counter SET changes = ?, starts = ?, purpose = ?").run(changes, starts, purpose);
  db.pragma("journal_mode = WAL");
}

function requireSame(table: string, columns: readonly string[], types: ColumnTypes, name: string): void {
  if (columns.toSorted().join() === Object.keys(types).toSorted().join()) return;
  throw otherVersion(name, `${table} differs`);
}

function otherVersion(name: string, how: string): CopyRefused {
  return new CopyRefused(
    `the tables in ${name} are not those of this version of Heliograph (${how}): make the backup with the version that runs on it, or run "heliograph migrate" first`,
  );
}

/** As many rows of everything, and the same money in every place. */
async function check(directory: string, moment: Moment): Promise<void> {
  const source = new CopySource(directory);
  try {
    const different = (await compare(source, moment.reader)).filter(isDifferent).map(({ what }) => what);
    if (different.length > 0) throw new Error(`the backup differs from the database: ${different.join(", ")}`);
  } finally {
    source.close();
  }
}

/** The database as it was at one moment. */
class Moment {
  readonly #link: PostgresLink;
  readonly reader = new PostgresReader(async () => this.#link);

  constructor(url: string) {
    const options = { url, statementTimeoutMs: 0, leaseMs: 0, readsAll: true, onlyReads: true };
    this.#link = new PostgresLink(options, "heliograph backup");
  }

  async begin(name: string): Promise<void> {
    await this.#link
      .connect(() => undefined)
      .catch((error: Error) => {
        throw new CopyRefused(`the data in ${name} cannot be opened: ${(asDatabaseError(error) as Error).message}`);
      });
    await this.#link.script("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
    const [tables] = await this.reader.rows<{ there: boolean; copying: boolean }>(
      "SELECT to_regclass('counter') IS NOT NULL AS there, to_regclass('copy_progress') IS NOT NULL AS copying",
    );
    if (tables?.there !== true) throw new CopyRefused(`there is no data in ${name}`);
    if (tables.copying)
      throw new CopyRefused(`a copy into ${name} is not finished, so there is nothing to back up yet`);
    const [schema] = await this.reader.rows<{ version: number }>("SELECT version FROM heliograph_schema");
    if (schema!.version !== STEPS.length) throw otherVersion(name, `step ${schema!.version} of ${STEPS.length}`);
  }

  /** It only reads, so there is nothing to be said at the end. */
  end(): void {
    this.#link.destroy();
  }

  async counter(): Promise<CounterRow> {
    return (await this.reader.rows<CounterRow>("SELECT changes, starts, purpose, is_backup FROM counter"))[0]!;
  }

  /** The next page is on its way while one is written. Pages grow or shrink towards so many characters. */
  async *pages(
    { name, key, instead }: CopiedTable,
    columns: readonly string[],
    types: ColumnTypes,
    characters: number,
  ): AsyncGenerator<readonly CopyRow[]> {
    const read = columns.map((column) => {
      const value = instead?.[column] ?? column;
      return `${types[column] === "bigint" ? `CAST(${value} AS text)` : value} AS ${column}`;
    });
    await this.#link.script(
      `DECLARE all_of_${name} NO SCROLL CURSOR FOR SELECT ${read.join()} FROM ${name}
       ORDER BY ${key.map((column) => `${name}.${column}`).join()}`,
    );
    const fetch = (count: number) => this.reader.rows<CopyRow>(`FETCH ${count} FROM all_of_${name}`);
    let count = FIRST_PAGE_ROWS;
    for (let next = fetch(count); ; ) {
      const rows = await next;
      if (rows.length === 0) break;
      const size = rows.reduce((sum, row) => sum + sizeOf(row), 0);
      // Powers of two, because each number is a statement that is prepared.
      if (size > characters) count = Math.max(1, count / 2);
      else if (size < characters / 2) count = Math.min(MAX_PAGE_ROWS, count * 2);
      next = fetch(count);
      yield rows;
    }
    await this.#link.script(`CLOSE all_of_${name}`);
  }
}

function sizeOf(row: CopyRow): number {
  let size = 0;
  for (const value of Object.values(row)) size += typeof value === "string" ? value.length : 1;
  return size;
}
