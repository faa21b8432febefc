/** The logs of many ids: as many statements as for one, each of them along an index, on both engines. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import Database from "better-sqlite3";
import pg from "pg";
import { RULES } from "../../src/commands/table.ts";
import { STATUS } from "../../src/sms/statuses.ts";
import { localStore } from "../../src/store/group.ts";
import { PostgresSql } from "../../src/store/postgres/sql.ts";
import type { Value } from "../../src/store/sql.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { SqliteSql } from "../../src/store/sqlite/sql.ts";
import { postgresUrl } from "../support/postgres.ts";
import { temporaryDirectory } from "../support/service.ts";
import { Bench, type MakeDatabase, type TestDatabase } from "./harness.ts";
import { database } from "./postgres-database.ts";

interface Ran {
  readonly text: string;
  readonly values: readonly Value[];
}

/** All statements on messages that commands run from now on; to be called before the store is opened. */
function watchStatements(t: TestContext, Sql: typeof SqliteSql | typeof PostgresSql): Ran[] {
  const ran: Ran[] = [];
  const { prepare } = Sql.prototype;
  t.mock.method(Sql.prototype, "prepare", function (this: SqliteSql & PostgresSql, text: string) {
    const statement = prepare.call(this, text);
    const noting =
      (run: (...values: Value[]) => unknown) =>
      (...values: Value[]) => {
        ran.push({ text, values });
        return run(...values);
      };
    return { get: noting(statement.get), all: noting(statement.all), run: noting(statement.run) };
  });
  return ran;
}

const COUNT = 4_000;

/** Asks for the logs of one id and of 300; gives the statements of the latter. */
async function askedByIds(t: TestContext, ran: Ran[], make: MakeDatabase): Promise<Ran[]> {
  const bench = await Bench.start(t, make, { lanes: { lane: 1, total: 1 } });
  const rejectedStatusId = STATUS.REJECTED_DESTINATION.id;
  const messages = Array.from({ length: COUNT }, (_, index) => ({
    clientMessageId: index % 2 === 0 ? `name ${index}` : null,
    ...(index % 4 === 0 ? { rejectedStatusId } : {}),
  }));
  await bench.store.accept(bench.acceptance(messages.map((message) => bench.message(message))));
  const everything = { from: null, to: null, bulkIds: null, statusIds: null, mcc: null, mnc: null, sinceMs: 0 };
  const logs = (messageIds: string[] | null, limit: number) =>
    bench.store.logs({
      ...everything,
      accountId: bench.accountId,
      untilMs: Number.MAX_SAFE_INTEGER,
      messageIds,
      limit,
      after: null,
    });
  const all = (await logs(null, COUNT)).messages.map(({ messageId }) => messageId);
  const asked = async (messageIds: string[]): Promise<Ran[]> => {
    ran.length = 0;
    const found = (await logs(messageIds, 1_000)).messages.map(({ messageId }) => messageId);
    assert.deepEqual(new Set(found), new Set(messageIds));
    return [...ran];
  };
  const ofOne = await asked(all.slice(0, 1));
  const ofMany = await asked(all.filter((_, index) => index % Math.floor(all.length / 300) === 0).slice(0, 300));
  assert.ok(ofMany.length <= 6, `${ofMany.length} statements for 300 ids, and ${ofOne.length} for one`);
  return ofMany;
}

function embedded(directory: string): TestDatabase["open"] {
  return async (clock, lanes, onFeed) => {
    const engine = new SqliteEngine({ rules: RULES, directory, clock, lanes, mode: "deliver" });
    const overflowed = engine.overflowedLanes();
    return { store: localStore(engine, onFeed), overflowed, close: async () => engine.close() };
  };
}

test("SQLite reads the logs of many ids by the index of their names, and by their keys", async (t) => {
  const ran = watchStatements(t, SqliteSql);
  const directory = await temporaryDirectory(t);
  const statements = await askedByIds(t, ran, async () => ({ open: embedded(directory) }));
  const db = new Database(join(directory, "heliograph.sqlite"), { readonly: true });
  t.after(() => db.close());
  for (const { text, values } of statements) {
    const plan = db
      .prepare<Value[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`)
      .all(...values)
      .map(({ detail }) => detail)
      .filter((detail) => / message\b/.test(detail));
    assert.notEqual(plan.length, 0);
    for (const detail of plan)
      assert.match(detail, /INTEGER PRIMARY KEY \(rowid=\?\)|\(account_id=\? AND client_message_id=\?/, text);
  }
});

test("PostgreSQL does so too", async (t) => {
  const ran = watchStatements(t, PostgresSql);
  const url = await postgresUrl(t);
  const statements = await askedByIds(t, ran, () => database(url));
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("ANALYZE message");
    for (const { text, values } of statements) {
      let count = 0;
      const numbered = text.replaceAll("?", () => `$${++count}`);
      const { rows } = await client.query(
        `EXPLAIN ${numbered}`,
        values.map((value) => (value === null ? null : String(value))),
      );
      const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
      assert.doesNotMatch(plan, /Seq Scan on message/, plan);
      assert.match(plan, /Index Cond: .*(client_message_id = |\bkey = ANY)/, plan);
    }
  } finally {
    await client.end();
  }
});
