/** Whole columns of rows as values of a statement: one array each, however many rows there are. */
import type { Session } from "../../drivers/postgres/link.ts";
import { arrayText, storable } from "../../drivers/postgres/values.ts";
import { compiled } from "../../runtime/compiled.ts";
import { perKey } from "../../runtime/lazy.ts";
import type { Field } from "../schema/table.ts";

/** A statement for any number of rows, and what is sent of each. */
export interface RowsStatement {
  readonly text: string;
  readonly sent: readonly Field[];
  /** The same for one row, whose values are sent as they are: a long text costs several times as much in an array. */
  readonly ofOne?: string;
}

/** What reads a field of a row: of its own, because to look a property up by a name that changes from call to call takes many times as long. */
const readerOf = perKey(({ name }: Field) => compiled<(row: object) => unknown>("row", `row.${name}`));

/** Sends a statement for all of the rows, with other values before theirs; without rows, none. */
export function sendRows<Row>(
  session: Session,
  { text, sent, ofOne }: RowsStatement,
  rows: readonly object[],
  before: readonly unknown[] = [],
): Promise<{ rows: Row[]; count: number }> {
  if (rows.length === 0) return Promise.resolve({ rows: [], count: 0 });
  const [first] = rows;
  if (rows.length === 1 && ofOne !== undefined)
    return session.query<Row>(
      ofOne,
      sent.map((field) => storable(readerOf(field)(first!))),
    );
  const columns = sent.map((field) => arrayText(rows, readerOf(field)));
  return session.query<Row>(text, [...before, ...columns]);
}

/** The columns of a table and their types. */
export type ColumnTypes = Readonly<Record<string, Field["type"]>>;

/** Columns by their own names. */
export function fieldsOf(types: ColumnTypes): Field[] {
  return Object.entries(types).map(([column, type]) => ({ name: column, column, type }));
}

/** Values that are sent to find rows by: their names in the code, and in the statement. */
export function wanted(names: Readonly<Record<string, readonly [column: string, type: Field["type"]]>>): Field[] {
  return Object.entries(names).map(([name, [column, type]]) => ({ name, column, type }));
}

/**
 * The rows that are sent, as a subquery. Its arrays run along side by side; `FROM unnest($1, $2, …)` would keep each of them as a table of its
 * own first, and cost the database three times as much.
 */
function sentRows(sent: readonly Field[], first = 1): string {
  return `SELECT ${sent.map(({ column, type }, index) => `unnest($${index + first}::${type}[]) AS ${column}`).join(", ")}`;
}

/**
 * `SELECT … FROM (the rows that are sent) AS wanted rest`, with `rest` what they are joined with. Rows that are wide are sorted by what is sent,
 * with `sortedBy`, and so joined and locked in that order: to sort them when they are whole costs more than to find them.
 */
export function selection(sent: readonly Field[], columns: string, rest: string, sortedBy?: string): RowsStatement {
  const order = sortedBy === undefined ? "" : ` ORDER BY ${sortedBy}`;
  return { sent, text: `SELECT ${columns} FROM (${sentRows(sent)}${order}) AS wanted ${rest}` };
}

export function insertion(table: string, sent: readonly Field[]): RowsStatement {
  const into = `INSERT INTO ${table} (${sent.map(({ column }) => column)})`;
  const values = sent.map(({ type }, index) => `$${index + 1}::${type}`);
  return { sent, text: `${into} ${sentRows(sent)}`, ofOne: `${into} VALUES (${values})` };
}

/**
 * Looks a column up among rows that are sent. Where `=` stands, the planner may walk the whole index instead, in its order, as soon as it believes that
 * the table is empty: tables whose rows come and go often look so, and are full a moment later. Messages do not come and go, and where they have one
 * partition PostgreSQL 18 forgets that it must not read a table whole.
 */
export function isAt(table: string, column: string, sent: string): string {
  return table === "message" ? `${table}.${column} = ${sent}` : `${table}.${column} = ANY (ARRAY[${sent}])`;
}

/** Sets the columns that are not in the key. */
export function updating(table: string, key: readonly Field[], sent: readonly Field[], first = 1): RowsStatement {
  const set = sent.filter((field) => !key.includes(field)).map(({ column }) => `${column} = changed.${column}`);
  const where = key.map(({ column }) => isAt(table, column, `changed.${column}`));
  const text = `UPDATE ${table} SET ${set.join(", ")} FROM (${sentRows(sent, first)}) AS changed WHERE ${where.join(" AND ")}`;
  return { sent, text };
}

/** Changes these rows of which `holds` is true, and fails if it is not true of all: `$1` is what it is compared with, `$2` how many rows there are. */
export function guardedUpdating(
  table: string,
  key: readonly Field[],
  sent: readonly Field[],
  holds: string,
): RowsStatement {
  const { text } = updating(table, key, sent, 3);
  return {
    sent,
    text: `WITH done AS (${text} AND ${holds} RETURNING 1) SELECT heliograph_require(count(*) = $2) FROM done`,
  };
}

export function deletion(table: string, sent: readonly Field[]): RowsStatement {
  const where = sent.map(({ column }) => isAt(table, column, `gone.${column}`));
  return { sent, text: `DELETE FROM ${table} USING (${sentRows(sent)}) AS gone WHERE ${where.join(" AND ")}` };
}

/**
 * A statement that leaves out what its rows do not need. Of the columns that are seldom needed there are sets, which come together or not at
 * all: few of them, because each makes twice as many variants to be prepared.
 */
export class Variants {
  readonly #sets: readonly (readonly string[])[];
  /** By the sets that are left out, a bit each. */
  readonly #without: (left: number) => RowsStatement;

  constructor(
    fields: readonly Field[],
    sets: readonly (readonly string[])[],
    make: (fields: readonly Field[]) => RowsStatement,
  ) {
    this.#sets = sets.filter((set) => set.length > 0);
    this.#without = perKey((left) => {
      const unneeded = this.#sets.filter((_, bit) => (left & (1 << bit)) !== 0).flat();
      return make(fields.filter(({ name }) => !unneeded.includes(name)));
    });
  }

  with(isNeeded: (name: string) => boolean): RowsStatement {
    return this.#without(this.#sets.reduce((left, set, bit) => (set.some(isNeeded) ? left : left | (1 << bit)), 0));
  }
}
