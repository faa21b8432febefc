/**
 * Fills a store with millions of messages: the service itself handles one request, and what it wrote for that is copied, each copy at an
 * earlier time, with the ids of that time and phone numbers of its own. So columns are what the service makes them, and a change of the
 * schema needs nothing here unless it adds a table, or a column that must differ from message to message.
 *
 * The statements are the same for both databases.
 */
import { closeSync, fsyncSync, openSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { silentLog } from "../../src/runtime/log.ts";
import { replayJournal } from "../../src/store/sqlite/journal.ts";

export interface FillOrder {
  /** Whose messages are copied, all that there are. */
  readonly accountKey: string;
  readonly messages: number;
  /** The copies are spread over so long before the original, as evenly as whole milliseconds allow. */
  readonly overMs: number;
  readonly onProgress: (done: number) => void;
}

/** A database as the filler sees it. */
export interface Fillable {
  run(sql: string): Promise<void>;
  rows(sql: string): Promise<Record<string, unknown>[]>;
  /** Those that are written; what the database computes is not. */
  columnsOf(table: string): Promise<string[]>;
  /** There are places for keys from the first to the last. */
  makeRoom(firstKey: bigint, lastKey: bigint): Promise<void>;
  /** What is written is on disk and known to the planner, as it would be after the days that it took. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** What the service writes for a message, and which of it belongs to the original. */
const TABLES = [
  { name: "message", original: (accountId: number) => `account_id = ${accountId}` },
  { name: "posting", original: () => "message_key IN (SELECT key FROM original_message)" },
] as const;

/** How a copy's columns differ from the original's. All others are the same. */
const CHANGES: readonly [column: RegExp, copied: (column: string, request: number) => string | null][] = [
  [/^(key|message_key)$/, (column) => `o.${column} - s.earlier_ms * ${2 ** 21}`],
  // An id of ours, as text.
  [/^bulk_id$/, (column) => `CAST(CAST(o.${column} AS BIGINT) - s.earlier_ms * ${2 ** 21} AS TEXT)`],
  [/_at_ms$|^at_ms$/, (column) => `o.${column} - s.earlier_ms`],
  [/^recipient$/, (column, request) => `CAST(CAST(o.${column} AS BIGINT) - s.copy * ${request} AS TEXT)`],
  // In nobody's memory.
  [/^owner$/, () => "NULL"],
  // The database's to choose.
  [/^id$/, () => null],
];

/** Copies in one transaction. */
const CHUNK_MESSAGES = 100_000;

export async function fill(store: Fillable, { accountKey, messages, overMs, onProgress }: FillOrder): Promise<void> {
  const [account] = await store.rows(`SELECT id FROM account WHERE key = '${accountKey}'`);
  for (const { name, original } of TABLES) {
    await store.run(
      `CREATE TEMP TABLE original_${name} AS SELECT * FROM ${name} WHERE ${original(Number(account!.id))}`,
    );
  }
  const [found] = await store.rows("SELECT count(*) AS messages, CAST(min(key) AS TEXT) AS key FROM original_message");
  const request = Number(found!.messages);
  if (request === 0) throw new Error("there is no message to copy");
  const copies = Math.ceil(messages / request);
  const stepMs = Math.max(1, Math.floor(overMs / copies));
  const key = BigInt(found!.key as string);
  await store.makeRoom(key - (BigInt(copies * stepMs) << 21n), key);

  const inserts: string[] = [];
  for (const { name } of TABLES) {
    const columns: [string, string][] = [];
    for (const column of await store.columnsOf(name)) {
      const change = CHANGES.find(([pattern]) => pattern.test(column))?.[1];
      const copied = change === undefined ? `o.${column}` : change(column, request);
      if (copied !== null) columns.push([column, copied]);
    }
    // The original is the inner loop, so that keys come in their order.
    inserts.push(
      `INSERT INTO ${name} (${columns.map(([column]) => column).join(", ")})
       SELECT ${columns.map(([, copied]) => copied).join(", ")} FROM series AS s CROSS JOIN original_${name} AS o`,
    );
  }
  const chunk = Math.max(1, Math.floor(CHUNK_MESSAGES / request));
  for (let first = 1; first <= copies; first += chunk) {
    const last = Math.min(copies, first + chunk - 1);
    await store.run("BEGIN");
    for (const insert of inserts) {
      await store.run(
        `WITH RECURSIVE counted (copy) AS (
           SELECT CAST(${first} AS BIGINT) UNION ALL SELECT copy + 1 FROM counted WHERE copy < ${last}),
         series (copy, earlier_ms) AS (SELECT copy, (${copies + 1} - copy) * ${stepMs} FROM counted)
         ${insert}`,
      );
    }
    await store.run("COMMIT");
    onProgress(last * request);
  }
  // The books: what the copies cost has left the account's wallet for the service's.
  await store.run(
    `UPDATE wallet SET balance_micros = balance_micros + ${copies} * (
       coalesce((SELECT sum(amount_micros) FROM original_posting WHERE to_wallet = wallet.id), 0) -
       coalesce((SELECT sum(amount_micros) FROM original_posting WHERE from_wallet = wallet.id), 0))`,
  );
  await store.settle();
}

export function sqliteFillable(directory: string): Fillable {
  const file = join(directory, "heliograph.sqlite");
  const db = new Sqlite(file);
  replayJournal(db);
  // Nobody else is there, and if this fails the store is thrown away.
  for (const setting of ["journal_mode = OFF", "synchronous = OFF", "foreign_keys = OFF", "cache_size = -524288"])
    db.pragma(setting);
  const breath = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    async run(sql) {
      db.exec(sql);
      // For signals and for the progress bar.
      await breath();
    },
    rows: async (sql) => db.prepare<[], Record<string, unknown>>(sql).all(),
    columnsOf: async (table) =>
      db.prepare<[string], string>("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0").pluck().all(table),
    makeRoom: async () => undefined,
    async settle() {
      db.pragma("journal_mode = WAL");
      const handle = openSync(file, "r+");
      fsyncSync(handle);
      closeSync(handle);
    },
    async close() {
      db.close();
    },
  };
}

export async function postgresFillable(url: string): Promise<Fillable> {
  // Read only where it is wanted: the embedded store is measured without any of it.
  const { default: pg } = await import("pg");
  const { PostgresPool } = await import("../../src/drivers/postgres/pool.ts");
  const { Partitions, partitionDays } = await import("../../src/store/postgres/partitions.ts");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    async run(sql) {
      await client.query(sql);
    },
    rows: async (sql) => (await client.query<Record<string, unknown>>(sql)).rows,
    async columnsOf(table) {
      const { rows } = await client.query<{ name: string }>(
        `SELECT column_name AS name FROM information_schema.columns
         WHERE table_schema = 'public' AND table_name = $1 AND is_generated = 'NEVER' ORDER BY ordinal_position`,
        [table],
      );
      return rows.map(({ name }) => name);
    },
    async makeRoom(firstKey, lastKey) {
      const pool = new PostgresPool(
        { url, connections: 2, statementTimeoutMs: 0, leaseMs: 0, log: silentLog },
        "bench",
      );
      try {
        const day = 86_400_000n << 21n;
        const keys: string[] = [];
        for (let key = firstKey; key < lastKey; key += day) keys.push(key.toString());
        await new Partitions(pool, partitionDays(0)).ensure(keys);
      } finally {
        await pool.close();
      }
    },
    async settle() {
      await client.query("VACUUM ANALYZE message");
      await client.query("VACUUM ANALYZE posting");
      // Not everybody may, on a server that was given.
      await client.query("CHECKPOINT").catch(() => undefined);
    },
    async close() {
      await client.end();
    },
  };
}
