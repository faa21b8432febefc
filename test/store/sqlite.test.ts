/** The store's contract on SQLite, and what only SQLite has to show. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import Database from "better-sqlite3";
import { systemClock } from "../../src/runtime/clock.ts";
import { localStore } from "../../src/store/group.ts";
import { DataDirectoryInUse, migrate, openDatabase } from "../../src/store/sqlite/database.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { temporaryDirectory } from "../support/service.ts";
import { storeContract } from "./contract.ts";
import { incomingContract } from "./contract-incoming.ts";
import type { MakeDatabase } from "./harness.ts";

const makeDatabase: MakeDatabase = async (t) => {
  const directory = await temporaryDirectory(t);
  return {
    async open(clock, lanes, onFeed) {
      const engine = new SqliteEngine({ directory, clock, lanes, mode: "deliver" });
      return { store: localStore(engine, onFeed), spilled: engine.spilledLanes(), close: async () => engine.close() };
    },
  };
};

storeContract("SQLite", makeDatabase);
incomingContract("SQLite", makeDatabase);

const LANES = { lane: 10, total: 10 };

test("a data directory serves one process at a time, and is free when that one ends", async (t) => {
  const directory = await temporaryDirectory(t);
  const options = { directory, clock: systemClock, lanes: LANES, mode: "deliver" } as const;
  const first = new SqliteEngine(options);
  assert.throws(() => new SqliteEngine(options), DataDirectoryInUse);
  new SqliteEngine({ ...options, mode: "tool" }).close();
  first.close();
  new SqliteEngine(options).close();
});

test("a tool working beside the service is seen by it", async (t) => {
  const directory = await temporaryDirectory(t);
  const options = { directory, clock: systemClock, lanes: LANES };
  const service = new SqliteEngine({ ...options, mode: "deliver" });
  const tool = new SqliteEngine({ ...options, mode: "tool" });
  t.after(() => service.close());
  const before = await localStore(service, () => undefined).changeCounter();
  await localStore(tool, () => undefined).putCatalogue({ items: [] });
  tool.close();
  assert.equal(await localStore(service, () => undefined).changeCounter(), before + 1);
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

test("postings cannot be changed or deleted, not even by hand", async (t) => {
  const directory = await temporaryDirectory(t);
  const engine = new SqliteEngine({ directory, clock: systemClock, lanes: LANES, mode: "deliver" });
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
  const db = new Database(join(directory, "heliograph.sqlite"));
  t.after(() => db.close());
  assert.throws(() => db.exec("UPDATE posting SET amount_micros = 6"), /append-only/);
  assert.throws(() => db.exec("DELETE FROM posting"), /append-only/);
});

test("unfinished work is found by index, however much is stored", async (t) => {
  const directory = await temporaryDirectory(t);
  const db = openDatabase(directory);
  t.after(() => db.close());
  migrate(db);
  const plan = (sql: string): string =>
    db
      .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => detail)
      .join("\n");
  const queries = {
    message_scheduled: "SELECT key FROM message WHERE state = 0 AND due_at_ms <= 5 ORDER BY due_at_ms, key LIMIT 5",
    message_queued:
      "SELECT key FROM message WHERE state = 1 AND owner IS NULL AND carrier_id = 'c' AND account_id = 1 ORDER BY key LIMIT 5",
    part_by_carrier_id: "SELECT id FROM part WHERE carrier_id = 'c' AND carrier_message_id = 'm'",
    report_due:
      "SELECT id FROM report WHERE held_by IS NULL AND after_id IS NULL AND dead_at_ms IS NULL AND due_at_ms <= 5 ORDER BY due_at_ms, id",
    incoming_to_fetch: "SELECT key FROM incoming_message WHERE account_id = 1 AND to_fetch = 1 ORDER BY key LIMIT 5",
    incoming_set_by_name:
      "SELECT id FROM incoming_set WHERE carrier_id = 'c' AND sender = 's' AND recipient = 'r' AND reference = 1 AND total = 2 ORDER BY id DESC LIMIT 8",
    incoming_set_by_age: "SELECT id FROM incoming_set WHERE touched_at_ms <= 5 ORDER BY touched_at_ms, id LIMIT 5",
    message_named_by_client:
      "SELECT 1 FROM message WHERE account_id = 1 AND client_message_id = 'x' AND status_id NOT IN (11, 12, 14, 19, 23, 25, 52)",
  };
  for (const [index, sql] of Object.entries(queries)) {
    assert.match(plan(sql), new RegExp(index));
    assert.doesNotMatch(plan(sql), /TEMP B-TREE|SCAN/);
  }
});
