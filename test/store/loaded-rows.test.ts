/** The rows of a PostgreSQL transaction: what was made, changed and deleted in it is written as it is at the end. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { PostgresConnection } from "../../src/drivers/postgres/connection.ts";
import type { Session } from "../../src/drivers/postgres/link.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { Found } from "../../src/store/postgres/found.ts";
import { LoadedReceipts } from "../../src/store/postgres/loaded-receipts.ts";
import { LoadedReports } from "../../src/store/postgres/loaded-reports.ts";
import { LoadedRows } from "../../src/store/postgres/loaded-rows.ts";
import { WRITES } from "../../src/store/postgres/statements.ts";
import { BULK } from "../../src/store/schema/bulk.ts";
import type { NewReportRow } from "../../src/store/schema/report.ts";
import { PATIENT_MS, postgresUrl } from "../support/postgres.ts";
import { eventually } from "../support/service.ts";

async function connect(t: TestContext): Promise<Session> {
  const url = await postgresUrl(t);
  const options = { url, connections: 1, statementTimeoutMs: PATIENT_MS, leaseMs: 60_000, log: silentLog };
  const connection = new PostgresConnection(options, "test");
  t.after(() => connection.close());
  return connection.session();
}

const report = (id: string): NewReportRow => ({
  id,
  kind: "delivery",
  account_id: 1,
  url: "https://client.example/reports",
  content_type: "application/json",
  items: "[]",
  due_at_ms: 1,
});

test("a row that is changed before it is written is written as it is then", async (t) => {
  const session = await connect(t);
  const reports = new LoadedReports(new Found(() => session));
  reports.insert(report("1"));
  reports.insert(report("2"));
  reports.change("1", { attempts: 3, reason: "500", tried: 1 });
  await Promise.all(reports.rows.flush(session));
  const { rows } = await session.query(
    "SELECT id::text AS id, attempts, reason, history, tried FROM report ORDER BY 1",
  );
  assert.deepEqual(rows, [
    { id: "1", attempts: 3, reason: "500", history: "[]", tried: 1 },
    { id: "2", attempts: 0, reason: null, history: "[]", tried: 0 },
  ]);
});

test("a row that is made and deleted is never written, and one that is deleted does not come back by being read", async (t) => {
  const session = await connect(t);
  const first = new LoadedReports(new Found(() => session));
  first.insert(report("1"));
  await Promise.all(first.rows.flush(session));
  const reports = new LoadedReports(new Found(() => session));
  reports.insert(report("2"));
  reports.delete("2");
  reports.delete("1");
  await reports.load(["1"]);
  assert.equal(reports.get("1"), undefined);
  await Promise.all(reports.rows.flush(session));
  await reports.loadFollowers(["1"]);
  assert.deepEqual((await session.query("SELECT 1 FROM report")).rows, []);
});

test("a receipt that was taken back does not come back under its other name", async (t) => {
  const session = await connect(t);
  const parked = { carrierId: "c", carrierMessageId: "id", outcome: "delivered", errorId: 0, atMs: 1 } as const;
  const first = new LoadedReceipts(new Found(() => session));
  first.park({ ...parked, to: "41790000001", repeated: 0, why: "unmatched", times: 1 });
  await Promise.all(first.flush(session));
  const receipts = new LoadedReceipts(new Found(() => session));
  await receipts.load([{ carrierId: "c", carrierMessageId: "unknown:41790000001" }], true);
  const [found] = receipts.parkedForPhone("c", "41790000001");
  receipts.unpark(found!);
  await receipts.load([{ carrierId: "c", carrierMessageId: "id" }], false);
  assert.deepEqual(receipts.parked({ carrierId: "c", carrierMessageId: "id" }), []);
  assert.equal(receipts.anyParked(), false);
});

test("what is read again is another row by now, and what this transaction changed of it stays changed", async (t) => {
  const session = await connect(t);
  const bulk = { account_id: 1, bulk_id: "b", version: 0, moved_version: 0, holds: 0, sent: 0, turn: null } as const;
  const made = new LoadedRows(WRITES.bulk);
  made.insert(BULK.create({ ...bulk, state: "open", send_at_ms: 5, made_at_ms: 5, at_once: 0 }));
  made.change(made.get(1, "b")!, { version: 1 });
  await Promise.all(made.flush(session));
  const bulks = new LoadedRows(WRITES.bulk);
  const read = async () => (await session.query(`SELECT ${BULK.list} FROM bulk`)).rows[0] as never;
  const row = bulks.keep(await read())!;
  assert.equal(row.version, 1);
  bulks.change(row, { holds: 1 });
  await session.query("UPDATE bulk SET state = 'paused'");
  assert.equal(bulks.keep(await read())!.state, "open", "known rows stay as they are");
  const again = bulks.refresh(await read())!;
  assert.deepEqual([again.state, again.holds], ["paused", 1]);
  await Promise.all(bulks.flush(session));
  const { rows } = await session.query("SELECT state, holds, version FROM bulk");
  assert.deepEqual(rows, [{ state: "paused", holds: 1, version: 1 }]);
});

test("a link that is lost while rows are read fails the read, and nothing beside it", async (t) => {
  const url = await postgresUrl(t);
  const open = (name: string): Promise<Session> => {
    const options = { url, connections: 1, statementTimeoutMs: PATIENT_MS, leaseMs: 60_000, log: silentLog };
    const connection = new PostgresConnection(options, name);
    t.after(() => connection.close());
    return connection.session();
  };
  const [session, other] = await Promise.all([open("reader"), open("other")]);
  const found = new Found(() => session);
  const sleeping = assert.rejects(session.query("SELECT pg_sleep(60)"));
  const reading = [
    new LoadedReports(found).loadFollowers(["1"]),
    new LoadedReceipts(found).load([{ carrierId: "c", carrierMessageId: "unknown:1" }], true),
  ].map((read) => assert.rejects(read));
  // An answer that nobody waited for would end the process here.
  await eventually(async () => {
    const { rows } = await other.query<{ ended: boolean }>(
      "SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'",
    );
    return rows.some(({ ended }) => ended);
  });
  await Promise.all([sleeping, ...reading]);
});
