/** The declarations of tables say what the databases have: on both engines each column, whether it can be null, and what it is by default. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import Database from "better-sqlite3";
import { PostgresConnection } from "../../src/drivers/postgres/connection.ts";
import { openDatabase } from "../../src/drivers/sqlite/database.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { ACCOUNT, API_KEY, LOGIN } from "../../src/store/schema/account.ts";
import { BULK, REPLAY } from "../../src/store/schema/bulk.ts";
import { MESSAGE, PART } from "../../src/store/schema/message.ts";
import { PIN, PIN_APPLICATION, PIN_TEMPLATE } from "../../src/store/schema/pin.ts";
import { POSTING } from "../../src/store/schema/posting.ts";
import { LATER, PARKED } from "../../src/store/schema/receipts.ts";
import { REPORT } from "../../src/store/schema/report.ts";
import type { AnyTable } from "../../src/store/schema/table.ts";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { PATIENT_MS, postgresUrl } from "../support/postgres.ts";
import { temporaryDirectory } from "../support/service.ts";

const BUSY: readonly AnyTable[] = [MESSAGE, PART, REPORT, POSTING, BULK, REPLAY, PARKED, LATER];
const TABLES: readonly AnyTable[] = [...BUSY, ACCOUNT, LOGIN, API_KEY, PIN_APPLICATION, PIN_TEMPLATE, PIN];

interface DatabaseColumn {
  readonly name: string;
  /** "bigint", "integer" or "text"; SQLite has one kind of integer. */
  readonly type: string;
  readonly isNull: boolean;
}

/** The database has it only to find rows by, or fills it in itself. */
const OF_THE_DATABASE = new Set(["message log_at_ms", "message waits", "later_receipt id"]);
/** Of a rejected message nobody asks for the carrier, which it may not have. The type of reports is always given. */
const NULL_IN_THE_DATABASE = new Set(["message carrier_id", "message notify_type"]);

const declared = (table: AnyTable): DatabaseColumn[] =>
  table.fields.map(({ name, column, type }) => ({
    name: column,
    type,
    isNull: table.columns[name]!.null === true || NULL_IN_THE_DATABASE.has(`${table.name} ${column}`),
  }));

function check(table: AnyTable, found: readonly DatabaseColumn[], typeOf: (type: string) => string): void {
  const own = found.filter(({ name }) => !OF_THE_DATABASE.has(`${table.name} ${name}`));
  const byName = (one: DatabaseColumn, other: DatabaseColumn) => (one.name < other.name ? -1 : 1);
  const expected = declared(table).map((column) => ({ ...column, type: typeOf(column.type) }));
  assert.deepEqual(own.toSorted(byName), expected.toSorted(byName), table.name);
}

test("on SQLite", async (t) => {
  const directory = await temporaryDirectory(t);
  migrate(openDatabase(directory));
  const db = new Database(join(directory, "heliograph.sqlite"), { readonly: true });
  t.after(() => db.close());
  for (const table of TABLES) {
    const columns = db.prepare(`PRAGMA table_xinfo(${table.name})`).all() as {
      name: string;
      type: string;
      notnull: number;
      pk: number;
    }[];
    const found = columns.map(({ name, type, notnull, pk }) => ({
      name,
      type: type.toLowerCase().split(" ")[0]!,
      isNull: notnull === 0 && pk === 0,
    }));
    check(table, found, (type) => (type === "text" ? "text" : "integer"));
  }
});

async function postgres(t: TestContext) {
  const url = await postgresUrl(t);
  const options = { url, connections: 1, statementTimeoutMs: PATIENT_MS, leaseMs: 60_000, log: silentLog };
  const connection = new PostgresConnection(options, "test");
  t.after(() => connection.close());
  return connection.session();
}

test("on PostgreSQL", async (t) => {
  const session = await postgres(t);
  for (const table of TABLES) {
    const { rows } = await session.query<DatabaseColumn>(
      `SELECT column_name AS name, data_type AS type, is_nullable = 'YES' AS "isNull" FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name = $1`,
      [table.name],
    );
    check(table, rows, (type) => type);
  }
});

test("a column that is left out of an INSERT has the declared default", async (t) => {
  const session = await postgres(t);
  const { rows } = await session.query<{ id: string; says: string }>(
    `SELECT table_name || ' ' || column_name AS id, column_default AS says FROM information_schema.columns
     WHERE table_schema = 'public' AND column_default IS NOT NULL`,
  );
  const defaults = new Map(rows.map(({ id, says }) => [id, says.replace(/^'(.*)'::\w+$/, "$1")]));
  for (const table of TABLES)
    for (const { name, column } of table.fields) {
      const { later, default: value } = table.columns[name]!;
      if (later === true && value !== undefined)
        assert.equal(defaults.get(`${table.name} ${column}`), String(table.defaultOf(name)), `${table.name} ${column}`);
    }
});

/** Of a message that is with its carrier. Those that are fetched and not pushed are marked so, and are in indexes of their own. */
const CHANGED_BY_A_RECEIPT = ["state", "status_id", "error_id", "done_at_ms", "parts_pending", "worst_event"].concat([
  "mcc_mnc",
  "last_report_id",
  "charged_micros",
]);

test("on PostgreSQL a receipt changes nothing of its message that an index has, so the row is written anew beside itself", async (t) => {
  const session = await postgres(t);
  const { rows } = await session.query<{ index: string; column: string }>(
    `SELECT CAST(indexrelid AS regclass) AS index, attname AS column FROM pg_index
     JOIN pg_depend ON objid = indexrelid AND refobjid = indrelid JOIN pg_attribute ON attrelid = indrelid AND attnum = refobjsubid
     WHERE indrelid = CAST('message' AS regclass)`,
  );
  assert.ok(rows.some(({ index, column }) => index === "message_queued" && column === "waits"));
  assert.deepEqual(
    rows.filter(({ column }) => CHANGED_BY_A_RECEIPT.includes(column)),
    [],
  );
});
