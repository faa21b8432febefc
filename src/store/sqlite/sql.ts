/** Statements on SQLite, prepared when they are named and answered at once. */
import type { Dialect, Sql, Statement, Value } from "../sql.ts";
import type { Db } from "./database.ts";
import type { SqliteTables } from "./tables.ts";

const DIALECT: Dialect = {
  lock: () => "",
  lockFree: () => "",
  along: (index) => (index === null ? "NOT INDEXED" : `INDEXED BY ${index}`),
  // The plus keeps SQLite from an index whose rows it would have to sort.
  plain: (column) => `+${column}`,
  json: (column) => column,
};

/** The tables whose rows may still be in memory. */
const WRITTEN_BEHIND = /\b(message|part|report|posting|purse)\b/;

export class SqliteSql implements Sql {
  readonly dialect = DIALECT;
  readonly #db: Db;
  readonly #tables: SqliteTables;

  constructor(db: Db, tables: SqliteTables) {
    this.#db = db;
    this.#tables = tables;
  }

  prepare<Values extends Value[], Row>(text: string): Statement<Values, Row> {
    const statement = this.#db.prepare<Value[], Row>(text);
    const tables = this.#tables;
    const looksAtRows = WRITTEN_BEHIND.test(text);
    const ready = () => {
      if (looksAtRows) tables.flush();
      return statement;
    };
    return {
      get: (...values) => ready().get(...values),
      all: (...values) => ready().all(...values),
      run(...values) {
        const { changes } = ready().run(...values);
        tables.dropRead();
        return changes;
      },
    };
  }
}
