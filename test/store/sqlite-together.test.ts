/** Rows that are inserted together are in their table as they were, however they differ; and one that is refused takes none of the others with it. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type Db, openDatabase } from "../../src/drivers/sqlite/database.ts";
import { MESSAGE, type MessageRow, type NewMessageRow, PART } from "../../src/store/schema/message.ts";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { TableStatements } from "../../src/store/sqlite/table-statements.ts";
import fc, { cases } from "../support/chance.ts";
import { temporaryDirectory } from "../support/service.ts";

const USUAL: Omit<NewMessageRow, "key"> = {
  account_id: 1,
  bulk_id: "b",
  state: 4,
  status_id: 5,
  carrier_id: "c",
  sender: "s",
  recipient: "41790000001",
  body: 'it\'s ? a "text"',
  encoding: "GSM7",
  part_count: 1,
  price: "9007199254740993",
  charged_micros: "-9223372036854775807",
  currency: "EUR",
  notify_url: null,
  notify_type: "application/json",
  due_at_ms: 1,
  expires_at_ms: 2,
  validity_ms: 3,
  received_at_ms: 4,
};

const some = <Value>(...values: Value[]): fc.Arbitrary<Value> => fc.constantFrom(...values);
/** What a row has else than the usual. */
const OTHER = fc.record(
  {
    bulk_id: some("b", "b2", ""),
    body: some(USUAL.body, "", "\0", "ünïcödé 😀"),
    notify_url: some<string | null>(null, "http://a.example/"),
    price: some(USUAL.price, "0"),
    received_at_ms: some(4, 1_700_000_000_000, Number.MAX_SAFE_INTEGER),
    done_at_ms: some<number | null>(null, 5),
    mcc_mnc: some<string | null>(null, "22801"),
    flash: some(0, 1),
    delivery_window: some<string | null>(null, "{}"),
    secret_body: some<string | null>(null, "xyz"),
  },
  { requiredKeys: [] },
);

async function open(t: TestContext): Promise<{ db: Db; statements: TableStatements<typeof MESSAGE> }> {
  const db = openDatabase(await temporaryDirectory(t));
  t.after(() => db.close());
  migrate(db);
  return { db, statements: new TableStatements(db, MESSAGE, { once: true }) };
}

const rowOf = (key: number, other: Partial<NewMessageRow> = {}): MessageRow =>
  MESSAGE.create({ ...USUAL, ...other, key: String(7_000_000_000_000_000_000n + BigInt(key)) });

function written(statements: TableStatements<typeof MESSAGE>): MessageRow[] {
  return statements.select<[]>("true ORDER BY message.key").all();
}

test("rows of any mixture are in their table as they were", async (t) => {
  const { db, statements } = await open(t);
  fc.assert(
    fc.property(fc.array(fc.tuple(OTHER, fc.integer({ min: 1, max: 30 })), { minLength: 1, maxLength: 12 }), (runs) => {
      const rows = runs
        .flatMap(([other, count]) => Array<typeof other>(count).fill(other))
        .map((other, key) => rowOf(key, other));
      for (const row of statements.insertTogether(rows)) statements.insert(row);
      assert.deepEqual(written(statements), rows);
      db.exec("DELETE FROM message");
    }),
    { numRuns: cases(100) },
  );
});

test("of rows that are alike few are left, whatever they differ in", async (t) => {
  const { statements } = await open(t);
  const rows = Array.from({ length: 99 }, (_, key) => rowOf(key, { recipient: `4179${key}`, body: `${key}` }));
  assert.equal(statements.insertTogether(rows).length, 4);
  assert.equal(written(statements).length, 95);
});

test("those that would have gone with one that is refused are left whole", async (t) => {
  const { db, statements } = await open(t);
  db.exec(
    "CREATE TRIGGER refuses BEFORE INSERT ON message WHEN new.body = 'bad' BEGIN SELECT RAISE(ABORT, 'not this one'); END",
  );
  const there = rowOf(45);
  statements.insert(there);
  const rows = Array.from({ length: 60 }, (_, key) => rowOf(key, key === 25 ? { body: "bad" } : {}));
  const left = statements.insertTogether(rows);
  assert.deepEqual(left, rows.slice(20));
  assert.deepEqual(written(statements), [...rows.slice(0, 20), there]);
});

test("rows that have nothing in common go together too", async (t) => {
  const { db, statements: messages } = await open(t);
  const parts = new TableStatements(db, PART, { once: true });
  const rows = Array.from({ length: 25 }, (_, index) => {
    const { key } = rowOf(index);
    messages.insert(rowOf(index));
    const times = { submittedAtMs: index, expiresAtMs: 1_000 + index };
    const counts = index % 2;
    return { id: index + 1, carrierId: `c${counts}`, carrierMessageId: `m${index}`, key, counts, ...times };
  });
  assert.deepEqual(parts.insertTogether(rows), []);
  assert.deepEqual(parts.select<[]>("true ORDER BY part.id").all(), rows);
});
