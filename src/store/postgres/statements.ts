/** The statements of the tables on PostgreSQL, each for any number of rows, and the columns that they take. */
import { MAX_SAME_ID } from "../commands/candidates.ts";
import { PARKED_COLUMNS } from "../commands/receipt-names.ts";
import { MAX_LATER_RECEIPTS } from "../port.ts";
import { BULK_COLUMNS, MESSAGE_COLUMNS, REPORT_COLUMNS } from "../rows.ts";
import { type ColumnTypes, deletion, insertion, selection, updating, Variants } from "./columns.ts";

export const CHANGING: ColumnTypes = {
  key: "bigint",
  state: "integer",
  status_id: "integer",
  error_id: "integer",
  owner: "bigint",
  carrier_id: "text",
  unknown_count: "integer",
  charged_micros: "bigint",
  due_at_ms: "bigint",
  expires_at_ms: "bigint",
  sent_at_ms: "bigint",
  done_at_ms: "bigint",
  mcc_mnc: "text",
  parts_pending: "integer",
  worst_event: "text",
  last_report_id: "bigint",
  bulk_version: "integer",
  pull: "integer",
  pull_at_ms: "bigint",
  taken: "text",
};
export const NEW_MESSAGE: ColumnTypes = {
  key: "bigint",
  account_id: "bigint",
  bulk_id: "text",
  client_message_id: "text",
  state: "integer",
  status_id: "integer",
  error_id: "integer",
  owner: "bigint",
  carrier_id: "text",
  sender: "text",
  recipient: "text",
  body: "text",
  encoding: "text",
  part_count: "integer",
  flash: "integer",
  price_micros: "bigint",
  charged_micros: "bigint",
  currency: "text",
  notify_url: "text",
  notify_type: "text",
  callback_data: "text",
  intermediate: "integer",
  due_at_ms: "bigint",
  delivery_window: "text",
  expires_at_ms: "bigint",
  validity_ms: "bigint",
  bulk_version: "integer",
  received_at_ms: "bigint",
  done_at_ms: "bigint",
  pull: "integer",
  pull_at_ms: "bigint",
};
const NAME: ColumnTypes = { account_id: "bigint", client_message_id: "text" };
export const NEW_NAME: ColumnTypes = { ...NAME, message_key: "bigint" };
export const NEW_PART: ColumnTypes = {
  carrier_id: "text",
  carrier_message_id: "text",
  message_key: "bigint",
  counts: "integer",
  submitted_at_ms: "bigint",
  expires_at_ms: "bigint",
};
export const NEW_PARKED: ColumnTypes = {
  carrier_id: "text",
  carrier_message_id: "text",
  outcome: "text",
  error_id: "integer",
  at_ms: "bigint",
  mcc_mnc: "text",
  recipient: "text",
  other_address: "text",
  repeated: "integer",
  why: "text",
  times: "integer",
  submitted_at_ms: "bigint",
  octets: "text",
  message_key: "bigint",
};
export const LATER_NAME: ColumnTypes = { message_key: "bigint", carrier_message_id: "text", outcome: "text" };
export const LATER: ColumnTypes = { ...LATER_NAME, carrier_id: "text", error_id: "integer", at_ms: "bigint" };
export const POSTING: ColumnTypes = {
  at_ms: "bigint",
  kind: "text",
  from_wallet: "bigint",
  to_wallet: "bigint",
  amount_micros: "bigint",
  message_key: "bigint",
  part_count: "integer",
  description: "text",
  actor_id: "bigint",
};
const BULK_NAME: ColumnTypes = { account_id: "bigint", bulk_id: "text" };
export const BULK: ColumnTypes = {
  ...BULK_NAME,
  state: "text",
  send_at_ms: "bigint",
  version: "integer",
  moved_version: "integer",
  holds: "integer",
  sent: "integer",
  turn: "bigint",
};
const REPLAY: ColumnTypes = { account_id: "bigint", kind: "text", token: "text", body_hash: "text" };
export const NEW_REPLAY: ColumnTypes = { ...REPLAY, answer: "text", at_ms: "bigint" };
export const REPORT: ColumnTypes = {
  id: "bigint",
  kind: "text",
  account_id: "bigint",
  url: "text",
  content_type: "text",
  items: "text",
  attempts: "integer",
  due_at_ms: "bigint",
  held_by: "bigint",
  after_id: "bigint",
  dead_at_ms: "bigint",
  reason: "text",
  history: "text",
  tried: "integer",
};
export const NEW_REPORT = pick(REPORT, [
  "id",
  "kind",
  "account_id",
  "url",
  "content_type",
  "items",
  "due_at_ms",
  "held_by",
  "after_id",
]);
export const ID: ColumnTypes = { id: "bigint" };

export const WANTED_KEY: ColumnTypes = { wanted_key: "bigint" };
export const WANTED_PART: ColumnTypes = { wanted_carrier: "text", wanted_id: "text" };
/** The parts of a name, but not all where a carrier gives one to very many. Which ones does not matter then, and to sort them costs a tenth more. */
const NAMED_PARTS = `JOIN LATERAL (SELECT * FROM part WHERE carrier_id = wanted_carrier AND carrier_message_id = wanted_id
  LIMIT ${MAX_SAME_ID + 1}) AS part ON true`;
export const FIND = {
  messages: selection(
    WANTED_KEY,
    MESSAGE_COLUMNS,
    "JOIN message ON message.key = wanted_key FOR UPDATE OF message",
    "wanted_key",
  ),
  parts: selection(
    WANTED_PART,
    `part.id, part.carrier_id AS "carrierId", part.carrier_message_id AS "carrierMessageId", CAST(message_key AS TEXT) AS key, counts,
     submitted_at_ms AS "submittedAtMs"`,
    `${NAMED_PARTS} ORDER BY part.id`,
  ),
  messagesOfParts: `SELECT ${MESSAGE_COLUMNS} FROM (${selection(
    WANTED_PART,
    "message_key AS wanted_key",
    `${NAMED_PARTS} ORDER BY message_key`,
  )}) AS found JOIN message ON message.key = wanted_key FOR UPDATE OF message`,
  parked: selection(
    WANTED_PART,
    PARKED_COLUMNS,
    `JOIN LATERAL (SELECT * FROM parked_receipt WHERE carrier_id = wanted_carrier AND carrier_message_id = wanted_id
       ORDER BY id DESC LIMIT ${MAX_SAME_ID} FOR UPDATE) AS newest ON true ORDER BY id`,
  ),
  parkedForPhone: selection(
    WANTED_PART,
    PARKED_COLUMNS,
    `JOIN LATERAL (SELECT * FROM parked_receipt WHERE id IN (
         (SELECT id FROM parked_receipt WHERE carrier_id = wanted_carrier AND recipient = wanted_id
          ORDER BY id DESC LIMIT ${MAX_SAME_ID})
         UNION
         (SELECT id FROM parked_receipt WHERE carrier_id = wanted_carrier AND other_address = wanted_id
          ORDER BY id DESC LIMIT ${MAX_SAME_ID}))
       ORDER BY id DESC LIMIT ${MAX_SAME_ID} FOR UPDATE) AS newest ON true ORDER BY id`,
  ),
  wallets: selection(
    WANTED_KEY,
    `wallet.account_id AS "accountId", wallet.id, CAST(balance_micros AS TEXT) AS balance,
     CAST(credit_limit_micros AS TEXT) AS "creditLimit", wallet.currency, account.key AS "accountKey",
     CAST(alert_below_micros AS TEXT) AS "alertBelow", alert_url AS "alertUrl"`,
    `JOIN wallet ON wallet.account_id = wanted_key JOIN account ON account.id = wanted_key ORDER BY wallet.id FOR UPDATE OF wallet`,
  ),
  names: selection(
    { wanted_account: "bigint", wanted_name: "text" },
    `account_id AS "accountId", client_message_id AS "clientMessageId"`,
    "JOIN message_name ON account_id = wanted_account AND client_message_id = wanted_name",
  ),
  optOuts: selection(
    { wanted_list: "bigint", wanted_number: "text" },
    "account_id AS list, number",
    "JOIN opt_out ON account_id = wanted_list AND number = wanted_number",
  ),
  bulks: selection(
    { wanted_account: "bigint", wanted_bulk: "text" },
    BULK_COLUMNS,
    "JOIN bulk ON account_id = wanted_account AND bulk_id = wanted_bulk ORDER BY account_id, bulk_id",
  ),
  replays: selection(
    { wanted_account: "bigint", wanted_kind: "text", wanted_token: "text", wanted_hash: "text" },
    `account_id AS "accountId", kind, token, body_hash AS "bodyHash", answer`,
    `JOIN replay ON account_id = wanted_account AND kind = wanted_kind AND token = wanted_token
     WHERE kind = 'key' OR body_hash = wanted_hash`,
  ),
  reports: selection(
    WANTED_KEY,
    REPORT_COLUMNS,
    "JOIN report ON report.id = wanted_key ORDER BY report.id FOR UPDATE OF report",
  ),
  // Locked for sharing, so that whoever settles it waits until what is to come after it can be seen.
  waiting: selection(
    WANTED_KEY,
    "CAST(id AS TEXT) AS id",
    "JOIN report ON report.id = wanted_key WHERE dead_at_ms IS NULL ORDER BY report.id FOR SHARE OF report",
  ),
  leaders: selection(WANTED_KEY, "1", "JOIN report ON report.id = wanted_key ORDER BY report.id FOR UPDATE OF report"),
  followers: selection(
    WANTED_KEY,
    REPORT_COLUMNS,
    "JOIN report ON report.after_id = wanted_key ORDER BY report.id FOR UPDATE OF report",
  ),
} as const;

export const WRITE = {
  insertMessages: new Variants(
    NEW_MESSAGE,
    [
      ["client_message_id"],
      ["callback_data"],
      ["delivery_window", "bulk_version"],
      ["done_at_ms", "pull", "pull_at_ms"],
    ],
    (types) => insertion("message", types),
  ),
  changeMessages: new Variants(
    CHANGING,
    [
      ["carrier_id", "unknown_count", "due_at_ms", "expires_at_ms", "bulk_version", "taken"],
      ["charged_micros", "worst_event", "last_report_id"],
      ["mcc_mnc"],
      ["pull", "pull_at_ms"],
    ],
    (types) => updating("message", ["key"], types),
  ),
  insertNames: insertion("message_name", NEW_NAME),
  freeNames: deletion("message_name", NEW_NAME),
  insertParts: insertion("part", NEW_PART),
  deleteParts: deletion("part", ID),
  park: insertion("parked_receipt", NEW_PARKED),
  unpark: deletion("parked_receipt", ID),
  insertLater: `INSERT INTO later_receipt (${Object.keys(LATER)}) SELECT ${Object.keys(LATER)} FROM (
    ${selection(
      LATER,
      `wanted.*, row_number() OVER (PARTITION BY message_key)
        + (SELECT count(*) FROM later_receipt AS known WHERE known.message_key = wanted.message_key) AS place`,
      "",
    )}) AS numbered WHERE place <= ${MAX_LATER_RECEIPTS} ON CONFLICT DO NOTHING`,
  deleteLater: deletion("later_receipt", LATER_NAME),
  post: new Variants(POSTING, [["description", "actor_id"]], (types) => insertion("posting", types)),
  postNumbered: `${insertion("posting", POSTING)} RETURNING id`,
  move: `UPDATE wallet SET balance_micros = balance_micros + moved.amount
    FROM unnest($1::bigint[], $2::bigint[]) AS moved (id, amount) WHERE wallet.id = moved.id`,
  insertBulks: insertion("bulk", BULK),
  insertReplays: insertion("replay", NEW_REPLAY),
  insertReports: insertion("report", NEW_REPORT),
  deleteReports: deletion("report", ID),
} as const;

export function pick(types: ColumnTypes, columns: readonly string[]): ColumnTypes {
  return Object.fromEntries(columns.map((column) => [column, types[column]!]));
}
