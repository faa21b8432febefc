/**
 * What the commands need of a SQL database. They are written once, in the SQL that SQLite and PostgreSQL share; where the two differ
 * there is a word in the dialect. SQLite answers at once and PostgreSQL later, so whoever asks awaits.
 */
export type Value = string | number | bigint | null;
export type Awaitable<Result> = Result | Promise<Result>;

/** A statement with a `?` for each value. */
export interface Statement<Values extends Value[], Row> {
  get(...values: Values): Awaitable<Row | undefined>;
  all(...values: Values): Awaitable<Row[]>;
  /** Returns how many rows were changed. */
  run(...values: Values): Awaitable<number>;
}

export interface Dialect {
  /** Locks the rows that a SELECT finds; of the named table where there are several. SQLite has one writer and needs no locks. */
  lock(table?: string): string;
  /** The same, and passes over rows that another node has locked. */
  lockFree(table?: string): string;
  /** Names the index to use; null for none. PostgreSQL finds it by itself. */
  along(index: string | null): string;
  /** The column that says in which of the states a message waits: 0, 1, or 3 in a bulk that has a version. In another it has another value, or none. */
  readonly waits: string;
  /** A column of text that must not lead the planner to an index. */
  plain(column: string): string;
  /** A column of text, read as JSON. */
  json(column: string): string;
  /** The items of a JSON array that is given as a text, as rows named `item` with a column `value`. */
  readonly items: string;
  /** Whether the text before it is among those of a JSON array that is given as a text: looked up one by one in an index. */
  readonly amongTexts: string;
  /** The same of whole numbers, each of which is a text in the array: a key may be beyond 2^53. */
  readonly amongKeys: string;
  /** The time by the clock of the machine that has the database, in milliseconds since 1970. */
  readonly nowMs: string;
}

export interface Sql {
  readonly dialect: Dialect;
  prepare<Values extends Value[] = Value[], Row = never>(text: string): Statement<Values, Row>;
  /** The same for rows that have been as they are for long: those of the last seconds may be missing, or be as they were. */
  prepareStaleRead<Values extends Value[] = Value[], Row = never>(text: string): Statement<Values, Row>;
}
