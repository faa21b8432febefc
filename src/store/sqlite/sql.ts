/** Statements on SQLite, prepared when they are named and answered at once. */
import type { Dialect, Sql, Statement, Value } from "../sql.ts";
import type { Db } from "./database.ts";

const DIALECT: Dialect = {
  lock: () => "",
  lockFree: () => "",
  along: (index) => (index === null ? "NOT INDEXED" : `INDEXED BY ${index}`),
  // The plus keeps SQLite from an index whose rows it would have to sort.
  plain: (column) => `+${column}`,
  json: (column) => column,
};

export class SqliteSql implements Sql {
  readonly dialect = DIALECT;
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  prepare<Values extends Value[], Row>(text: string): Statement<Values, Row> {
    const statement = this.#db.prepare<Value[], Row>(text);
    return {
      get: (...values) => statement.get(...values),
      all: (...values) => statement.all(...values),
      run: (...values) => statement.run(...values).changes,
    };
  }
}
