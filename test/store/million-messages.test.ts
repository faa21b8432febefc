/**
 * A million messages in the store: the first page and every kind of search read a bounded number of rows. They are written by SQL, in seconds. Each
 * statement is asked how SQLite goes about it, and has a function in its filter that counts the rows which it sees.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type Database from "better-sqlite3";
import { messageSearchCommands } from "../../src/commands/message-search.ts";
import { openDatabase } from "../../src/drivers/sqlite/database.ts";
import { firstIdAt } from "../../src/runtime/ids.ts";
import type { CommandParts } from "../../src/store/command-parts.ts";
import { type MessageSearch, SEARCH_ROWS } from "../../src/store/port/message-search.ts";
import type { Sql, Statement, Value } from "../../src/store/sql.ts";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { fillWithMessages } from "../support/many-messages.ts";
import { temporaryDirectory } from "../support/service.ts";

const MESSAGES = 1_000_000;
const NOW = Date.UTC(2026, 1, 12, 10);
const ACCOUNT = 7;

const SEARCH: MessageSearch = {
  accountId: ACCOUNT,
  to: null,
  from: null,
  statusIds: null,
  errorIds: null,
  carrierId: null,
  text: null,
  bulkId: null,
  messageId: null,
  life: null,
  sinceMs: 0,
  untilMs: Number.MAX_SAFE_INTEGER,
  stuckBeforeMs: NOW - 600_000,
  overdueBeforeMs: NOW - 5_000,
  limit: 50,
  after: null,
};

const KINDS: Readonly<Record<string, Partial<MessageSearch>>> = {
  "the first page": {},
  "everybody's first page": { accountId: null },
  "a number that nobody has": { to: { text: "999", isPrefix: true } },
  "the same among everybody's": { accountId: null, to: { text: "999", isPrefix: true } },
  "a sender that nobody has": { from: { text: "Nobody", isPrefix: false } },
  "a status that none has": { statusIds: [12] },
  "an error that none has": { errorIds: [4_711] },
  "a carrier that there is not": { carrierId: "none" },
  "a text that is in none": { text: "unheard of" },
  "a bulk of a quarter of a million": { bulkId: "bulk-1" },
  "a number that is not in that bulk": { bulkId: "bulk-1", to: { text: "999", isPrefix: true } },
  "a bulk that there is not": { bulkId: "none" },
  "a bulk among everybody's": { accountId: null, bulkId: "none" },
  "an id": { messageId: firstIdAt(NOW - 1_000).toString() },
  "an id among everybody's": { accountId: null, messageId: firstIdAt(NOW - 1_000).toString() },
  "a name": { messageId: "mine" },
  "what is retried": { life: "retrying" },
  "what is stuck": { life: "stuck" },
  "what is scheduled": { life: "scheduled" },
  "a day": { sinceMs: NOW - 600_000, untilMs: NOW - 300_000 },
};

/** Statements that tell how often their filter was asked, and how SQLite finds their rows. */
class CountingSql implements Sql {
  readonly #db: Database.Database;
  readonly dialect;
  filtered = 0;
  readonly plans: string[] = [];

  constructor(db: Database.Database) {
    this.#db = db;
    this.dialect = {
      along: (index: string | null) => (index === null ? "NOT INDEXED" : `INDEXED BY ${index}`),
      waits: "state",
    } as Sql["dialect"];
    db.function("counted", () => {
      this.filtered++;
      return 1;
    });
  }

  prepare<Values extends Value[], Row>(text: string): Statement<Values, Row> {
    const counting = text.replace("recipient = coalesce(", "counted() AND recipient = coalesce(");
    const statement = this.#db.prepare<Value[], Row>(counting);
    const plan = (values: readonly Value[]): void => {
      const lines = this.#db.prepare<Value[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`).all(...values);
      this.plans.push(...lines.map(({ detail }) => detail));
    };
    return {
      get: (...values) => {
        plan(values);
        return statement.get(...values);
      },
      all: (...values) => {
        plan(values);
        return statement.all(...values);
      },
      run: () => {
        throw new Error("nothing is written here");
      },
    };
  }

  prepareStaleRead<Values extends Value[], Row>(text: string): Statement<Values, Row> {
    return this.prepare(text);
  }
}

describe("with a million messages in the store", () => {
  const cleaning: (() => Promise<void>)[] = [];
  let db: Database.Database;
  before(async () => {
    const directory = await temporaryDirectory({ after: (clean) => void cleaning.push(clean) });
    db = openDatabase(directory);
    migrate(db);
    fillWithMessages(db, { accountId: ACCOUNT, messages: MESSAGES, untilMs: NOW });
  });
  after(async () => {
    db.close();
    for (const clean of cleaning) await clean();
  });

  /** What was read, without a sort and without a look at all that there is. */
  async function bounded<Answer>(
    ask: (commands: ReturnType<typeof messageSearchCommands>) => Promise<Answer>,
  ): Promise<Answer> {
    const sql = new CountingSql(db);
    const answer = await ask(messageSearchCommands({ sql } as unknown as CommandParts));
    assert.ok(sql.filtered <= SEARCH_ROWS, `the filter saw ${sql.filtered} rows`);
    assert.deepEqual(
      sql.plans.filter((plan) => plan.includes("TEMP B-TREE")),
      [],
    );
    return answer;
  }

  for (const [name, change] of Object.entries(KINDS)) {
    test(`${name}: no more than ${SEARCH_ROWS} rows are looked at`, async () => {
      const sql = new CountingSql(db);
      const { findMessages } = messageSearchCommands({ sql } as unknown as CommandParts);
      const { examined, messages } = await findMessages({ ...SEARCH, ...change });
      assert.ok(examined <= SEARCH_ROWS, `${examined}`);
      assert.ok(messages.length <= 50);
      assert.ok(sql.filtered <= SEARCH_ROWS, `the filter saw ${sql.filtered} rows`);
      assert.deepEqual(
        sql.plans.filter((plan) => plan.includes("TEMP B-TREE") || /^SCAN message$/.test(plan)),
        [],
      );
    });
  }

  test("the counts are those of the newest messages", async () => {
    for (const accountId of [ACCOUNT, null]) {
      const counts = await bounded(({ countMessages }) =>
        Promise.resolve(countMessages({ accountId, stuckBeforeMs: NOW, overdueBeforeMs: NOW })),
      );
      assert.equal(counts.examined, SEARCH_ROWS);
    }
  });

  test("a search that goes on comes to the oldest message, a bounded number of rows at a time", async () => {
    let after: MessageSearch["after"] = {
      atMs: NOW - MESSAGES * 10 + 50_000,
      key: firstIdAt(NOW - MESSAGES * 10 + 50_000).toString(),
    };
    const found: string[] = [];
    let pages = 0;
    while (after !== null) {
      const search: MessageSearch = { ...SEARCH, to: { text: "41790", isPrefix: false }, after };
      const page = await bounded(({ findMessages }) => Promise.resolve(findMessages(search)));
      found.push(...page.messages.map(({ to }) => to));
      after = page.next;
      pages++;
    }
    assert.deepEqual(found, ["41790"]);
    assert.equal(pages, 3);
  });
});
