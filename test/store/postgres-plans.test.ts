/**
 * A statement on PostgreSQL has one plan for all values, made when it is first used and kept. So on every day on which that may be, with whatever the
 * planner knows then, it has to be the plan that was meant: along an index that was meant, by as many of its columns. By fewer it would read all that
 * one carrier has, or everything.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { RULES } from "../../src/commands/table.ts";
import { PostgresLink, type Session } from "../../src/drivers/postgres/link.ts";
import { PostgresSql } from "../../src/store/postgres/sql.ts";
import { CHANGE_OWNED, FIND, WRITE, WRITES } from "../../src/store/postgres/statements.ts";
import { FIRST_LANE, waitingLanes } from "../../src/store/postgres/waiting-lanes.ts";
import type { AnyTable } from "../../src/store/schema/table.ts";
import { PATIENT_MS, postgresUrl } from "../support/postgres.ts";

/** The indexes that a statement may use, and by how many columns at the least: by none only where it is walked in its order, up to a bound. */
type Meant = Readonly<Record<string, number>>;

const FOUND_BY: Readonly<Record<keyof typeof FIND, Meant>> = {
  messages: { message_pkey: 1 },
  messagesAtOnce: { message_pkey: 1 },
  parts: { part_by_carrier_id: 2 },
  messagesOfParts: { part_by_carrier_id: 2, message_pkey: 1 },
  messagesOfPartsAtOnce: { part_by_carrier_id: 2, message_pkey: 1 },
  parked: { parked_receipt_by_carrier_id: 2 },
  anyParked: { parked_receipt_by_carrier_id: 2 },
  parkedAtOnce: { parked_receipt_by_carrier_id: 2 },
  parkedForPhone: { parked_receipt_by_phone: 2, parked_receipt_by_other: 2 },
  parkedForPhoneAtOnce: { parked_receipt_by_phone: 2, parked_receipt_by_other: 2 },
  wallets: { purse_account_id_key: 1, account_pkey: 1 },
  lockedWallets: { purse_account_id_key: 1, account_pkey: 1 },
  names: { message_name_pkey: 2 },
  optOuts: { opt_out_pkey: 2 },
  bulks: { bulk_pkey: 2 },
  lockedBulks: { bulk_pkey: 2 },
  replays: { replay_pkey: 3 },
  reports: { report_pkey: 1 },
  waiting: { report_pkey: 1 },
  leaders: { report_pkey: 1 },
  followers: { report_after: 1 },
};

const WRITTEN_BY: Readonly<Record<string, Meant>> = {
  insertNames: {},
  freeNames: { message_name_pkey: 2, message_name_by_key: 1 },
  insertLater: { later_receipt_once: 1 },
  deleteLater: { later_receipt_once: 3 },
  postNumbered: {},
  move: { purse_pkey: 1 },
};

/** Of the commands, what delivery asks for all the time: how the statement is known among all of theirs, and what it is found by. */
const DELIVERY: Readonly<Record<string, readonly [RegExp, Meant]>> = {
  claimDue: [/WHERE waits = 0 AND due_at_ms <= \$1 ORDER BY due_at_ms, message.key LIMIT/, { message_scheduled: 1 }],
  claimLane: [
    /owner IS NULL AND carrier_id = \$1 AND account_id = \$2/,
    // What is held is a handful.
    { message_backlog: 2, quarantine_held: 0 },
  ],
  handBack: [/waits = 1 AND owner = \$1 LIMIT/, { message_queued: 1 }],
  expired: [/owner IS NULL AND expires_at_ms/, { message_backlog_by_expiry: 1 }],
  oldestQueued: [/FROM message WHERE waits = 1 AND owner IS NULL ORDER BY carrier_id/, { message_backlog: 0 }],
  outstanding: [/AS "rowId"/, { part_pkey: 1, message_pkey: 1 }],
  sweptParts: [/FROM part WHERE id > \$1 AND id <= \$2/, { part_pkey: 1 }],
  anyOnItsWay: [/AS found WHERE EXISTS/, { message_following_bulk: 3 }],
  followingBulk: [/waits = 0\s+AND bulk_version >= 0 AND bulk_version <= \$3/, { message_following_bulk: 3 }],
  dueReports: [
    /FROM report\s+WHERE held_by IS NULL .* due_at_ms <= \$1 ORDER BY due_at_ms, report.id/,
    { report_due: 1 },
  ],
  settled: [/FROM settled_receipt WHERE id > \$1/, { settled_receipt_pkey: 1 }],
};

/** A search joins what it found by its name with its account and its bulk. */
const BY_CLIENTS_ID: Meant = { message_named_by_client: 2, account_pkey: 1, bulk_pkey: 2 };

/**
 * What comes and goes, or comes late, is often found empty, and then costs nothing to be read whole. Messages are not all gone but where a service is
 * new; a day's partition may be found empty beside others, and then a client's id is looked up by whichever index begins with the account, until the
 * database counts again.
 */
const NOT_WHEN_FOUND_EMPTY = /^(messages|outstanding|by a client's id|write of message|change of owned)/;
const NOT_BESIDE_FULL = /^(outstanding|by a client's id)/;

const ROWS = 5_000;
const TABLES = `account, bulk, later_receipt, message, message_name, opt_out, parked_receipt, part, posting, quarantine, replay, report,
  settled_receipt, wallet`;
/** One carrier, one account and one phone have everything. */
const FILL = `
  INSERT INTO account (id, key, kind, currency, rate_plan_id, callback_secret, created_at_ms) SELECT i, i, 'client', 'EUR', '', '', 0 FROM rows;
  INSERT INTO wallet (account_id, name, currency) SELECT i, '', 'EUR' FROM rows;
  INSERT INTO posting (at_ms, kind, from_wallet, to_wallet, amount_micros) SELECT i, 'charge', 1, 2, 1 FROM rows;
  INSERT INTO message (key, account_id, bulk_id, state, status_id, carrier_id, sender, recipient, body, encoding, part_count, price_micros,
      charged_micros, currency, due_at_ms, expires_at_ms, validity_ms, received_at_ms)
    SELECT i, 1, 'b', 4, 5, 'c', '', '', '', '', 1, 0, 0, 'EUR', 0, 0, 0, 0 FROM rows;
  INSERT INTO message_name SELECT 1, i, i FROM rows;
  INSERT INTO part (carrier_id, carrier_message_id, message_key, counts, submitted_at_ms, expires_at_ms) SELECT 'c', i, i, 1, 0, 0 FROM rows;
  INSERT INTO parked_receipt (carrier_id, carrier_message_id, outcome, error_id, at_ms, recipient) SELECT 'c', i, 'held', 0, 0, '1' FROM rows;
  INSERT INTO settled_receipt (at_ms, name_count, names) SELECT i, 1, '' FROM rows;
  INSERT INTO later_receipt (message_key, carrier_id, carrier_message_id, outcome, error_id, at_ms) SELECT i, 'c', i, 'held', 0, 0 FROM rows;
  INSERT INTO report (id, kind, account_id, url, content_type, items, due_at_ms, held_by, after_id)
    SELECT i, 'delivery', 1, '', 'json', '[]', 0, CASE i % 2 WHEN 0 THEN 1 END, CASE i % 2 WHEN 1 THEN i - 1 END FROM rows;
  INSERT INTO bulk (account_id, bulk_id, send_at_ms) SELECT 1, i, 0 FROM rows;
  INSERT INTO replay (account_id, kind, token, body_hash, answer, at_ms) SELECT 1, 'key', i, '', '', 0 FROM rows;
  INSERT INTO opt_out (account_id, number, at_ms) SELECT 1, i, 0 FROM rows`;
const EMPTY = TABLES.split(",").map((table) => `DELETE FROM ${table}`);

/** What the planner may know when a statement is first used, each made of the one before. */
const DAYS: readonly (readonly [day: string, except: RegExp | null, ...statements: string[]])[] = [
  ["the tables are new", null],
  ["they are full and nobody has counted", null, ...FILL.split(";")],
  ["they are full", null, `ANALYZE ${TABLES}`],
  ["they were full when they were counted", null, ...EMPTY],
  ["they were found empty", NOT_WHEN_FOUND_EMPTY, `VACUUM (ANALYZE) ${TABLES}`],
  ["they were empty when they were counted", null, ...FILL.split(";")],
  [
    "a partition was found empty beside one that is full",
    NOT_BESIDE_FULL,
    `DELETE FROM message WHERE key > ${ROWS / 2}`,
    "VACUUM (ANALYZE) message",
  ],
];

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

/** The columns of each index, those of partitions under the name that the whole table's has. */
async function indexes(session: Session): Promise<ReadonlyMap<string, { readonly name: string; columns: string[] }>> {
  const { rows } = await session.query<{ index: string; name: string; columns: string[] }>(
    `SELECT relname AS index, coalesce(inhparent, indexrelid)::regclass::text AS name,
       ARRAY(SELECT pg_get_indexdef(indexrelid, place, true) FROM generate_series(1, indnkeyatts) AS place) AS columns
     FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid LEFT JOIN pg_inherits ON inhrelid = indexrelid`,
  );
  return new Map(rows.map(({ index, ...facts }) => [index, facts]));
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** How many columns of the index a condition compares; of a comparison of several at once all that it has. */
const compared = (columns: readonly string[], condition: string): number =>
  columns.filter((column) => new RegExp(`[( ]"?${column}"?(, \\w+)*\\)? [<>=]`).test(condition)).length;

/** All statements of the commands, as they are sent. */
function commandTexts(): string[] {
  const texts: string[] = [];
  const recorder = { query: (text: string) => Promise.resolve({ rows: [], count: texts.push(text) }) };
  const sql = new PostgresSql(() => recorder as unknown as Session);
  const prepare = (text: string) => {
    void sql.prepare(text).all();
    return sql.prepare(text);
  };
  const recording = { dialect: sql.dialect, prepare, prepareStaleRead: prepare };
  RULES.commandTable({ sql: recording } as unknown as Parameters<typeof RULES.commandTable>[0], {} as never);
  return texts;
}

async function lanesText(): Promise<string> {
  let text = "";
  const recorder = {
    query: async (sent: string) => {
      text = sent;
      return { rows: [], count: 0 };
    },
  };
  await waitingLanes(recorder as unknown as Session, FIRST_LANE, 1);
  return text;
}

async function meantPlans(): Promise<readonly (readonly [name: string, text: string, meant: Meant])[]> {
  const texts = commandTexts();
  const commands = Object.entries(DELIVERY).map(([name, [known, meant]]) => {
    const [text, ...others] = texts.filter((each) => known.test(each));
    assert.ok(text !== undefined && new Set(others).size === 0, `${name}: one statement, and not ${others.length + 1}`);
    return [name, text, meant] as const;
  });
  const writes = Object.values(WRITES).flatMap(({ table, change, delete: gone, updateOf }) => {
    const columns = Object.keys(table.columns).filter(
      (name) => (table as AnyTable).columns[name].changes !== undefined,
    );
    const changing = change?.with(() => true) ?? (columns.length === 0 ? gone : updateOf(columns.join()));
    return [changing, gone].map(
      ({ text }) => [`write of ${table.name}`, text, { [`${table.name}_pkey`]: table.key.length }] as const,
    );
  });
  const found = Object.entries(FIND).map(
    ([name, { text }]) => [name, text, FOUND_BY[name as keyof typeof FIND]] as const,
  );
  const written = Object.entries(WRITE).map(
    ([name, write]) => [name, typeof write === "string" ? write : write.text, WRITTEN_BY[name]!] as const,
  );
  const owned = ["change of owned messages", CHANGE_OWNED.with(() => true).text, { message_pkey: 1 }] as const;
  const lanes = ["lanes", await lanesText(), { message_backlog: 2, catalogue_item_pkey: 1 }] as const;
  const byClientsId = texts
    .filter((text) => /client_message_id = (\$|ANY|item)/.test(text))
    .map((text) => ["by a client's id", text, BY_CLIENTS_ID] as const);
  assert.ok(byClientsId.length > 0);
  return [...found, ...written, ...writes, ...commands, ...byClientsId, owned, lanes];
}

test("whatever the planner knows, each statement is along the index that was meant for it", async (t) => {
  const plans = await meantPlans();
  for (const [name, , meant] of plans) assert.ok(meant !== undefined, `${name} is not in the table of this test`);
  const link = new PostgresLink(
    { url: await postgresUrl(t), statementTimeoutMs: PATIENT_MS, leaseMs: PATIENT_MS },
    "test",
  );
  await link.connect(() => undefined);
  t.after(() => link.end());
  await link.script("CREATE TABLE message_first PARTITION OF message FOR VALUES FROM (0) TO (2501)");
  await link.script("CREATE TABLE message_second PARTITION OF message FOR VALUES FROM (2501) TO (1000000)");
  await link.script(`CREATE TEMPORARY VIEW rows AS SELECT generate_series(1, ${ROWS}) AS i`);
  await link.script("SET session_replication_role = replica"); // nothing refers to anything here
  const known = await indexes(link);
  const wrong: string[] = [];
  for (const [day, except, ...statements] of DAYS) {
    for (const statement of statements) await link.script(statement);
    for (const [name, text, meant] of plans) {
      if (except?.test(name) === true) continue;
      const values = Array.from(
        { length: Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, place]) => Number(place))) },
        () => "NULL",
      );
      await link.script(`PREPARE looked_at AS ${text}`);
      const { rows } = await link.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(
        `EXPLAIN (FORMAT JSON) EXECUTE looked_at ${values.length === 0 ? "" : `(${values})`}`,
      );
      await link.script("DEALLOCATE looked_at");
      for (const node of nodesOf(rows[0]!["QUERY PLAN"][0].Plan)) {
        if (node["Node Type"] === "Seq Scan") wrong.push(`${day}: ${name} reads ${node["Relation Name"]} whole`);
        const index = known.get(node["Index Name"] ?? "");
        if (index === undefined) continue;
        const count = compared(index.columns, node["Index Cond"] ?? "");
        if (!(count >= (meant[index.name] ?? Number.POSITIVE_INFINITY)))
          wrong.push(`${day}: ${name} is along ${count} columns of ${index.name}`);
      }
    }
  }
  assert.deepEqual(wrong, []);
});
