/** What a copy reads of a database, on whichever connection: rows, how many there are, and the types of columns. */
import type { Session } from "../drivers/postgres/link.ts";
import type { ColumnTypes } from "../store/postgres/columns.ts";

export class PostgresReader {
  readonly #session: () => Promise<Session>;

  constructor(session: () => Promise<Session>) {
    this.#session = session;
  }

  async rows<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await (await this.#session()).query<Row>(text, values)).rows;
  }

  async count(table: string): Promise<number> {
    const [row] = await this.rows<{ count: number }>(`SELECT count(*) AS count FROM ${table}`);
    return row!.count;
  }

  /** The answer to a question that both sides understand: pairs of a name and a value. */
  async pairs(text: string): Promise<[string, string][]> {
    const rows = await this.rows<{ name: string; value: string }>(text);
    return rows.map(({ name, value }) => [name, value]);
  }

  /** The types of a table's columns, without those that are computed. */
  async types(table: string): Promise<ColumnTypes> {
    const rows = await this.rows<{ column: string; type: "bigint" | "integer" | "text" }>(
      `SELECT attname AS column, format_type(atttypid, atttypmod) AS type FROM pg_attribute
       WHERE attrelid = CAST($1 AS regclass) AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`,
      [table],
    );
    return Object.fromEntries(rows.map(({ column, type }) => [column, type]));
  }
}
