/**
 * How a table is declared: once, as a list of columns. From the declaration come
 *
 *      the types        Row (as it is read), NewRow (as it is made), RowChange (what may change of it)
 *      SQL              the SELECT list, inserts and updates of both engines, PostgreSQL's column types
 *      the journal      a row as a list of values, and back (sqlite/journal.ts)
 *
 * Functions that run for every row are compiled from the declaration at start, as serializers do it: the row of a new message is made in 0.14 µs,
 * and by a loop over its columns in 4.8.
 */
import { compiled } from "../../runtime/compiled.ts";

type SqlType = "integer" | "bigint" | "text";

/** What is said of a column. */
interface ColumnFacts {
  /** Its name in the database, where that is another one than in the code: "atMs" is at_ms without a word. */
  readonly column?: string;
  readonly null?: true;
  /** What it is unless something else is said; null for a column that can be null. */
  readonly default?: string | number | boolean;
  /** A new row always has the default: the column gets its value by a change. */
  readonly later?: true;
  /** It may change. A name puts it into a set of columns that an UPDATE has together or not at all. */
  readonly changes?: true | string;
  /** PostgreSQL gives it. SQLite's rows have it before they are in their table, so there it is counted here. */
  readonly numbered?: true;
  /** Most rows have the default. The name is that of a set of columns that an INSERT has together or not at all. */
  readonly seldom?: string;
}

interface Column<Value, Facts extends ColumnFacts> extends ColumnFacts {
  readonly type: SqlType;
  /** It is read as text, because it may be beyond 2^53. */
  readonly isDigits: boolean;
  /** What statements by names (store/by-name.ts) make of the code's value, and of the column's. */
  readonly store?: (value: never) => unknown;
  readonly read?: (stored: never) => unknown;
  /** For the types only. */
  readonly of?: { readonly value: Value; readonly facts: Facts };
}

// biome-ignore lint/suspicious/noExplicitAny: whatever it holds
type AnyColumn = Column<any, ColumnFacts>;
type Columns = Readonly<Record<string, AnyColumn>>;
type Nullable<Value, Facts extends ColumnFacts> = Facts["null"] extends true ? Value | null : Value;

function columnOf<Value>(type: SqlType, isDigits = false, forms: Pick<AnyColumn, "store" | "read"> = {}) {
  return <const Facts extends ColumnFacts>(facts: Facts = {} as Facts): Column<Nullable<Value, Facts>, Facts> => ({
    ...facts,
    ...forms,
    type,
    isDigits,
  });
}

/** A number of up to 31 bits. */
export const int = columnOf<number>("integer");
/** A number of up to 53 bits: a time, or an id that the database gives. */
export const long = columnOf<number>("bigint");
/** A number of up to 63 bits, as its digits: a key that we give, or an amount. */
export const digits = columnOf<string>("bigint", true, { store: BigInt });
export const text = columnOf<string>("text");
/** A text that is one of a few. */
export const oneOf = <Value extends string>() => columnOf<Value>("text");
/** A number that is one of a few. */
export const oneOfInts = <Value extends number>() => columnOf<Value>("integer");
export const flag = columnOf<boolean>("integer", false, { store: Number, read: (stored) => stored === 1 });
export const amount = columnOf<bigint>("bigint", true, { read: BigInt });
export const json = <Value>() => columnOf<Value>("text", false, { store: JSON.stringify, read: JSON.parse });

type ValueOf<Some extends AnyColumn> = NonNullable<Some["of"]>["value"];
type FactsOf<Some extends AnyColumn> = NonNullable<Some["of"]>["facts"];
type IsLater<Some extends AnyColumn> = FactsOf<Some>["later"] extends true ? true : false;
type HasDefault<Some extends AnyColumn> = FactsOf<Some> extends { default: unknown } | { null: true } ? true : false;
type Changes<Some extends AnyColumn> = FactsOf<Some> extends { changes: unknown } ? true : false;

type RowOf<Of extends Columns> = { readonly [Name in keyof Of]: ValueOf<Of[Name]> };
type NewRowOf<Of extends Columns> = {
  readonly [Name in keyof Of as IsLater<Of[Name]> | HasDefault<Of[Name]> extends false ? Name : never]: ValueOf<
    Of[Name]
  >;
} & {
  readonly [Name in keyof Of as IsLater<Of[Name]> extends true
    ? never
    : HasDefault<Of[Name]> extends true
      ? Name
      : never]?: ValueOf<Of[Name]> | undefined;
};
type ChangeOf<Of extends Columns> = {
  readonly [Name in keyof Of as Changes<Of[Name]> extends true ? Name : never]?: ValueOf<Of[Name]>;
};

// biome-ignore lint/suspicious/noExplicitAny: whatever its columns are
export type AnyTable = Table<any, readonly string[]>;

export type Row<Of extends AnyTable> = RowOf<Of["columns"]>;
export type NewRow<Of extends AnyTable> = NewRowOf<Of["columns"]>;
export type RowChange<Of extends AnyTable> = ChangeOf<Of["columns"]>;

/** A value as a row and the journal have it. */
export type Value = string | number | null;

/** A column as statements need it. */
export interface Field {
  /** In the code. */
  readonly name: string;
  /** In the database. */
  readonly column: string;
  readonly type: SqlType;
}

export class Table<Of extends Columns = Columns, const Key extends readonly string[] = readonly string[]> {
  readonly name: string;
  readonly columns: Of;
  readonly key: Key;
  readonly fields: readonly Field[];
  /** For a SELECT. */
  readonly list: string;
  /** A row with its defaults, after a look at its numbers. */
  readonly create: (fresh: NewRowOf<Of>) => RowOf<Of>;
  /** Its values in the order of the columns, without those of the seldom columns at the end if all have their default. */
  readonly valuesOf: (row: RowOf<Of>) => readonly Value[];
  /** Where a row differs from another: the place of each such column, and its value behind it. */
  readonly differences: (row: RowOf<Of>, before: RowOf<Of>) => readonly Value[];
  /** The sets of seldom columns of which a row has a value, a bit each. */
  readonly seldomOf: (row: RowOf<Of>) => number;
  /** The seldom columns by their set, in the order of the bits. */
  readonly seldomSets: readonly (readonly string[])[];

  constructor(name: string, key: Key, columns: Of) {
    this.name = name;
    this.key = key;
    this.columns = columns;
    const names = Object.keys(columns);
    this.fields = names.map((each) => ({
      name: each,
      column: columns[each]!.column ?? each.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      type: columns[each]!.type,
    }));
    this.list = this.listOf(this.fields);
    this.seldomSets = setsOf(names, (each) => columns[each]!.seldom);
    const usual = names.filter((each) => columns[each]!.seldom === undefined);
    const seldom = names.filter((each) => columns[each]!.seldom !== undefined);
    if (names.join() !== [...usual, ...seldom].join()) throw new Error(`the seldom columns of ${name} must come last`);
    this.create = compiled("fresh", `({ ${names.map((each) => this.#made(each)).join(", ")} })`, { whole });
    const isUsual = seldom.map((each) => `row.${each} === ${this.#default(each)}`).join(" && ");
    const all = list(names);
    this.valuesOf = compiled("row", seldom.length === 0 ? all : `${isUsual} ? ${list(usual)} : ${all}`);
    const differs = names.map((each, place) => `if (row.${each} !== before.${each}) list.push(${place}, row.${each})`);
    this.differences = compiled("row, before", `{ const list = []; ${differs.join("; ")}; return list; }`);
    const bits = this.seldomSets.map((set, bit) => {
      const differs = set.map((each) => `row.${each} !== ${this.#default(each)}`).join(" || ");
      return `(${differs} ? ${1 << bit} : 0)`;
    });
    this.seldomOf = compiled("row", bits.join(" | ") || "0");
  }

  /** A list of some columns for a SELECT. */
  listOf(fields: readonly Field[]): string {
    return fields.map((field) => selected(field, this.columns[field.name]!)).join(", ");
  }

  /** Some columns for a SELECT that may join this table with others. */
  named(...names: readonly (keyof Of & string)[]): string {
    const ofTable = (field: Field) => ({ ...field, column: `${this.name}.${field.column}` });
    return this.listOf(this.pick(names).map(ofTable));
  }

  /** Fields by their names in the code, in this order. */
  pick(names: readonly string[]): Field[] {
    return names.map((name) => this.fields.find((field) => field.name === name)!);
  }

  /** What is sent of a new row to a database that numbers its rows. */
  get sent(): readonly Field[] {
    return this.fields.filter(({ name }) => this.columns[name]!.numbered !== true);
  }

  /** The columns that a new row has the default of. */
  get later(): readonly string[] {
    return Object.keys(this.columns).filter((name) => this.columns[name]!.later === true);
  }

  /** The key, and what may change. */
  get changing(): readonly Field[] {
    return this.fields.filter(({ name }) => this.key.includes(name) || this.columns[name]!.changes !== undefined);
  }

  /** The changing columns of which most changes have none, by their set. */
  get changeSets(): readonly (readonly string[])[] {
    return setsOf(Object.keys(this.columns), (name) => {
      const { changes } = this.columns[name]!;
      return changes === true ? undefined : changes;
    });
  }

  /** The row of values in this order of names; what is missing has its default, and what is here no more is left. */
  rowOf(names: readonly string[], values: readonly Value[]): RowOf<Of> {
    const places = new Map(names.map((name, place) => [name, place]));
    const row = Object.keys(this.columns).map((name) => {
      const given = values[places.get(name) ?? -1];
      const value = given === undefined ? this.defaultOf(name) : given;
      if (value === undefined) throw new RangeError(`it has no ${name}`);
      return [name, value];
    });
    return Object.fromEntries(row) as RowOf<Of>;
  }

  /** What a column is unless something else is said. */
  defaultOf(name: string): Value | undefined {
    const { default: given, null: isNull } = this.columns[name]!;
    if (typeof given === "boolean") return Number(given);
    return given ?? (isNull === true ? null : undefined);
  }

  #default(name: string): string {
    const value = this.defaultOf(name);
    if (value === undefined) throw new Error(`the column ${name} of ${this.name} needs a default`);
    return JSON.stringify(value);
  }

  /** "sent_at_ms: null", "flash: fresh.flash ?? 0", "state: whole(fresh.state, 'state')" */
  #made(name: string): string {
    const { later, type, isDigits } = this.columns[name]!;
    if (later === true) return `${name}: ${this.#default(name)}`;
    const given = this.defaultOf(name) === undefined ? `fresh.${name}` : `fresh.${name} ?? ${this.#default(name)}`;
    return type === "text" || isDigits ? `${name}: ${given}` : `${name}: whole(${given}, "${name}")`;
  }
}

/** The columns of each named set. */
function setsOf(names: readonly string[], setOf: (name: string) => string | undefined): string[][] {
  const sets = new Map<string, string[]>();
  for (const name of names) {
    const set = setOf(name);
    if (set !== undefined) sets.set(set, [...(sets.get(set) ?? []), name]);
  }
  return [...sets.values()];
}

/** "CAST(price_micros AS TEXT) AS "price"" */
function selected({ name, column }: Field, { isDigits }: AnyColumn): string {
  if (isDigits) return `CAST(${column} AS TEXT) AS "${name}"`;
  return name === column ? column : `${column} AS "${name}"`;
}

const list = (names: readonly string[]): string => `[${names.map((name) => `row.${name}`).join(", ")}]`;

/**
 * The journal takes any number, and the columns of the tables only whole ones. So they are looked at before they are promised, wherever they come
 * from another thread. What else the tables want is seen to by types (NOT NULL, texts) and by what made the row (kinds, names that are taken, ids
 * of other rows).
 */
export function whole(value: number | null, column: string): number | null {
  if (value !== null && !Number.isSafeInteger(value))
    throw new RangeError(`${column} must be a whole number, not ${value}`);
  return value;
}
