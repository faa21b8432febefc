/** Statements on PostgreSQL, sent over the session of the transaction that is under way. */
import type { Session } from "../../drivers/postgres/link.ts";
import { storable } from "../../drivers/postgres/values.ts";
import type { Dialect, Sql, Statement, Value } from "../sql.ts";

const DIALECT: Dialect = {
  lock: (table) => (table === undefined ? "FOR UPDATE" : `FOR UPDATE OF ${table}`),
  lockFree: (table) => (table === undefined ? "FOR UPDATE SKIP LOCKED" : `FOR UPDATE OF ${table} SKIP LOCKED`),
  along: () => "",
  waits: "waits",
  plain: (column) => `${column} || ''`,
  json: (column) => `CAST(${column} AS json)`,
  items: "json_array_elements(CAST(? AS json)) AS item(value)",
  // An array and no subquery in IN: that would be joined, and a join may read the whole table.
  amongTexts: "= ANY (ARRAY(SELECT json_array_elements_text(CAST(? AS json))))",
  amongKeys: "= ANY (CAST(ARRAY(SELECT json_array_elements_text(CAST(? AS json))) AS bigint[]))",
  nowMs: "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)",
};

/** "a = ? AND b = ?" → "a = $1 AND b = $2" */
function numbered(text: string): string {
  let count = 0;
  return text.replaceAll("?", () => `$${++count}`);
}

export class PostgresSql implements Sql {
  readonly dialect = DIALECT;
  readonly #session: () => Session;

  constructor(session: () => Session) {
    this.#session = session;
  }

  prepare<Values extends Value[], Row>(text: string): Statement<Values, Row> {
    const wanted = numbered(text);
    return {
      get: async (...values) => (await this.#session().query<Row>(wanted, values.map(storable))).rows[0],
      all: async (...values) => (await this.#session().query<Row>(wanted, values.map(storable))).rows,
      run: async (...values) => (await this.#session().query(wanted, values.map(storable))).count,
    };
  }

  /** Its tables are never behind. */
  prepareStaleRead<Values extends Value[], Row>(text: string): Statement<Values, Row> {
    return this.prepare(text);
  }
}
