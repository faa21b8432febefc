/**
 * The statements of one table in the database file, from its declaration. What is written here may be written a second time, from the journal, and
 * then changes nothing more: new rows come with their ids, and a change says what a column is from then on.
 */
import type { Db } from "../../drivers/sqlite/database.ts";
import { compiled } from "../../runtime/compiled.ts";
import { equal } from "../by-name.ts";
import type { AnyTable, Row, RowChange, Value } from "../schema/table.ts";
import { InsertTogether, type RowForm } from "./insert-together.ts";

interface Written {
  readonly changes: number;
  readonly lastInsertRowid: number | bigint;
}

type Statement = { run(...values: Value[]): Written };
type Insert<Of extends AnyTable> = { readonly statement: Statement; readonly form: RowForm<Of> };

export class TableStatements<Of extends AnyTable> {
  readonly table: Of;
  readonly #db: Db;
  readonly #where: string;
  readonly #once: boolean;
  readonly #byKey;
  readonly #delete: Statement;
  /** By the sets of seldom columns that they name: a value costs a sixth of a microsecond, so most rows leave out their defaults. */
  readonly #inserts: Insert<Of>[] = [];
  readonly #together: InsertTogether<Of>;
  readonly #updates = new Map<string, Statement>();

  /** `once`: a row that is there already stays as it is, for what may be written a second time from the journal. */
  constructor(db: Db, table: Of, { once = false } = {}) {
    this.#db = db;
    this.#once = once;
    this.table = table;
    this.#together = new InsertTogether(db, table, (sets) => this.#form(sets));
    this.#where = equal(table, table.key).join(" AND ");
    this.#byKey = this.select<Value[]>(this.#where);
    this.#delete = db.prepare<Value[]>(`DELETE FROM ${table.name} WHERE ${this.#where}`);
  }

  /** Whole rows, by what stands behind WHERE. */
  select<Values extends Value[]>(where: string) {
    const { name, list } = this.table;
    return this.#db.prepare<Values, Row<Of>>(`SELECT ${list} FROM ${name} WHERE ${where}`);
  }

  get(...key: Value[]): Row<Of> | undefined {
    return this.#byKey.get(...key);
  }

  insert(row: Row<Of>): Written {
    const sets = this.table.seldomOf(row);
    this.#inserts[sets] ??= this.#makeInsert(sets);
    const { statement, form } = this.#inserts[sets];
    return statement.run(...form.valuesOf(row));
  }

  /** Inserts many rows that nobody has inserted before. Returns those that are to be inserted by themselves. */
  insertTogether(rows: readonly Row<Of>[]): readonly Row<Of>[] {
    return this.#together.insert(rows);
  }

  #makeInsert(sets: number): Insert<Of> {
    const { name, key } = this.table;
    const form = this.#form(sets);
    const conflict = this.#once ? ` ON CONFLICT (${this.table.pick(key).map(({ column }) => column)}) DO NOTHING` : "";
    const statement = this.#db.prepare<Value[]>(
      `INSERT INTO ${name} (${form.columns}) VALUES (${form.places})${conflict}`,
    );
    return { statement, form };
  }

  #form(sets: number): RowForm<Of> {
    const { fields, seldomSets, columns } = this.table;
    const left = new Set(seldomSets.filter((_, bit) => (sets & (1 << bit)) === 0).flat());
    const named = fields.filter((field) => !left.has(field.name));
    // What has a default here but none in the database is always said.
    const fixed = [...left].flatMap((each) => (columns[each]!.default === undefined ? [] : this.table.pick([each])));
    const all = [...named, ...fixed];
    const places = [...named.map(() => "?"), ...fixed.map((field) => literal(columns[field.name]!.default!))];
    return {
      columns: all.map(({ column }) => column),
      places,
      valuesOf: compiled("row", `[${named.map((field) => `row.${field.name}`)}]`),
    };
  }

  change(row: Row<Of>, change: RowChange<Of>): void {
    const key = this.table.key.map((name) => row[name as keyof Row<Of>] as Value);
    this.changeByKey(key, change);
  }

  /** Only the columns that change are named, so that only their indexes are touched. */
  changeByKey(key: readonly Value[], change: RowChange<Of>): void {
    const names = Object.keys(change);
    if (names.length === 0) return;
    const id = names.join();
    let statement = this.#updates.get(id);
    if (statement === undefined) {
      // A change may come from the journal, where anything can be: SQL is made of known names only.
      const unknown = names.find((name) => !Object.hasOwn(this.table.columns, name));
      if (unknown !== undefined)
        throw new RangeError(`the table ${this.table.name} has no column ${JSON.stringify(unknown)}`);
      const set = equal(this.table, names).join(", ");
      statement = this.#db.prepare<Value[]>(`UPDATE ${this.table.name} SET ${set} WHERE ${this.#where}`);
      this.#updates.set(id, statement);
    }
    statement.run(...(Object.values(change) as Value[]), ...key);
  }

  /** The highest id that a row of the table has or had. */
  lastId(): number {
    const last = this.#db.prepare<[string], number>("SELECT seq FROM sqlite_sequence WHERE name = ?").pluck();
    return last.get(this.table.name) ?? 0;
  }

  delete(...key: Value[]): void {
    this.#delete.run(...key);
  }
}

/** A value as SQL has it. */
function literal(value: string | number): string {
  return typeof value === "number" ? String(value) : `'${value.replaceAll("'", "''")}'`;
}
