/** The store's contract on SQLite, and what only SQLite has to show. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import Database from "better-sqlite3";
import { MAX_PARKED_REPEATS, MAX_SETTLED_NAMES, MAX_SETTLED_ROWS } from "../../src/commands/receipts/repeats.ts";
import { RULES } from "../../src/commands/table.ts";
import { DataDirectoryInUse, isRefusal, lockDirectory, openDatabase } from "../../src/drivers/sqlite/database.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { readSettings } from "../../src/settings/settings.ts";
import { localStore } from "../../src/store/group.ts";
import { migrateStore } from "../../src/store/open.ts";
import { MigrationRefused, StoreUnavailable } from "../../src/store/port/errors.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { storeDirectory, temporaryDirectory } from "../support/service.ts";
import { CONTRACTS } from "./contracts.ts";
import type { MakeDatabase } from "./harness.ts";

const makeDatabase: MakeDatabase = async (t) => {
  const directory = await storeDirectory(t);
  return {
    async open(clock, lanes, onFeed) {
      const engine = new SqliteEngine({ rules: RULES, directory, clock, lanes, mode: "deliver" });
      return {
        store: localStore(engine, onFeed),
        ids: engine.ids,
        overflowed: engine.overflowedLanes(),
        close: async () => engine.close(),
      };
    },
    async rows(sql) {
      const db = new Database(join(directory, "heliograph.sqlite"));
      try {
        return db.prepare<[], Record<string, unknown>>(sql).all();
      } finally {
        db.close();
      }
    },
  };
};

for (const contract of Object.values(CONTRACTS).flat()) contract("SQLite", makeDatabase);

const LANES = { lane: 10, total: 10 };
const MIGRATIONS = join(import.meta.dirname, "../../src/store/sqlite/migrations");

test("a data directory serves one process at a time, and is free when that one ends", async (t) => {
  const directory = await temporaryDirectory(t);
  const options = { rules: RULES, directory, clock: systemClock, lanes: LANES, mode: "deliver" } as const;
  const first = new SqliteEngine(options);
  assert.throws(() => new SqliteEngine(options), DataDirectoryInUse);
  new SqliteEngine({ ...options, mode: "tool" }).close();
  first.close();
  new SqliteEngine(options).close();
});

test("a tool working beside the service is seen by it", async (t) => {
  const directory = await temporaryDirectory(t);
  const options = { directory, clock: systemClock, lanes: LANES };
  const service = new SqliteEngine({ rules: RULES, ...options, mode: "deliver" });
  const tool = new SqliteEngine({ rules: RULES, ...options, mode: "tool" });
  t.after(() => service.close());
  const before = await localStore(service, () => undefined).changeCounter();
  await localStore(tool, () => undefined).putCatalogue({ items: [] });
  tool.close();
  assert.equal(await localStore(service, () => undefined).changeCounter(), before + 1);
});

test("a tool that reads keeps nobody from writing", async (t) => {
  const directory = await temporaryDirectory(t);
  const options = { directory, clock: systemClock, lanes: LANES };
  const service = new SqliteEngine({ rules: RULES, ...options, mode: "deliver" });
  const tool = new SqliteEngine({ rules: RULES, ...options, mode: "tool" });
  t.after(() => service.close());
  t.after(() => tool.close());
  // The tool's transaction is open from the first statement to the answer; the service writes in between.
  const reading = tool.run([{ command: "verifyLedger", input: undefined }]);
  await localStore(service, () => undefined).putCatalogue({ items: [] });
  assert.deepEqual((await reading).outcomes, [{ ok: true, value: [] }]);
});

test("every commit is flushed, and migrations run once", async (t) => {
  const directory = await temporaryDirectory(t);
  const db = openDatabase(directory);
  t.after(() => db.close());
  assert.equal(db.pragma("synchronous", { simple: true }), 2);
  assert.equal(db.pragma("journal_mode", { simple: true }), "wal");
  assert.ok(migrate(db) > 0);
  assert.equal(migrate(db), 0);
});

test("data of a newer version is left alone", async (t) => {
  const directory = await temporaryDirectory(t);
  const db = openDatabase(directory);
  t.after(() => db.close());
  migrate(db);
  db.pragma("user_version = 9999");
  assert.throws(() => migrate(db), /newer Heliograph/);
});

test("a command of a newer version leaves the store of a running service as it is, and migrates it when the service has ended", async (t) => {
  const directory = await temporaryDirectory(t);
  const unlock = lockDirectory(directory);
  const older = openDatabase(directory);
  const steps = readdirSync(MIGRATIONS).sort();
  for (const step of steps.slice(0, -1)) older.exec(readFileSync(join(MIGRATIONS, step), "utf8"));
  older.pragma(`user_version = ${steps.length - 1}`);
  const version = () => older.pragma("user_version", { simple: true });
  const command = () => new SqliteEngine({ rules: RULES, directory, clock: systemClock, lanes: LANES, mode: "tool" });
  const settings = readSettings({ environment: {}, flags: { store: { data: directory } } });
  assert.throws(command, MigrationRefused);
  await assert.rejects(migrateStore(settings), /a service runs on .*: use the version that runs on it/);
  assert.equal(version(), steps.length - 1);
  unlock();
  assert.equal(await migrateStore(settings), 1);
  command().close();
  assert.equal(version(), steps.length);
  older.close();
});

test("postings cannot be changed or deleted, not even by hand", async (t) => {
  const directory = await temporaryDirectory(t);
  const engine = new SqliteEngine({ rules: RULES, directory, clock: systemClock, lanes: LANES, mode: "deliver" });
  t.after(() => engine.close());
  await localStore(engine, () => undefined).createAccount({
    key: "A",
    kind: "client",
    parentKey: null,
    currency: "EUR",
    ratePlanId: "standard",
    defaultSender: null,
    creditLimitMicros: 0n,
    openingBalanceMicros: 5n,
    callbackSecret: "s",
    username: "a",
    passwordHash: "h",
    atMs: 0,
  });
  engine.settle();
  const db = new Database(join(directory, "heliograph.sqlite"));
  t.after(() => db.close());
  assert.throws(() => db.exec("UPDATE posting SET amount_micros = 6"), /append-only/);
  assert.throws(() => db.exec("DELETE FROM posting"), /append-only/);
});

test("every statement of the engine finds its rows by index, and sorts nothing, however much is stored", async (t) => {
  const directory = await temporaryDirectory(t);
  const statements = new Set<string>();
  const prepare = Database.prototype.prepare;
  t.mock.method(Database.prototype, "prepare", function (this: Database.Database, sql: string) {
    statements.add(sql);
    return prepare.call(this, sql);
  });
  new SqliteEngine({ rules: RULES, directory, clock: systemClock, lanes: LANES, mode: "deliver" }).close();
  t.mock.restoreAll();

  const db = openDatabase(directory);
  t.after(() => db.close());
  /** Small tables, pages, walks along an index or from the end of a table, and the count that an operator asks for now and then. */
  const allowed =
    /SCAN (counter|id_mark|parked_receipt|settled_receipt|catalogue_item|account|sqlite_sequence|CONSTANT ROW|waiting|newest|page|carrier_state)|SCAN \w+ USING (COVERING )?INDEX|quarantine( ORDER BY id DESC LIMIT \?)?$| AS counted\b/;
  /** What works on a page that was read along an index, or on what was handed in; and sorts of the few rows that one message or one question has. */
  const bounded =
    /LIMIT (\?|\d+)\) AS (looked|newest|page)\b|FROM json_each\(\?\) AS item(\) AS found\b|$)|FROM (trace WHERE subject IN|later_receipt WHERE message_key = \?|opt_out\s+WHERE account_id IN)/;
  // The check of the ledger looks at all there is; for a new account SQLite plans to look for what refers to it, and never does.
  const looked = [...statements].filter((sql) => !/ AS fault| AS sums\b|^INSERT INTO account/.test(sql));
  const slow = looked.flatMap((sql) => {
    const names = sql.match(/@\w+/g)?.map((name) => [name.slice(1), 1]);
    const values =
      names === undefined
        ? Array.from({ length: sql.match(/\?/g)?.length ?? 0 }, () => 1)
        : [Object.fromEntries(names)];
    const plan = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
    const details = plan.map(({ detail }) => detail).filter((detail) => /SCAN|TEMP B-TREE/.test(detail));
    return details
      .filter((detail) => !allowed.test(detail) && !allowed.test(sql) && !bounded.test(sql))
      .map((detail) => `${detail}: ${sql}`);
  });
  assert.ok(statements.size > 50, `${statements.size} statements were looked at`);
  assert.deepEqual(slow, []);
});

test("of very many receipts that were applied the newest are remembered", async (t) => {
  const directory = await temporaryDirectory(t);
  const engine = new SqliteEngine({ rules: RULES, directory, clock: systemClock, lanes: LANES, mode: "deliver" });
  const beside = openDatabase(directory);
  t.after(() => engine.close());
  t.after(() => beside.close());
  const store = localStore(engine, () => undefined);
  const insert = beside.prepare("INSERT INTO settled_receipt (at_ms, name_count, names) VALUES (?, ?, 'x')");
  const idsLeft = async (): Promise<unknown[]> => {
    await store.dropUnmatched({ beforeMs: 0, keepRows: 10, limit: 10_000 });
    return beside.prepare("SELECT id FROM settled_receipt ORDER BY id").pluck().all();
  };
  for (let row = 0; row < 4; row++) insert.run(systemClock.now(), MAX_SETTLED_NAMES / 2);
  assert.deepEqual(await idsLeft(), [3, 4]);
  beside.transaction(() => {
    for (let row = 0; row < MAX_SETTLED_ROWS; row++) insert.run(systemClock.now(), 1);
  })();
  const left = await idsLeft();
  assert.deepEqual([left.length, left[0]], [MAX_SETTLED_ROWS, 5]);
});

test("receipts that an older version applied are known when they come again, and rows that are spoilt say nothing", async (t) => {
  const directory = await temporaryDirectory(t);
  const engine = new SqliteEngine({ rules: RULES, directory, clock: systemClock, lanes: LANES, mode: "deliver" });
  const beside = openDatabase(directory);
  t.after(() => engine.close());
  t.after(() => beside.close());
  const store = localStore(engine, () => undefined);
  const insert = beside.prepare("INSERT INTO settled_receipt (at_ms, name_count, names) VALUES (?, 1, ?)");
  // The carrier's 1001 to 41790000001, delivered: with the outcome in the name, and without a key.
  for (const names of ["1696421448539369", "", "x,y,z 7,-1 ,, 1,2,3,4 9,99999999999999999999999,9e99"])
    insert.run(systemClock.now(), names);
  const atMs = systemClock.now();
  const receipt = { carrierMessageId: "1001", errorId: 0, atMs, mccMnc: null, to: "41790000001" };
  const receive = (outcome: "delivered" | "expired") =>
    store.received({ carrierId: "carrier", receipts: [{ ...receipt, outcome }] });
  const { repeated, unmatched } = await receive("delivered");
  assert.deepEqual([repeated, unmatched], [1, 0]);
  assert.equal((await receive("expired")).unmatched, 1);
});

test("of very many receipts that come again the newest wait, beside all those that match nothing", async (t) => {
  const directory = await temporaryDirectory(t);
  const engine = new SqliteEngine({ rules: RULES, directory, clock: systemClock, lanes: LANES, mode: "deliver" });
  const beside = openDatabase(directory);
  t.after(() => engine.close());
  t.after(() => beside.close());
  const store = localStore(engine, () => undefined);
  const insert = beside.prepare(
    "INSERT INTO parked_receipt (carrier_id, carrier_message_id, outcome, error_id, at_ms, repeated) VALUES ('c', 'id', 'delivered', 0, ?, ?)",
  );
  const ids = (repeated: 0 | 1): unknown[] =>
    beside.prepare("SELECT id FROM parked_receipt WHERE repeated = ? ORDER BY id").pluck().all(repeated);
  beside.transaction(() => {
    for (let row = 0; row < 3; row++) insert.run(systemClock.now(), 0);
    for (let row = 0; row < MAX_PARKED_REPEATS + 5; row++) insert.run(systemClock.now(), 1);
  })();
  const dropped = await store.dropUnmatched({ beforeMs: 0, keepRows: 2, limit: 500 });
  assert.deepEqual(dropped, { count: 1, more: false });
  assert.deepEqual(ids(0), [2, 3]);
  assert.deepEqual([ids(1).length, ids(1)[0]], [MAX_PARKED_REPEATS, 9]);
});

test("only what is about values speaks against what was asked", () => {
  const expected = {
    true: ["CONSTRAINT", "CONSTRAINT_CHECK", "CONSTRAINT_DATATYPE", "CONSTRAINT_UNIQUE", "TOOBIG", "MISMATCH", "RANGE"],
    false: ["CORRUPT", "CORRUPT_INDEX", "NOTADB", "ERROR", "AUTH", "INTERNAL", "BUSY", "FULL", "IOERR_WRITE", "SCHEMA"],
  };
  for (const [is, codes] of Object.entries(expected))
    for (const code of codes) assert.equal(String(isRefusal(new Database.SqliteError("", `SQLITE_${code}`))), is, code);
  assert.equal(isRefusal(new RangeError("a value that has no place")), true);
  const closed = new Database(":memory:");
  closed.close();
  assert.throws(
    () => closed.exec("SELECT 1"),
    (error) => !isRefusal(error),
  );
});

test("a command whose table is not there is not refused: it may work later, and the others work now", async (t) => {
  const directory = await temporaryDirectory(t);
  const engine = new SqliteEngine({ rules: RULES, directory, clock: systemClock, lanes: LANES, mode: "deliver" });
  const beside = openDatabase(directory);
  t.after(() => engine.close());
  t.after(() => beside.close());
  const store = localStore(engine, () => undefined);
  const aside = { items: [{ command: "received", subject: "1", atMs: 0, reason: "", detail: "" }] };
  beside.exec("ALTER TABLE quarantine RENAME TO elsewhere");
  const [other, refused] = await Promise.allSettled([store.putCatalogue({ items: [] }), store.quarantine(aside)]);
  assert.equal(other.status, "fulfilled");
  assert.ok(refused.status === "rejected" && refused.reason instanceof StoreUnavailable);
  beside.exec("ALTER TABLE elsewhere RENAME TO quarantine");
  await store.quarantine(aside);
  assert.equal((await store.quarantined({ limit: 1 })).count, 1);
});
