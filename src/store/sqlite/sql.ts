/** Statements on SQLite, prepared when they are first used and answered at once. To start, a service needs a few of the hundreds that there are. */
import type { Db } from "../../drivers/sqlite/database.ts";
import type { Dialect, Sql, Statement, Value } from "../sql.ts";
import { WRITTEN_BEHIND } from "./behind-tables.ts";
import type { SqliteTables } from "./tables.ts";

const DIALECT: Dialect = {
  lock: () => "",
  lockFree: () => "",
  along: (index) => (index === null ? "NOT INDEXED" : `INDEXED BY ${index}`),
  waits: "state",
  // The plus keeps SQLite from an index whose rows it would have to sort.
  plain: (column) => `+${column}`,
  json: (column) => column,
  items: "json_each(?) AS item",
  amongTexts: "IN (SELECT value FROM json_each(?))",
  amongKeys: "IN (SELECT CAST(value AS INTEGER) FROM json_each(?))",
  nowMs: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
};

/** What messages wait by. */
const OF_MESSAGES = /\b(message|quarantine)\b/;
const LOOKED_AT = new Map(WRITTEN_BEHIND.map((table) => [table, new RegExp(`\\b${table}\\b`)]));

export class SqliteSql implements Sql {
  readonly dialect = DIALECT;
  readonly #db: Db;
  readonly #tables: SqliteTables;

  constructor(db: Db, tables: SqliteTables) {
    this.#db = db;
    this.#tables = tables;
  }

  prepare<Values extends Value[], Row>(text: string): Statement<Values, Row> {
    const tables = this.#tables;
    const seen = [...LOOKED_AT].flatMap(([table, name]) => (name.test(text) ? [table] : []));
    const reads = text.trimStart().startsWith("SELECT");
    return this.#statement(text, () => {
      if (reads) for (const table of seen) tables.behind.flushTable(table);
      // What is changed here must not be changed back from the journal.
      else if (seen.length > 0) tables.flush();
    });
  }

  prepareStaleRead<Values extends Value[], Row>(text: string): Statement<Values, Row> {
    return this.#statement(text, () => this.#tables.behind.flushAged());
  }

  #statement<Values extends Value[], Row>(text: string, getReady: () => void): Statement<Values, Row> {
    const db = this.#db;
    const tables = this.#tables;
    const touched = { ofMessages: OF_MESSAGES.test(text) };
    let prepared: ReturnType<typeof db.prepare<Value[], Row>> | null = null;
    const statement = () => {
      prepared ??= db.prepare<Value[], Row>(text);
      return prepared;
    };
    return {
      get(...values) {
        getReady();
        return statement().get(...values);
      },
      all(...values) {
        getReady();
        return statement().all(...values);
      },
      run(...values) {
        getReady();
        const { changes } = statement().run(...values);
        tables.dropRead(touched);
        return changes;
      },
    };
  }
}
