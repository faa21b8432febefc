/** What SQLite writes later, from memory or from the journal after a crash, is what it would have written at once. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import Database from "better-sqlite3";
import { MAX_QUARANTINED } from "../../src/commands/quarantine.ts";
import { RULES } from "../../src/commands/table.ts";
import type { QueuedMessage } from "../../src/message/message.ts";
import { STATUS } from "../../src/sms/statuses.ts";
import { localStore } from "../../src/store/group.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { JOURNAL_VERSION, Journal, replayJournal } from "../../src/store/sqlite/journal.ts";
import type { Change } from "../../src/store/sqlite/journal-format.ts";
import fc, { cases } from "../support/chance.ts";
import { temporaryDirectory } from "../support/service.ts";
import { Bench, CARRIER } from "./harness.ts";

const LANES = { lane: 6, total: 8 };
const URL = "https://client.example/reports";

/** A bench of which the engine can be had, and what is in its file. */
class Embedded {
  readonly bench: Bench;
  readonly directory: string;
  readonly #engine: () => SqliteEngine;
  /** Messages that wait for a carrier, and names of parts that a carrier has. */
  waiting: QueuedMessage[] = [];
  sent: string[] = [];

  private constructor(bench: Bench, directory: string, engine: () => SqliteEngine) {
    this.bench = bench;
    this.directory = directory;
    this.#engine = engine;
  }

  static async start(t: TestContext): Promise<Embedded> {
    const directory = await temporaryDirectory(t);
    let engine: SqliteEngine;
    const bench = await Bench.start(
      t,
      async () => ({
        async open(clock, lanes, onFeed) {
          engine = new SqliteEngine({ rules: RULES, directory, clock, lanes, mode: "deliver" });
          return {
            store: localStore(engine, onFeed),
            overflowed: engine.overflowedLanes(),
            close: async () => engine.close(),
          };
        },
      }),
      { lanes: LANES },
    );
    return new Embedded(bench, directory, () => engine);
  }

  settle(): void {
    this.#engine().settle();
  }

  /** What the engine does when nobody waits. */
  idle(): void {
    this.#engine().onIdle();
  }

  query(sql: string): unknown[] {
    const db = new Database(join(this.directory, "heliograph.sqlite"), { readonly: true });
    try {
      return db.prepare(sql).safeIntegers().all();
    } finally {
      db.close();
    }
  }

  /** All that is in the tables that are written behind, and in those that move with them. */
  rows(): Record<string, unknown[]> {
    const tables = ["message", "report", "posting", "wallet", "parked_receipt", "bulk", "replay"];
    const rows = Object.fromEntries(tables.map((table) => [table, this.query(`SELECT * FROM ${table} ORDER BY 1, 2`)]));
    // After a crash the ids of parts that were never written are given anew.
    const columns = "carrier_id, carrier_message_id, message_key, counts, submitted_at_ms, expires_at_ms";
    return { ...rows, part: this.query(`SELECT ${columns} FROM part ORDER BY id`) };
  }
}

type Step = (on: Embedded) => Promise<unknown>;

const accept = (count: number, named: boolean, pushed: boolean, intermediate: boolean): Step => {
  return async ({ bench, waiting }) => {
    const messages = Array.from({ length: count }, (_, index) =>
      bench.message({ clientMessageId: named ? `name ${index}` : null, to: `4179000000${index}` }),
    );
    const content = {
      notifyUrl: pushed ? URL : null,
      intermediateReport: pushed && intermediate,
      partCount: 1 + (count % 2),
    };
    await bench.accept(messages, content);
    waiting.push(...bench.takeMessages());
  };
};

const submit = (count: number, refused: boolean): Step => {
  return async ({ bench, waiting, sent }) => {
    const messages = waiting.splice(0, count);
    await bench.submit(messages, refused ? 1 : null);
    for (const { key, partCount } of messages)
      for (let part = 1; part <= partCount; part++) sent.push(`${key}.${part}`);
  };
};

const receive = (count: number, outcome: "held" | "delivered" | "undeliverable"): Step => {
  return async ({ bench, sent }) => {
    const names = outcome === "held" ? sent.slice(0, count) : sent.splice(0, count);
    await bench.receive(...names.map((name) => bench.receipt(name, outcome)), bench.receipt(`nobody's ${count}`));
  };
};

const pushed = (count: number, delivered: boolean): Step => {
  return async ({ bench }) => {
    const batches = bench.reports.splice(0, count);
    if (delivered) return bench.store.reportsDelivered({ ids: batches.map(({ id }) => id) });
    const failure = { attempts: 1, reason: "500", attempt: null };
    const retryAtMs = count % 2 === 0 ? null : bench.clock.now();
    return bench.store.reportsFailed({ failures: batches.map(({ id }) => ({ ...failure, id, retryAtMs })) });
  };
};

const finish: Step = async ({ bench, waiting }) => {
  const endings = waiting
    .splice(0, 1)
    .map(({ key }) => ({ key, event: "refused" as const, errorId: 1, atMs: bench.clock.now() }));
  await bench.store.finish({ endings });
};

/** A statement of SQL between them, which wants to see all. */
const look: Step = ({ bench }) => bench.balance();

const claim: Step = async (on) => {
  await on.bench.store.claimLane({ accountId: on.bench.accountId, carrierId: CARRIER, limit: 5 });
  on.waiting.push(...on.bench.takeMessages());
};

/** One command of a group fails, and with it the transaction; the others are tried again. */
const failing: Step = async ({ bench, waiting }) => {
  const wrong = bench.store.accept(bench.acceptance([bench.message()], {}, { accountId: 999 }));
  const right = bench.accept([bench.message()], { notifyUrl: URL });
  await assert.rejects(wrong);
  await right;
  waiting.push(...bench.takeMessages());
};

const crash: Step = async (on) => {
  await on.bench.restart();
  on.waiting = [];
};

/** The command line gives the account money while the service runs. */
const fundBeside: Step = async ({ bench, directory }) => {
  const tool = new SqliteEngine({ rules: RULES, directory, clock: bench.clock, lanes: LANES, mode: "tool" });
  try {
    const funded = await localStore(tool, () => undefined).fund({
      resellerId: bench.resellerId,
      accountKey: "CLIENT",
      amountMicros: 5_000n,
      currency: null,
      ratesMicros: {},
      description: "beside",
      atMs: bench.clock.now(),
      replay: null,
    });
    assert.equal(funded.kind, "posted");
  } finally {
    tool.close();
  }
};

const pass =
  (ms: number): Step =>
  async ({ bench }) =>
    bench.clock.advance(ms);

const steps = fc.array(
  fc.oneof(
    fc
      .tuple(fc.integer({ min: 1, max: 5 }), fc.boolean(), fc.boolean(), fc.boolean())
      .map((args) => ({ name: `accept ${args}`, run: accept(...args) })),
    fc
      .tuple(fc.integer({ min: 1, max: 4 }), fc.boolean())
      .map((args) => ({ name: `submit ${args}`, run: submit(...args) })),
    fc
      .tuple(fc.integer({ min: 1, max: 4 }), fc.constantFrom("held", "delivered", "undeliverable"))
      .map((args) => ({ name: `receive ${args}`, run: receive(...args) })),
    fc
      .tuple(fc.integer({ min: 1, max: 3 }), fc.boolean())
      .map((args) => ({ name: `pushed ${args}`, run: pushed(...args) })),
    fc.constantFrom(0, 30, 400, 1_100).map((ms) => ({ name: `pass ${ms}`, run: pass(ms) })),
    fc.constantFrom(
      { name: "finish", run: finish },
      { name: "look", run: look },
      { name: "claim", run: claim },
      { name: "failing", run: failing },
      { name: "crash", run: crash },
      { name: "fund beside", run: fundBeside },
    ),
  ),
  { minLength: 5, maxLength: 40 },
);

test("whatever happens, the tables come to the same as if all were written at once", async (t) => {
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      const behind = await Embedded.start(t);
      const atOnce = await Embedded.start(t);
      for (const { run } of script) {
        await run(behind);
        await run(atOnce);
        atOnce.settle();
      }
      behind.settle();
      assert.deepEqual(behind.rows(), atOnce.rows());
      assert.deepEqual(await behind.bench.store.verifyLedger(), []);
      await Promise.all([behind.bench.close(), atOnce.bench.close()]);
    }),
    { numRuns: cases(15) },
  );
});

test("a row is written when it has come to rest, and leaves the journal", async (t) => {
  const on = await Embedded.start(t);
  const { bench } = on;
  const count = (table: string): unknown => on.query(`SELECT count(*) AS count FROM ${table}`)[0];
  await bench.accept([bench.message(), bench.message({ to: "41790000002" })], { notifyUrl: URL });
  const messages = bench.takeMessages();
  await bench.submit(messages);
  await bench.receive(...messages.map(({ key }) => bench.receipt(`${key}.1`)));
  await bench.store.reportsDelivered({ ids: bench.takeReports().map(({ id }) => id) });
  assert.deepEqual(count("message"), { count: 0n });
  await bench.clock.advance(2_000);
  await bench.accept([bench.message({ to: "41790000003" })]);
  assert.deepEqual(on.query("SELECT state, recipient FROM message ORDER BY key"), [
    { state: 4n, recipient: "41790000001" },
    { state: 4n, recipient: "41790000002" },
  ]);
  assert.deepEqual(count("part"), { count: 0n });
  assert.deepEqual(count("report"), { count: 0n });
  // What came last is all that it still holds.
  assert.deepEqual(count("journal"), { count: 1n });
});

test("at fifty messages a second rows are written twice a second, and not with each message", async (t) => {
  const on = await Embedded.start(t);
  const { bench } = on;
  const commits = t.mock.method(Database.prototype, "exec");
  const end = async (to: string): Promise<void> => {
    await bench.accept([bench.message({ to })]);
    const messages = bench.takeMessages();
    await bench.submit(messages);
    await bench.receive(...messages.map(({ key }) => bench.receipt(`${key}.1`)));
  };
  const messages = 150;
  for (let message = 0; message < messages; message++) {
    await end(`4179${1_000_000 + message}`);
    await bench.clock.advance(20);
    on.idle();
  }
  const transactions = commits.mock.calls.filter((call) => call.arguments[0] === "COMMIT").length;
  assert.ok(transactions <= 3 * messages + 10, `${transactions} transactions`);
  const [{ count }] = on.query("SELECT count(*) AS count FROM message") as [{ count: bigint }];
  assert.ok(count >= BigInt(messages - 30), `${count} of ${messages} are written`);
});

test("more than fits into memory is written sooner, and no more than that is in the journal", async (t) => {
  const on = await Embedded.start(t);
  const { bench } = on;
  const phones = Array.from({ length: 5_000 }, (_, index) =>
    bench.message({ to: `4179${index}`, rejectedStatusId: 12 }),
  );
  for (let request = 0; request < 8; request++) await bench.accept(phones);
  const [{ count }] = on.query("SELECT count(*) AS count FROM message") as [{ count: bigint }];
  assert.ok(count >= 20_000n, `${count} are written`);
  const [{ journaled }] = on.query("SELECT count(*) AS journaled FROM journal") as [{ journaled: bigint }];
  assert.ok(journaled <= 4n, `${journaled} entries are in the journal`);
});

test("a lane's backlog is claimed in its order, from the table and from memory, and nothing is written for that", async (t) => {
  const on = await Embedded.start(t);
  const { bench } = on;
  const lane = { accountId: bench.accountId, carrierId: CARRIER };
  const take = async (limit: number): Promise<string[]> => {
    await bench.store.claimLane({ ...lane, limit });
    const taken = bench.takeMessages();
    await bench.submit(taken, 1);
    return taken.map(({ to }) => to);
  };
  const phones = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => bench.message({ to: `417900000${from + index}` }));
  await bench.accept(phones(10, 10));
  // The first that overflow are in the table, those after them in memory alone.
  await bench.store.claimDue({ nowMs: bench.clock.now(), limit: 1 });
  await bench.accept(phones(20, 5));
  const written = () => on.query("SELECT count(*) AS count FROM message");
  assert.deepEqual(written(), [{ count: 10n }]);
  const first = bench.takeMessages();
  assert.equal(first.length, LANES.lane);
  await bench.submit(first, 1);
  const [held] = on.query("SELECT CAST(key AS TEXT) AS key FROM message WHERE recipient = '41790000017'") as {
    key: string;
  }[];
  const item = { atMs: 0, command: "submitted", subject: "", reason: "", detail: "", heldKey: held!.key };
  await bench.store.quarantine({ items: [item] });
  assert.deepEqual(await take(2), ["41790000016", "41790000018"]);
  assert.deepEqual(await take(3), ["41790000019", "41790000020", "41790000021"]);
  assert.deepEqual(written(), [{ count: 10n }]);
  // Written meanwhile, they are behind what was claimed.
  await bench.store.claimDue({ nowMs: bench.clock.now(), limit: 1 });
  assert.deepEqual(await take(1), ["41790000022"]);
  assert.deepEqual(await take(9), ["41790000023", "41790000024"]);
  const { items } = await bench.store.quarantined({ limit: 9 });
  const by = { name: "OPERATOR", address: null };
  const ids = items.map(({ id }) => String(id));
  await bench.store.discard({ by, atMs: 0, kind: "quarantine", ids, held: "goes again" });
  assert.deepEqual(await take(9), ["41790000017"]);
  assert.deepEqual(await take(9), []);
});

test("what a service has in its journal is seen by the command line beside it", async (t) => {
  const on = await Embedded.start(t);
  const { bench, directory } = on;
  await bench.accept([bench.message()]);
  const tool = new SqliteEngine({ rules: RULES, directory, clock: bench.clock, lanes: LANES, mode: "tool" });
  t.after(() => tool.close());
  const store = localStore(tool, () => undefined);
  assert.equal((await store.balance({ accountId: bench.accountId })).balanceMicros, 1_000_000_000n - 10_000n);
  await bench.accept([bench.message()]);
  assert.equal((await store.balance({ accountId: bench.accountId })).balanceMicros, 1_000_000_000n - 20_000n);
  await bench.submit(bench.takeMessages());
  assert.deepEqual(await bench.store.verifyLedger(), []);
});

test("whatever states a message went through, a name that another has by now stays the other's", async (t) => {
  const on = await Embedded.start(t);
  const { bench } = on;
  const message = bench.message({ clientMessageId: "order 7" });
  await bench.accept([message]);
  const [first] = bench.takeMessages();
  const endings = [{ key: first!.key, event: "no route" as const, errorId: 0, atMs: bench.clock.now() }];
  await bench.store.finish({ endings });
  assert.deepEqual(await bench.accept([message]), [STATUS.PENDING_ENROUTE.id]);
  // Whoever looks at the messages has both in their table by then, and they are still in the journal.
  await bench.store.claimDue({ nowMs: bench.clock.now(), limit: 1 });
  const statuses = "SELECT status_id FROM message ORDER BY key";
  const before = on.query(statuses);
  assert.equal(before.length, 2);
  await bench.close();
  const db = new Database(join(on.directory, "heliograph.sqlite"));
  t.after(() => db.close());
  const journal = new Journal(db);
  // As if it had been put off and taken up again before its end.
  const back = { status_id: STATUS.PENDING_ACCEPTED.id };
  const end = { status_id: Number((before[0] as { status_id: bigint }).status_id) };
  const changes: Change[] = [
    ["change", "message", first!.key, back],
    ["change", "message", first!.key, end],
  ];
  journal.append(journal.last()! + 1, changes);
  replayJournal(db);
  assert.deepEqual(on.query(statuses), before);
  assert.equal(journal.last(), null);
});

/** Statements on the file, beside the service or while it is down. */
function onFile(on: Embedded, sql: string, ...values: unknown[]): void {
  const db = new Database(join(on.directory, "heliograph.sqlite"));
  try {
    if (values.length === 0) db.exec(sql);
    else db.prepare(sql).run(...values);
  } finally {
    db.close();
  }
}

/** Puts an entry into the journal of a service that is down. */
function leave(on: Embedded, seq: number, changes: unknown, version = JOURNAL_VERSION): void {
  const text = typeof changes === "string" ? changes : JSON.stringify(changes);
  onFile(on, "INSERT INTO journal (seq, version, layout, changes) VALUES (?, ?, 1, ?)", seq, version, text);
}

const aside = async ({ bench }: Embedded): Promise<string[]> =>
  (await bench.store.quarantined({ limit: 100 })).items.map(({ subject }) => subject).reverse();

/** A table that refuses a row for what was never looked at before. */
const REFUSES = (table: string, when: string): string =>
  `CREATE TRIGGER refuses BEFORE INSERT ON ${table} WHEN ${when} BEGIN SELECT RAISE(ABORT, 'not this one'); END`;

test("a row that its table refuses is kept aside, and everything behind it is written, also after a crash", async (t) => {
  const on = await Embedded.start(t);
  const { bench } = on;
  onFile(on, REFUSES("message", "NEW.recipient = '999'"));
  for (const to of ["41790000001", "999", "41790000002"]) await bench.accept([bench.message({ to })]);
  const [, bad] = bench.takeMessages();
  await bench.clock.advance(5_000);
  await bench.store.claimDue({ nowMs: 0, limit: 10 });
  assert.deepEqual(await aside(on), [`message ${bad!.key}`]);

  await bench.accept([bench.message({ to: "999" })]);
  const [badToo] = bench.takeMessages();
  await bench.restart();
  assert.deepEqual(await aside(on), [`message ${bad!.key}`, `message ${badToo!.key}`]);
  assert.deepEqual(on.query("SELECT recipient FROM message ORDER BY key"), [
    { recipient: "41790000001" },
    { recipient: "41790000002" },
  ]);
  await bench.accept([bench.message()]);
  const { claimed } = await bench.store.claimLane({ accountId: bench.accountId, carrierId: CARRIER, limit: 10 });
  assert.ok(claimed > 0, "work goes on");
});

test("what no table would take is refused before it is promised, and the others of the group go on", async (t) => {
  const on = await Embedded.start(t);
  const { bench } = on;
  await bench.accept([bench.message(), bench.message()]);
  const [{ key }, other] = bench.takeMessages() as [QueuedMessage, QueuedMessage];
  for (const dueAtMs of [Number.NaN, 1.5, 2 ** 60])
    await assert.rejects(
      bench.store.postpone({ messages: [{ key, dueAtMs, event: "window closed" }] }),
      /due_at_ms must be a whole number/,
    );
  const acceptance = (expiresAtMs: number) => bench.store.accept(bench.acceptance([bench.message()], { expiresAtMs }));
  const [wrong, right] = [acceptance(Number.NaN), acceptance(bench.clock.now() + 1_000)];
  await assert.rejects(wrong, /whole numbers/);
  assert.equal((await right).kind, "accepted");
  await bench.submit([other]);
  await bench.restart();
  assert.deepEqual(await aside(on), []);
});

test("a posting that cannot be written moves no money, and the balance is that of the table", async (t) => {
  const on = await Embedded.start(t);
  const { bench } = on;
  onFile(on, REFUSES("posting", "NEW.kind = 'charge' AND NEW.part_count = 2"));
  await bench.accept([bench.message()]);
  await bench.accept([bench.message()], { partCount: 2 });
  await bench.accept([bench.message()]);
  assert.equal(await bench.balance(), 1_000_000_000n - 20_000n);
  const faults = await bench.store.verifyLedger();
  assert.deepEqual(faults, ["account CLIENT paid 0.02 EUR for messages that cost 0.04 EUR"]);
  await bench.accept([bench.message()]);
  assert.equal(await bench.balance(), 1_000_000_000n - 30_000n);
  assert.equal((await aside(on)).length, 1);
});

/** The same damage in entries of each version, and what it is called when it is set aside. `first` and `last` are messages that are whole. */
const DAMAGE: readonly {
  readonly version: number;
  readonly entries: (first: string, last: string) => unknown[][];
  readonly subjects: (first: string) => string[];
}[] = [
  {
    version: 1,
    entries: (first, last) => [
      [["wonder", 1], ["part gone", 999], null, "text", ["message", null], ["like", [0, last]]],
      [
        ["message changed", first, { no_column: 1 }],
        ["report changed", "1", { "tried = 1; --": 1 }],
        ["message changed", { toString: 1 }, {}],
        ["like", [4_000_000_000, 1]],
        ["part", 1],
        ["posting", { id: 77, amountMicros: "a lot" }],
        ["posting", { id: 78, atMs: 1, kind: "funds", from: 1, to: 999, amountMicros: "1" }],
      ],
    ],
    subjects: (first) => [
      "entry 5 of the journal",
      "wonder 1",
      "a change of no kind",
      "a change of no kind",
      "message null",
      "like 0",
      "report changed 1",
      "message changed ",
      "like 4000000000",
      "part 1",
      "posting 77",
      "posting 78",
      `message ${first}`,
    ],
  },
  {
    version: 2,
    entries: (first, last) => [
      [
        ["wonder", 1],
        ["insert", "wonder", [1]],
        ["insert", "__proto__", [1]],
        ["delete", "part", 999],
        null,
        "text",
        ["insert", "message", 5],
        ["insert", "message", null, [0, last]],
      ],
      [
        ["change", "message", first, { no_column: 1 }],
        ["change", "report", "1", { "tried = 1; --": 1 }],
        ["change", "message", { toString: 1 }, {}],
        ["insert", "message", null, [4_000_000_000, 1]],
        ["insert", "part", [1]],
        ["insert", "posting", [77, 1, "funds", 1, 2, "a lot"]],
        ["insert", "posting", [78, 1, "funds", 1, 999, "1"]],
      ],
    ],
    subjects: (first) => [
      "entry 5 of the journal",
      "wonder 1",
      "insert wonder 1",
      "insert __proto__ 1",
      "a change of no kind",
      "a change of no kind",
      "insert message 5",
      "insert message null",
      "change report 1",
      "change message ",
      "insert message null",
      "insert part 1",
      "insert posting 77",
      "insert posting 78",
      `message ${first}`,
    ],
  },
];

for (const { version, entries: damage, subjects } of DAMAGE)
  test(`damage in the middle of a journal of version ${version} is set aside, whole, and what is before and behind it is written`, async (t) => {
    const on = await Embedded.start(t);
    const { bench } = on;
    await bench.accept([bench.message({ to: "41790000001" })]);
    const [first] = bench.takeMessages();
    await bench.accept([bench.message({ to: "41790000002" })]);
    const [last] = bench.takeMessages();
    await bench.close();
    const [damaged, ...entries] = on.query("SELECT seq, changes FROM journal ORDER BY seq DESC") as {
      seq: bigint;
      changes: string;
    }[];
    assert.ok(entries.length > 0);
    onFile(on, "UPDATE journal SET seq = seq + 10 WHERE seq = ?", damaged!.seq);
    const cut = `[["message",["${first!.key}","${"x".repeat(50_000)}`;
    leave(on, 5, cut, version);
    for (const [index, changes] of damage(first!.key, last!.key).entries()) leave(on, 6 + index, changes, version);
    await bench.open();
    assert.deepEqual(await aside(on), subjects(first!.key));
    const { items, promised } = await bench.store.quarantined({ limit: 100 });
    assert.equal(promised, items.length);
    assert.equal(items.at(-1)!.detail, cut, "it is kept whole");
    assert.equal(on.query("SELECT 1 FROM journal").length, 0);
    assert.deepEqual(on.query("SELECT recipient FROM message ORDER BY key"), [
      { recipient: "41790000001" },
      { recipient: "41790000002" },
    ]);
    assert.deepEqual(await bench.store.verifyLedger(), []);
  });

test("where it cannot be set aside, nothing leaves the journal", async (t) => {
  const on = await Embedded.start(t);
  const { bench } = on;
  await bench.accept([bench.message()]);
  await bench.close();
  const before = on.query("SELECT * FROM journal").length;
  leave(on, 100, "[[");
  onFile(on, REFUSES("quarantine", "true"));
  await assert.rejects(bench.open(), /not this one/);
  assert.equal(on.query("SELECT * FROM journal").length, before + 1);
  onFile(on, "DROP TRIGGER refuses");
  await bench.open();
  assert.equal(on.query("SELECT * FROM journal").length, 0);
  assert.deepEqual(await aside(on), ["entry 100 of the journal"]);
});

test("what is set aside of the journal is not displaced by what carriers say", async (t) => {
  const on = await Embedded.start(t);
  const { bench } = on;
  await bench.close();
  leave(on, 100, "[[");
  await bench.open();
  const item = { atMs: 0, command: "received", subject: "1", reason: "r", detail: "{}" };
  await bench.store.quarantine({ items: Array.from({ length: MAX_QUARANTINED + 5 }, () => item) });
  const { count, promised } = await bench.store.quarantined({ limit: 1 });
  assert.deepEqual([count, promised], [MAX_QUARANTINED + 1, 1]);
});

test("entries say their version, and those of a newer one are left alone", async (t) => {
  const on = await Embedded.start(t);
  const { bench } = on;
  await bench.accept([bench.message()]);
  assert.deepEqual(on.query("SELECT DISTINCT version FROM journal"), [{ version: BigInt(JOURNAL_VERSION) }]);
  await bench.close();
  const before = on.query("SELECT * FROM journal");
  leave(on, 1_000, [["of another age", 1]], JOURNAL_VERSION + 1);
  await assert.rejects(bench.open(), /a newer Heliograph than this one has left changes of version 3 in the journal/);
  assert.equal(on.query("SELECT 1 FROM message").length, 0, "nothing was touched");
  assert.equal(on.query("SELECT * FROM journal").length, before.length + 1);
  onFile(on, "DELETE FROM journal WHERE seq = 1000");
  await bench.open();
  assert.equal(on.query("SELECT 1 FROM message").length, 1);
  assert.deepEqual(await aside(on), []);
});

/** A journal that Heliograph wrote before there were layouts, the rows that it began with, and those that the Heliograph of then made of it. */
const OLD = JSON.parse(readFileSync(join(import.meta.dirname, "journal-version-1.json"), "utf8")) as {
  readonly start: Readonly<Record<string, object[]>>;
  readonly journal: readonly { seq: number; version: number; changes: string }[];
  readonly end: Readonly<Record<string, object[]>>;
};

test("a journal of the version before is read, and comes to the same rows", async (t) => {
  const on = await Embedded.start(t);
  const rows = () => {
    const tables = Object.keys(OLD.end);
    const read = tables.map((table) => [table, on.query(`SELECT * FROM ${table} ORDER BY 1`)]);
    // Columns that came later are not looked at.
    const known = new Set(["", ...tables, ...Object.values(OLD.end).flatMap((rows) => rows.flatMap(Object.keys))]);
    const text = JSON.stringify(Object.fromEntries(read), function (this: unknown, name, value) {
      if (!Array.isArray(this) && !known.has(name)) return undefined;
      return typeof value === "bigint" ? String(value) : value;
    });
    return JSON.parse(text);
  };
  on.settle();
  assert.deepEqual(rows(), OLD.start);
  await on.bench.close();
  onFile(on, "INSERT INTO wallet (id, name, currency) VALUES (4, 'revenue', 'EUR')");
  const db = new Database(join(on.directory, "heliograph.sqlite"));
  t.after(() => db.close());
  const leaveOld = db.prepare("INSERT INTO journal (seq, version, changes) VALUES (?, ?, ?)");
  // Entries of 0 are from before there were versions. And what is replayed a second time changes nothing more.
  for (const version of [0, 1]) {
    for (const { seq, changes } of OLD.journal) leaveOld.run(seq, version, changes);
    replayJournal(db);
    assert.deepEqual(rows(), OLD.end);
  }
  await on.bench.open();
  assert.deepEqual(await aside(on), []);
});

test("a column may be added, moved or dropped: the journal of before says which it had", async (t) => {
  const on = await Embedded.start(t);
  const { bench } = on;
  const text = (rows: unknown) =>
    JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? String(value) : value));
  await bench.accept([bench.message({ clientMessageId: "mine" }), bench.message()], { callbackData: "ours" });
  await bench.close();
  const [{ changes }] = on.query("SELECT changes FROM journal ORDER BY seq DESC LIMIT 1") as [{ changes: string }];
  const [{ columns }] = on.query("SELECT columns FROM journal_layout") as [{ columns: string }];
  await bench.open();
  on.settle();
  const expected = text(on.query("SELECT * FROM message ORDER BY key"));
  await bench.close();

  const layout = JSON.parse(columns) as { message: string[] };
  const turned = (values: unknown[]): unknown[] => ["no more", ...values.toReversed()];
  const other = { ...layout, message: turned(layout.message) };
  const [, , whole] = (JSON.parse(changes) as [string, string, unknown[]][])[0]!;
  const second = (JSON.parse(changes) as unknown[][])[1]![3] as (number | string)[];
  const values = [...whole];
  for (let at = 0; at < second.length; at += 2) values[second[at] as number] = second[at + 1];
  const left = [whole, values].map((each) => ["insert", "message", turned(each)]);
  onFile(on, "DELETE FROM message");
  onFile(on, "INSERT INTO journal_layout (id, columns) VALUES (7, ?)", JSON.stringify(other));
  const entry = "INSERT INTO journal (seq, version, layout, changes) VALUES (1, 2, 7, ?)";
  // A change that names a column which is there no more changes the others.
  const key = whole[layout.message.indexOf("key")];
  onFile(on, entry, JSON.stringify([...left, ["change", "message", key, { unknown_count: 2, "no more": 1 }]]));
  await bench.open();
  on.settle();
  assert.deepEqual(await aside(on), []);
  assert.deepEqual(on.query("SELECT unknown_count FROM message ORDER BY key LIMIT 1"), [{ unknown_count: 2n }]);
  onFile(on, "UPDATE message SET unknown_count = 0");
  const owned = (rows: string) => rows.replaceAll(/"owner":("\d+"|null)/g, '"owner":null');
  assert.equal(owned(text(on.query("SELECT * FROM message ORDER BY key"))), owned(expected));
});

test("a layout that cannot be read costs the rows of its entries, which are kept aside, and no start", async (t) => {
  const on = await Embedded.start(t);
  const { bench } = on;
  await bench.accept([bench.message()]);
  const [message] = bench.takeMessages();
  await bench.close();
  onFile(on, "UPDATE journal_layout SET columns = '{'");
  await bench.open();
  assert.ok((await aside(on)).includes(`insert message ${message!.key}`));
  await bench.accept([bench.message()]);
  await bench.restart();
  assert.equal(on.query("SELECT 1 FROM message").length, 1);
});
