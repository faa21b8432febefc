/** Whole columns of rows as values of a statement: one array each, however many rows there are. */
import type { Session } from "./link.ts";

/** Columns of a table and their types, in the order in which they are sent. */
export type ColumnTypes = Readonly<Record<string, "bigint" | "integer" | "text">>;

function unnest(types: ColumnTypes): string {
  return `unnest(${Object.values(types)
    .map((type, index) => `$${index + 1}::${type}[]`)
    .join(", ")})`;
}

/** PostgreSQL's text has no U+0000, which means nothing in a message or a name: the sign for what cannot be shown stands for it. */
export function storable<Value>(value: Value): Value | string {
  return typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
}

function arrays(types: ColumnTypes, rows: readonly object[]): unknown[][] {
  return Object.keys(types).map((column) =>
    rows.map((row) => {
      const value = (row as Record<string, unknown>)[column];
      // The driver writes numbers and text as they are, and takes anything else for an object.
      return typeof value === "bigint" ? value.toString() : storable(value);
    }),
  );
}

/** `SELECT … FROM unnest(…) AS wanted(…) rest`, with `rest` what the rows are joined with. */
export function selection(types: ColumnTypes, columns: string, rest: string): string {
  return `SELECT ${columns} FROM ${unnest(types)} AS wanted (${Object.keys(types).join(", ")}) ${rest}`;
}

/** Sends a statement for all of the rows; without rows, none. */
export function sendRows<Row>(
  session: Session,
  text: string,
  types: ColumnTypes,
  rows: readonly object[],
): Promise<{ rows: Row[]; count: number }> {
  if (rows.length === 0) return Promise.resolve({ rows: [], count: 0 });
  return session.query<Row>(text, arrays(types, rows));
}

export function insertion(table: string, types: ColumnTypes): string {
  const columns = Object.keys(types).join(", ");
  return `INSERT INTO ${table} (${columns}) SELECT * FROM ${unnest(types)}`;
}

/** Sets the columns that are not in the key. */
export function updating(table: string, key: readonly string[], types: ColumnTypes): string {
  const columns = Object.keys(types);
  const set = columns.filter((column) => !key.includes(column)).map((column) => `${column} = changed.${column}`);
  const where = key.map((column) => `${table}.${column} = changed.${column}`);
  return `UPDATE ${table} SET ${set.join(", ")} FROM ${unnest(types)} AS changed (${columns.join(", ")}) WHERE ${where.join(" AND ")}`;
}

export function deletion(table: string, types: ColumnTypes): string {
  const columns = Object.keys(types);
  const where = columns.map((column) => `${table}.${column} = gone.${column}`);
  return `DELETE FROM ${table} USING ${unnest(types)} AS gone (${columns.join(", ")}) WHERE ${where.join(" AND ")}`;
}
