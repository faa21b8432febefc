/**
 * Statements made of a table's descriptor, for the commands that search: values by their names, as the code has them. Flags, JSON and amounts become
 * what their columns hold, and back. Whatever else a statement says is written as SQL.
 */
import type { AnyTable, NewRow, Row } from "./schema/table.ts";
import type { Awaitable, Sql, Statement, Value } from "./sql.ts";

type NameIn<Of extends AnyTable> = keyof Row<Of> & string;
type Values = Readonly<Record<string, unknown>>;

/** What stands behind WHERE or SET, a piece for each. */
export const equal = (table: AnyTable, names: readonly string[]) =>
  table.pick(names).map(({ column }) => `${column} = ?`);

function valuesOf(table: AnyTable, names: readonly string[], row: Values): Value[] {
  return names.map((name) => {
    const value = row[name] ?? table.defaultOf(name) ?? null;
    const { store } = table.columns[name]!;
    return value === null || store === undefined ? value : store(value as never);
  });
}

/** Inserts a row. `id` also says which one the database has given it. */
export function inserting<Of extends AnyTable>(sql: Sql, table: Of, rest = "") {
  const fields = table.sent.filter(({ name }) => !table.later.includes(name));
  const statement = sql.prepare<Value[], { id: number }>(
    `INSERT INTO ${table.name} (${fields.map(({ column }) => column)}) VALUES (${fields.map(() => "?")}) ${rest}`,
  );
  const names = fields.map(({ name }) => name);
  return {
    run: (row: NewRow<Of>): Awaitable<unknown> => statement.run(...valuesOf(table, names, row)),
    id: async (row: Omit<NewRow<Of>, "id">) => (await statement.get(...valuesOf(table, names, row)))!.id,
  };
}

/** Sets some columns of the row that has this key; `also` is SQL. */
export function updating<Of extends AnyTable, Set extends NameIn<Of>>(sql: Sql, table: Of, set: Set[], also?: string) {
  const all = [...equal(table, set), ...(also === undefined ? [] : [also])];
  const statement = sql.prepare(`UPDATE ${table.name} SET ${all} WHERE ${equal(table, table.key).join(" AND ")}`);
  return (row: Pick<Row<Of>, Set | Of["key"][number]>): Awaitable<unknown> =>
    statement.run(...valuesOf(table, [...set, ...table.key], row));
}

/** Makes SELECTs. Flags, JSON and amounts are read by the names that they have in these tables. */
export function finder(sql: Sql, ...tables: readonly AnyTable[]) {
  const columns: AnyTable["columns"] = Object.assign({}, ...tables.map((table) => table.columns));
  const formed = Object.keys(columns).filter((name) => columns[name]!.read !== undefined);
  const read = (row: Record<string, unknown>) => {
    for (const name of formed) if (row[name] != null) row[name] = columns[name]!.read!(row[name] as never);
    return row;
  };
  return <Given extends Value[], Row extends object>(text: string): Pick<Statement<Given, Row>, "get" | "all"> => {
    const statement = sql.prepare<Given, Record<string, unknown>>(text);
    return {
      get: async (...values) => {
        const row = await statement.get(...values);
        return row === undefined ? undefined : (read(row) as Row);
      },
      all: async (...values) => (await statement.all(...values)).map(read) as Row[],
    };
  };
}

/** A SELECT of some columns of the rows that have these values in others. */
export function selecting<
  Of extends AnyTable,
  const Names extends readonly NameIn<Of>[],
  const By extends readonly NameIn<Of>[],
>(sql: Sql, table: Of, names: Names, by: By, rest = "") {
  const text = `SELECT ${table.named(...names)} FROM ${table.name} WHERE ${equal(table, by).join(" AND ")} ${rest}`;
  type Given = { -readonly [Place in keyof By]: Extract<Row<Of>[By[Place]], Value> };
  return finder(sql, table)<Given, Pick<Row<Of>, Names[number]>>(text);
}

/** Counts the rows that are named as SQL behind FROM. */
export function counting<Given extends Value[]>(sql: Sql, rows: string): (...values: Given) => Promise<number> {
  const statement = sql.prepare<Given, { count: number }>(`SELECT count(*) AS count FROM ${rows}`);
  return async (...values) => (await statement.get(...values))!.count;
}

/** Rows that go with their age: what names one, and the column that says how old it is. */
interface Aging {
  readonly table: string;
  readonly key: string;
  readonly at: string;
  /** Which rows alone are meant. */
  readonly only?: string;
}

/** Deletes a page of those from before a time, the oldest first, and says whether there may be more. */
export function purging(sql: Sql, { table, key, at, only = "TRUE" }: Aging) {
  const purge = sql.prepare<[number, number]>(
    `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${only} AND ${at} < ? ORDER BY ${at} LIMIT ?)`,
  );
  return async ({ beforeMs, limit }: { readonly beforeMs: number; readonly limit: number }) => ({
    more: (await purge.run(beforeMs, limit)) >= limit,
  });
}
