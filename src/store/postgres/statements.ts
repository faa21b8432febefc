/** The statements by which the tables on PostgreSQL find rows, each for any number of them, and those of writing that are special. */
import { MAX_LATER_RECEIPTS } from "../port/receipts.ts";
import { BULK, REPLAY } from "../schema/bulk.ts";
import { MESSAGE, PART } from "../schema/message.ts";
import { POSTING } from "../schema/posting.ts";
import { LATER, PARKED } from "../schema/receipts.ts";
import { REPORT } from "../schema/report.ts";
import type { Field } from "../schema/table.ts";
import { MAX_SAME_ID } from "../tables.ts";
import {
  deletion,
  guardedUpdating,
  insertion,
  isAt,
  type RowsStatement,
  selection,
  Variants,
  wanted,
} from "./columns.ts";
import { TableWrites } from "./loaded-rows.ts";

const BY_KEY = wanted({ key: ["wanted_key", "bigint"] });
const BY_NAME = wanted({ carrierId: ["wanted_carrier", "text"], carrierMessageId: ["wanted_id", "text"] });
const BY_BULK = wanted({ accountId: ["wanted_account", "bigint"], bulkId: ["wanted_bulk", "text"] });
/** The parts of a name, but not all where a carrier gives one to very many. Which ones does not matter then, and to sort them costs a tenth more. */
const NAMED_PARTS = `JOIN LATERAL (SELECT * FROM part WHERE carrier_id = wanted_carrier AND carrier_message_id = wanted_id
  LIMIT ${MAX_SAME_ID + 1}) AS part ON true`;
/**
 * The newest of those parked under a name, or for a phone. Their order is that of their own indexes alone: another index, such as that of ids, would
 * be walked from its end until so many are found. A lateral query with a bound is never turned into a join in which all that is parked comes first.
 */
const newestParked = (column: string, lock: string): string =>
  `SELECT * FROM (SELECT * FROM parked_receipt WHERE carrier_id = wanted_carrier AND ${column} = wanted_id
     ORDER BY id DESC NULLS LAST LIMIT ${MAX_SAME_ID} ${lock}) AS by_${column}`;
const parkedBy = (columns: readonly string[], lock: string): RowsStatement => {
  const newest = columns.map((column) => newestParked(column, lock)).join(" UNION ALL ");
  return selection(BY_NAME, PARKED.list, `JOIN LATERAL (${newest}) AS newest ON true ORDER BY id`);
};
/**
 * A row of a table, by its key. Where the table was empty when the planner looked, a join may walk the whole index instead, and it is full a moment later;
 * a lateral query with a bound is never turned into one, and costs no more.
 */
const one = (table: string, columns: string, where: string, lock = ""): string =>
  `JOIN LATERAL (SELECT ${columns} FROM ${table} WHERE ${where} LIMIT 1 ${lock}) AS ${table} ON true`;
const REPORTS = `JOIN report ON ${isAt("report", "id", "wanted_key")}`;

/** How rows are locked: what others have locked is waited for, or the statement fails. */
const WAITING = "FOR UPDATE";
const AT_ONCE = "FOR UPDATE NOWAIT";

const atOnce = (statement: RowsStatement): RowsStatement => ({ ...statement, text: `${statement.text} NOWAIT` });

const bulksWith = (lock: string): RowsStatement => {
  const bulk = one("bulk", "*", "account_id = wanted_account AND bulk_id = wanted_bulk", lock);
  return selection(BY_BULK, BULK.list, bulk, "wanted_account, wanted_bulk");
};

const MESSAGES = selection(
  BY_KEY,
  MESSAGE.list,
  "JOIN message ON message.key = wanted_key FOR UPDATE OF message",
  "wanted_key",
);
const MESSAGES_OF_PARTS: RowsStatement = {
  sent: BY_NAME,
  text: `SELECT ${MESSAGE.list} FROM (${
    selection(BY_NAME, "message_key AS wanted_key", `${NAMED_PARTS} ORDER BY message_key`).text
  }) AS found JOIN message ON message.key = wanted_key FOR UPDATE OF message`,
};

const NAMES = ["carrier_message_id"];
const PHONES = ["recipient", "other_address"];

const WALLETS = selection(
  BY_KEY,
  `wallet.account_id AS "accountId", wallet.id, CAST(balance_micros AS TEXT) AS balance, wallet.revision,
   CAST(credit_limit_micros AS TEXT) AS "creditLimit", wallet.currency, account.key AS "accountKey",
   CAST(alert_below_micros AS TEXT) AS "alertBelow", alert_url AS "alertUrl"`,
  `JOIN wallet ON wallet.account_id = wanted_key ${one("account", "*", "id = wanted_key")} ORDER BY wallet.id`,
);

export const FIND = {
  messages: MESSAGES,
  messagesAtOnce: atOnce(MESSAGES),
  parts: selection(BY_NAME, PART.list, `${NAMED_PARTS} ORDER BY part.id`),
  messagesOfParts: MESSAGES_OF_PARTS,
  messagesOfPartsAtOnce: atOnce(MESSAGES_OF_PARTS),
  parked: parkedBy(NAMES, WAITING),
  /** Which of the names have any. */
  anyParked: selection(
    BY_NAME,
    `wanted_carrier AS "carrierId", wanted_id AS "carrierMessageId"`,
    one("parked_receipt", "1", "carrier_id = wanted_carrier AND carrier_message_id = wanted_id"),
  ),
  parkedAtOnce: parkedBy(NAMES, AT_ONCE),
  parkedForPhone: parkedBy(PHONES, WAITING),
  parkedForPhoneAtOnce: parkedBy(PHONES, AT_ONCE),
  wallets: WALLETS,
  lockedWallets: { ...WALLETS, text: `${WALLETS.text} FOR UPDATE OF wallet` },
  names: selection(
    wanted({ accountId: ["wanted_account", "bigint"], clientMessageId: ["wanted_name", "text"] }),
    `wanted_account AS "accountId", wanted_name AS "clientMessageId"`,
    one("message_name", "1", "account_id = wanted_account AND client_message_id = wanted_name"),
  ),
  optOuts: selection(
    wanted({ list: ["wanted_list", "bigint"], number: ["wanted_number", "text"] }),
    "wanted_list AS list, wanted_number AS number",
    one("opt_out", "1", "account_id = wanted_list AND number = wanted_number"),
  ),
  bulks: bulksWith(""),
  lockedBulks: bulksWith(WAITING),
  replays: selection(
    wanted({
      accountId: ["wanted_account", "bigint"],
      kind: ["wanted_kind", "text"],
      token: ["wanted_token", "text"],
      bodyHash: ["wanted_hash", "text"],
    }),
    REPLAY.list,
    one(
      "replay",
      "*",
      `account_id = wanted_account AND kind = wanted_kind AND token = wanted_token AND (kind = 'key' OR body_hash = wanted_hash)`,
    ),
  ),
  reports: selection(BY_KEY, REPORT.list, `${REPORTS} FOR UPDATE OF report`, "wanted_key"),
  // Locked for sharing, so that whoever settles it waits until what is to come after it can be seen.
  waiting: selection(
    BY_KEY,
    "CAST(id AS TEXT) AS id",
    `${REPORTS} WHERE dead_at_ms IS NULL FOR SHARE OF report`,
    "wanted_key",
  ),
  leaders: selection(BY_KEY, "1", `${REPORTS} FOR UPDATE OF report`, "wanted_key"),
  // The table is often empty when the planner looks, and a join would then read all reports that wait for another one. Whoever has the leader has these.
  followers: selection(
    BY_KEY,
    REPORT.list,
    "JOIN LATERAL (SELECT * FROM report WHERE after_id = wanted_key FOR UPDATE) AS report ON true ORDER BY report.id",
  ),
} as const;

/** What is written as the declarations say. */
export const WRITES = {
  message: new TableWrites(MESSAGE),
  part: new TableWrites(PART),
  parked: new TableWrites(PARKED),
  posting: new TableWrites(POSTING),
  bulk: new TableWrites(BULK),
  replay: new TableWrites(REPLAY),
  report: new TableWrites(REPORT),
} as const;

/** Changes messages that are in nobody's hands but this node's; no index on what is only checked is to be walked. */
export const CHANGE_OWNED = new Variants(MESSAGE.changing, MESSAGE.changeSets, (fields) =>
  guardedUpdating("message", MESSAGE.pick(MESSAGE.key), fields, "message.state + 0 = 1 AND message.owner + 0 = $1"),
);

const NAME: readonly Field[] = [
  ...MESSAGE.pick(["account_id", "client_message_id"]),
  { name: "key", column: "message_key", type: "bigint" },
];
const LATER_COLUMNS = LATER.fields.map(({ column }) => column);

const MOVED = wanted({
  id: ["wanted_id", "bigint"],
  amount: ["amount", "bigint"],
  least: ["least", "bigint"],
  most: ["most", "bigint"],
  revision: ["wanted_revision", "integer"],
});

export const WRITE = {
  insertNames: insertion("message_name", NAME),
  freeNames: deletion("message_name", NAME),
  insertLater: {
    sent: LATER.fields,
    text: `INSERT INTO later_receipt (${LATER_COLUMNS}) SELECT ${LATER_COLUMNS} FROM (
      ${
        selection(
          LATER.fields,
          `wanted.*, row_number() OVER (PARTITION BY message_key)
            + (SELECT count(*) FROM later_receipt AS known WHERE known.message_key = wanted.message_key) AS place`,
          "",
        ).text
      }) AS numbered WHERE place <= ${MAX_LATER_RECEIPTS} ON CONFLICT DO NOTHING`,
  },
  deleteLater: deletion("later_receipt", LATER.pick(LATER.key)),
  postNumbered: ((post) => ({ ...post, ofOne: `${post.ofOne} RETURNING id` }))(insertion("posting", POSTING.sent)),
  /** Moves money where what was decided by a balance still holds, or fails. */
  move: {
    sent: MOVED,
    text: `WITH moved AS (
        UPDATE wallet SET balance_micros = balance_micros + amount FROM (${selection(MOVED, "*", "").text}) AS wanted
        WHERE wallet.id = wanted_id AND balance_micros BETWEEN least AND most AND revision = coalesce(wanted_revision, revision) RETURNING 1)
      SELECT heliograph_require(count(*) = cardinality($1::bigint[])) FROM moved`,
  },
} as const;
