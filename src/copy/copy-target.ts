/**
 * PostgreSQL as the target of a copy. While a copy is under way there is a table `copy_progress`, which says how far each table has come, and a
 * trigger that lets no node start and no account be changed. Both are gone when the copy is whole.
 *
 *   empty ──begin──▶ copy_progress, trigger ──pages, each with its progress──▶ checked ──finish──▶ a store like any other
 *                          └── killed at any point: begin finds the progress and goes on
 */
import { asDatabaseError } from "../drivers/postgres/faults.ts";
import { inTransaction, PostgresLink, type Session } from "../drivers/postgres/link.ts";
import { type ColumnTypes, fieldsOf, insertion, sendRows } from "../store/postgres/columns.ts";
import { isRejected } from "../store/rows.ts";
import { COPIED, type CopiedTable, CopyRefused } from "./copied-tables.ts";
import type { CopyPage, CopyRow, CounterRow, Key } from "./copy-source.ts";
import { PostgresReader } from "./postgres-reader.ts";

/** A stretch of a table's keys that is copied in order. A large table has several, so that several connections can work on it. */
export interface Stretch {
  readonly name: string;
  readonly number: number;
  /** The last key that is there; empty before the first. */
  readonly last: Key;
  /** Where it ends; null for the table's end. */
  readonly until: Key | null;
  readonly rows: number;
}

const INSERT_NAMES = insertion(
  "message_name",
  fieldsOf({ account_id: "bigint", client_message_id: "text", message_key: "bigint" }),
);

const GUARD = "heliograph_copy_unfinished";
const PROGRESS = `CREATE TABLE copy_progress (
  name text NOT NULL,
  number integer NOT NULL,
  source text NOT NULL, -- what the source's table looked like
  last_key text NOT NULL, -- JSON, and so is the next
  until_key text,
  row_count bigint NOT NULL DEFAULT 0,
  page_count integer NOT NULL DEFAULT 0,
  PRIMARY KEY (name, number)
)`;
const CLOSE = [
  `CREATE FUNCTION ${GUARD}() RETURNS trigger LANGUAGE plpgsql AS
   $$ BEGIN RAISE EXCEPTION 'a copy into this database is not finished: run "heliograph copy" again'; END $$`,
  `CREATE TRIGGER ${GUARD} BEFORE UPDATE ON counter FOR EACH ROW EXECUTE FUNCTION ${GUARD}()`,
];
const OPEN = [`DROP TRIGGER ${GUARD} ON counter`, `DROP FUNCTION ${GUARD}()`, "DROP TABLE copy_progress"];

/** Duplicate table, function or object; a unique violation in the catalogue while the other is not committed yet. */
const THERE_ALREADY = new Set(["42P07", "42723", "42710", "23505"]);

/**
 * Pages are sent without waiting for those before them. After a failure the next one would leave a gap, were it not that its progress
 * then has no page to follow: the count is null, which the column does not take, and the page fails too.
 */
const ADVANCE = `UPDATE copy_progress SET last_key = $4, row_count = row_count + $5,
    page_count = CASE WHEN last_key = $3 THEN page_count + 1 END
  WHERE name = $1 AND number = $2`;

export class CopyTarget {
  readonly reader = new PostgresReader(() => this.#session());
  readonly #url: string;
  readonly #links = new Set<PostgresLink>();
  #link: PostgresLink | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  /** A connection of its own, without limits of time: a page may have to wait for a checkpoint. */
  async connect(readsAll = false): Promise<PostgresLink> {
    const link = new PostgresLink({ url: this.#url, statementTimeoutMs: 0, leaseMs: 0, readsAll }, "heliograph copy");
    this.#links.add(link);
    try {
      await link.connect(() => undefined);
    } catch (error) {
      throw asDatabaseError(error);
    }
    return link;
  }

  async #session(): Promise<Session> {
    this.#link ??= await this.connect(true);
    return this.#link;
  }

  async close(): Promise<void> {
    for (const link of this.#links) {
      if (link.alive && link.atRest) await link.end();
      else link.destroy();
    }
  }

  // --- The beginning -------------------------------------------------------------------------------------------------------

  /** Nodes that run on it, by their names. */
  async nodes(): Promise<string[]> {
    const rows = await this.reader.rows<{ name: string }>(
      "SELECT name FROM node WHERE alive_until > clock_timestamp() ORDER BY epoch",
    );
    return rows.map(({ name }) => name);
  }

  /** The first table that has rows; null when there is nothing. */
  async firstWithRows(): Promise<string | null> {
    for (const table of [...COPIED.map(({ name }) => name), "message_name"])
      if ((await this.reader.rows(`SELECT 1 FROM ${table} LIMIT 1`)).length > 0) return table;
    return null;
  }

  /** What the source looked like when the copy was begun; null when none was. */
  async begun(): Promise<Map<string, string> | null> {
    const [found] = await this.reader.rows<{ there: boolean }>(
      "SELECT to_regclass('copy_progress') IS NOT NULL AS there",
    );
    return found?.there === true
      ? new Map(await this.reader.pairs("SELECT name, source AS value FROM copy_progress"))
      : null;
  }

  /** From now on nobody can start on the database before the copy is whole. */
  async begin(looks: ReadonlyMap<string, string>, stretches: readonly Stretch[]): Promise<void> {
    const session = await this.#session();
    const start = async (): Promise<void> => {
      for (const text of [PROGRESS, ...CLOSE]) await session.script(text);
      // Only now is it certain that no node comes: one that was about to start has started, or waits for us and fails.
      const [node] = await this.nodes();
      if (node !== undefined) throw new CopyRefused(`${node} has just started on the database: stop it, then copy`);
      for (const [name, source] of looks) {
        const known = stretches.filter((stretch) => stretch.name === name);
        // What has no pages (the counter is written at the end) is noted all the same.
        const places = known.length > 0 ? known : [{ name, number: 0, last: [], until: null }];
        for (const { number, last, until } of places)
          await session.query(
            "INSERT INTO copy_progress (name, number, source, last_key, until_key) VALUES ($1, $2, $3, $4, $5)",
            [name, number, source, JSON.stringify(last), until === null ? null : JSON.stringify(until)],
          );
      }
    };
    try {
      await inTransaction(session, start);
    } catch (error) {
      if (!THERE_ALREADY.has((error as { code?: string }).code ?? "")) throw error;
      throw new CopyRefused("another copy into this database has just begun: let it end, or name another with --to");
    }
  }

  async stretches(): Promise<Stretch[]> {
    const rows = await this.reader.rows<{
      name: string;
      number: number;
      last_key: string;
      until_key: string | null;
      row_count: number;
    }>("SELECT name, number, last_key, until_key, row_count FROM copy_progress ORDER BY name, number");
    return rows.map(({ name, number, last_key, until_key, row_count }) => ({
      name,
      number,
      last: JSON.parse(last_key),
      until: until_key === null ? null : JSON.parse(until_key),
      rows: row_count,
    }));
  }

  // --- The end -------------------------------------------------------------------------------------------------------------

  /** Ids go on above the highest, nobody trusts what it knew of the catalogue before, and the database is open. */
  async finish(
    highestIds: ReadonlyMap<string, string>,
    { changes, starts, purpose, is_backup }: CounterRow,
  ): Promise<void> {
    const session = await this.#session();
    await inTransaction(session, async () => {
      for (const [table, id] of highestIds)
        await session.query(
          "SELECT setval(pg_get_serial_sequence($1, 'id'), greatest(CAST($2 AS bigint), 1), CAST($2 AS bigint) > 0)",
          [table, id],
        );
      for (const text of OPEN) await session.script(text);
      // An epoch is never used twice, also where nodes had started on the empty database.
      await session.query(
        `UPDATE counter SET changes = greatest(changes, CAST($1 AS bigint)) + 1, starts = greatest(starts, CAST($2 AS bigint)),
           purpose = coalesce($3, purpose), is_backup = CAST($4 AS integer)`,
        [changes, starts, purpose, is_backup],
      );
    });
  }

  async purpose(): Promise<string | null> {
    const [row] = await this.reader.rows<{ purpose: string | null }>("SELECT purpose FROM counter");
    return row?.purpose ?? null;
  }
}

/** Writes pages of one stretch over a connection, each in a transaction with its progress. */
export class PageWriter {
  readonly #session: Session;
  readonly #table: CopiedTable;
  readonly #types: ColumnTypes;
  readonly #number: number;
  #last: string;

  constructor(session: Session, table: CopiedTable, types: ColumnTypes, { number, last }: Stretch) {
    this.#session = session;
    this.#table = table;
    this.#types = types;
    this.#number = number;
    this.#last = JSON.stringify(last);
  }

  /** Sends the page at once; resolves when it is committed. */
  async write({ rows, last }: CopyPage): Promise<void> {
    const session = this.#session;
    const { name } = this.#table;
    const before = this.#last;
    this.#last = JSON.stringify(last);
    const [, advanced] = await Promise.all([
      session.query("BEGIN"),
      session.query(ADVANCE, [name, this.#number, before, this.#last, rows.length]),
      sendRows(session, insertion(name, fieldsOf(this.#types)), rows),
      name === "message" ? sendRows(session, INSERT_NAMES, namesOf(rows)) : null,
      session.query("COMMIT"),
    ]);
    if (advanced.count !== 1) throw new CopyRefused("copy_progress was changed by somebody else");
  }
}

/** A message that was rejected does not use up its name. */
function namesOf(rows: readonly CopyRow[]): CopyRow[] {
  return rows
    .filter((row) => row.client_message_id !== null && !isRejected(row.status_id as number))
    .map(({ account_id, client_message_id, key }) => ({
      account_id: account_id!,
      client_message_id: client_message_id!,
      message_key: key!,
    }));
}
