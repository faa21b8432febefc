/** Whole columns of rows as values of a statement: one array each, however many rows there are. */
import type { Session } from "./link.ts";
import { arrayText } from "./values.ts";

/** Columns of a table and their types, in the order in which they are sent. */
export type ColumnTypes = Readonly<Record<string, "bigint" | "integer" | "text">>;

/**
 * The rows that are sent, as a subquery. Its arrays run along side by side; `FROM unnest($1, $2, …)` would keep each of them as a table of its
 * own first, and cost the database three times as much.
 */
function sentRows(types: ColumnTypes): string {
  const columns = Object.entries(types).map(([column, type], index) => `unnest($${index + 1}::${type}[]) AS ${column}`);
  return `SELECT ${columns.join(", ")}`;
}

/**
 * `SELECT … FROM (the rows that are sent) AS wanted rest`, with `rest` what they are joined with. Rows that are wide are sorted by what is sent,
 * with `sortedBy`, and so joined and locked in that order: to sort them when they are whole costs more than to find them.
 */
export function selection(types: ColumnTypes, columns: string, rest: string, sortedBy?: string): string {
  const order = sortedBy === undefined ? "" : ` ORDER BY ${sortedBy}`;
  return `SELECT ${columns} FROM (${sentRows(types)}${order}) AS wanted ${rest}`;
}

/** Sends a statement for all of the rows; without rows, none. */
export function sendRows<Row>(
  session: Session,
  text: string,
  types: ColumnTypes,
  rows: readonly object[],
): Promise<{ rows: Row[]; count: number }> {
  if (rows.length === 0) return Promise.resolve({ rows: [], count: 0 });
  return session.query<Row>(
    text,
    Object.keys(types).map((column) => arrayText(rows, (row) => (row as Record<string, unknown>)[column])),
  );
}

export function insertion(table: string, types: ColumnTypes): string {
  return `INSERT INTO ${table} (${Object.keys(types).join(", ")}) ${sentRows(types)}`;
}

/** Sets the columns that are not in the key. */
export function updating(table: string, key: readonly string[], types: ColumnTypes): string {
  const columns = Object.keys(types).filter((column) => !key.includes(column));
  const set = columns.map((column) => `${column} = changed.${column}`);
  const where = key.map((column) => `${table}.${column} = changed.${column}`);
  return `UPDATE ${table} SET ${set.join(", ")} FROM (${sentRows(types)}) AS changed WHERE ${where.join(" AND ")}`;
}

export function deletion(table: string, types: ColumnTypes): string {
  const where = Object.keys(types).map((column) => `${table}.${column} = gone.${column}`);
  return `DELETE FROM ${table} USING (${sentRows(types)}) AS gone WHERE ${where.join(" AND ")}`;
}

/** A statement with some of its columns. */
interface Variant {
  readonly text: string;
  readonly types: ColumnTypes;
}

/**
 * A statement that leaves out what its rows do not need. Of the columns that are seldom needed there are sets, which come together or not at
 * all: few of them, because each makes twice as many variants to be prepared.
 */
export class Variants {
  readonly #types: ColumnTypes;
  readonly #sets: readonly (readonly string[])[];
  readonly #make: (types: ColumnTypes) => string;
  readonly #made = new Map<number, Variant>();

  constructor(types: ColumnTypes, sets: readonly (readonly string[])[], make: (types: ColumnTypes) => string) {
    this.#types = types;
    this.#sets = sets;
    this.#make = make;
  }

  with(isNeeded: (column: string) => boolean): Variant {
    const left = this.#sets.map((set) => !set.some(isNeeded));
    const number = left.reduce((sum, isLeft) => sum * 2 + Number(isLeft), 0);
    let variant = this.#made.get(number);
    if (variant === undefined) {
      const unneeded = this.#sets.filter((_, index) => left[index]).flat();
      const types = Object.fromEntries(Object.entries(this.#types).filter(([column]) => !unneeded.includes(column)));
      variant = { types, text: this.#make(types) };
      this.#made.set(number, variant);
    }
    return variant;
  }
}

/** Inserts rows without the columns that none of them has a value for. */
export function insertRows(session: Session, statement: Variants, rows: readonly object[]): Promise<unknown> {
  const { text, types } = statement.with((column) =>
    rows.some((row) => (row as Record<string, unknown>)[column] !== null),
  );
  return sendRows(session, text, types, rows);
}
