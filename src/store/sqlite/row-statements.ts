/**
 * The rows as they are in the database file. What is written here may be written a second time, from the journal, and then changes nothing
 * more: new rows come with their ids, and a change says what a column is from then on.
 */

import type { MessageKey } from "../../message/message.ts";
import { MAX_SAME_ID } from "../commands/candidates.ts";
import { PARKED_COLUMNS } from "../commands/receipt-names.ts";
import { type LaneName, type LaterReceipt, MAX_LATER_RECEIPTS, type ParkedReceipt, type PartName } from "../port.ts";
import {
  BULK_COLUMNS,
  type BulkRow,
  IS_NOT_REJECTED,
  MESSAGE_COLUMNS,
  type MessageChange,
  type MessageRow,
  type PartRow,
  REPORT_COLUMNS,
  type ReportRow,
} from "../rows.ts";
import type { Value } from "../sql.ts";
import type { NumberOnList, ReplayName } from "../tables.ts";
import { Aside } from "./aside.ts";
import type { Db } from "./database.ts";
import { Wallets } from "./wallets.ts";

type Columns = Readonly<Record<string, Value>>;

/**
 * A message's values in the order of their columns, as the table and the journal take them. The journal of a service that was killed is read by
 * the next version too: another order is another JOURNAL_VERSION.
 */
export type MessageValues = readonly (string | number | null)[];

const MESSAGE_NAMES = `key, account_id, bulk_id, state, status_id, carrier_id, sender, recipient, body, encoding, part_count, price_micros,
  charged_micros, currency, notify_url, notify_type, due_at_ms, expires_at_ms, validity_ms, received_at_ms, sent_at_ms, done_at_ms, worst_event`;
/** Columns that have their default in most messages: then they are left out, for a value costs a sixth of a microsecond. */
const RARE_NAMES = `flash, intermediate, error_id, unknown_count, parts_pending, owner, client_message_id, callback_data, delivery_window,
  bulk_version, mcc_mnc, last_report_id, pull, pull_at_ms, taken`;

const USUAL_VALUES = MESSAGE_NAMES.split(",").length;
/** Of the rare ones those that a delivered message often has, while the rest is as by default. */
const OFTEN_NAMES = ["callback_data", "mcc_mnc"];
const RARE = RARE_NAMES.split(",").map((name) => name.trim());
const OFTEN_PLACES = OFTEN_NAMES.map((name) => USUAL_VALUES + RARE.indexOf(name));
/** Their default is 0, and that of the others NULL. */
const ZERO_NAMES = ["flash", "intermediate", "error_id", "unknown_count", "parts_pending"];
const DEFAULTS = RARE.map((name) => (ZERO_NAMES.includes(name) ? 0 : null));
const OTHER_PLACES = [...RARE.keys()]
  .map((place) => USUAL_VALUES + place)
  .filter((place) => !OFTEN_PLACES.includes(place));

/** Numbers beyond 2^53 stay texts of digits: the columns are integers, and SQLite makes them such. */
export function messageValues(row: MessageRow): MessageValues {
  const usual: MessageValues = [
    row.key,
    row.account_id,
    row.bulk_id,
    row.state,
    row.status_id,
    row.carrier_id,
    row.sender,
    row.recipient,
    row.body,
    row.encoding,
    row.part_count,
    row.price,
    row.charged_micros,
    row.currency,
    row.notify_url,
    row.notify_type,
    row.due_at_ms,
    row.expires_at_ms,
    row.validity_ms,
    row.received_at_ms,
    row.sent_at_ms,
    row.done_at_ms,
    row.worst_event,
  ];
  const isUsual =
    row.flash + row.intermediate + row.error_id + row.unknown_count + row.parts_pending === 0 &&
    row.owner === null &&
    row.client_message_id === null &&
    row.callback_data === null &&
    row.delivery_window === null &&
    row.bulk_version === null &&
    row.mcc_mnc === null &&
    row.last_report_id === null &&
    row.pull === null &&
    row.taken === null;
  if (isUsual) return usual;
  return [
    ...usual,
    row.flash,
    row.intermediate,
    row.error_id,
    row.unknown_count,
    row.parts_pending,
    row.owner,
    row.client_message_id,
    row.callback_data,
    row.delivery_window,
    row.bulk_version,
    row.mcc_mnc,
    row.last_report_id,
    row.pull,
    row.pull_at_ms,
    row.taken,
  ];
}

/** The same of a part. */
export type PartValues = readonly [
  id: number,
  carrierId: string,
  carrierMessageId: string,
  messageKey: MessageKey,
  counts: number,
  submittedAtMs: number,
  expiresAtMs: number,
];

const places = (columns: string): string => columns.replaceAll(/\w+/g, "?");
const BULK_NAMES = "state, send_at_ms, version, moved_version, holds, sent, turn";
const REPORT_NAMES =
  "id, kind, account_id, url, content_type, items, attempts, due_at_ms, held_by, after_id, dead_at_ms, reason, history, tried";

/** A change may come from the journal, where anything can be: SQL is made of known names only. */
const CHANGEABLE: Readonly<Record<string, ReadonlySet<string>>> = {
  message: new Set(`${MESSAGE_NAMES}, ${RARE_NAMES}`.split(",").map((name) => name.trim())),
  report: new Set(REPORT_NAMES.split(", ")),
  bulk: new Set(BULK_NAMES.split(", ")),
};

export class RowStatements {
  readonly #db: Db;
  readonly aside: Aside;
  readonly wallets: Wallets;
  readonly #updates = new Map<string, { run(...values: Value[]): unknown }>();
  readonly #statements;

  /** `onFault` is told of rows that their table refuses. */
  constructor(db: Db, onFault: (error: unknown) => void = () => undefined) {
    this.#db = db;
    this.aside = new Aside(db, onFault);
    this.wallets = new Wallets(db, this.aside);
    this.#statements = {
      insertUsual: db.prepare<Value[]>(
        `INSERT INTO message (${MESSAGE_NAMES}, flash, intermediate) VALUES (${places(MESSAGE_NAMES)}, 0, 0)
         ON CONFLICT (key) DO NOTHING`,
      ),
      insertOften: db.prepare<Value[]>(
        `INSERT INTO message (${MESSAGE_NAMES}, ${OFTEN_NAMES.join()}, flash, intermediate)
         VALUES (${places(MESSAGE_NAMES)}, ${places(OFTEN_NAMES.join())}, 0, 0) ON CONFLICT (key) DO NOTHING`,
      ),
      insertMessage: db.prepare<Value[]>(
        `INSERT INTO message (${MESSAGE_NAMES}, ${RARE_NAMES}) VALUES (${places(MESSAGE_NAMES)}, ${places(RARE_NAMES)})
         ON CONFLICT (key) DO NOTHING`,
      ),
      message: db.prepare<[string], MessageRow>(`SELECT ${MESSAGE_COLUMNS} FROM message WHERE key = ?`),
      waiting: db.prepare<[string, number, string, number], MessageRow>(
        `SELECT ${MESSAGE_COLUMNS} FROM message
         WHERE state = 1 AND owner IS NULL AND carrier_id = ? AND account_id = ? AND message.key > CAST(? AS INTEGER)
         ORDER BY message.key LIMIT ?`,
      ),
      named: db
        .prepare<[number, string], string>(
          `SELECT CAST(key AS TEXT) FROM message WHERE account_id = ? AND client_message_id = ? AND ${IS_NOT_REJECTED}`,
        )
        .pluck(),
      anyOptOut: db.prepare<[number], unknown>("SELECT 1 FROM opt_out WHERE account_id = ? LIMIT 1"),
      optedOut: db.prepare<[number, string], unknown>("SELECT 1 FROM opt_out WHERE account_id = ? AND number = ?"),
      parts: db.prepare<[string, string, number], PartRow & { id: number }>(
        `SELECT id, CAST(message_key AS TEXT) AS key, counts, submitted_at_ms AS submittedAtMs FROM part
         WHERE carrier_id = ? AND carrier_message_id = ? ORDER BY id LIMIT ?`,
      ),
      anyPart: db.prepare<[], unknown>("SELECT 1 FROM part LIMIT 1"),
      insertPart: db.prepare<[...PartValues]>(
        `INSERT INTO part (id, carrier_id, carrier_message_id, message_key, counts, submitted_at_ms, expires_at_ms)
         VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
      ),
      deletePart: db.prepare<[number]>("DELETE FROM part WHERE id = ?"),
      anyParked: db.prepare<[string], unknown>("SELECT 1 FROM parked_receipt WHERE carrier_id = ? LIMIT 1"),
      parked: db.prepare<[string, string], ParkedReceipt>(
        `SELECT ${PARKED_COLUMNS} FROM parked_receipt WHERE carrier_id = ? AND carrier_message_id = ?
         ORDER BY id DESC LIMIT ${MAX_SAME_ID}`,
      ),
      // Each address by its own index: with an OR and an order, all of the carrier's would be read.
      parkedForPhone: ["recipient", "other_address"].map((column) =>
        db.prepare<[string, string], ParkedReceipt>(
          `SELECT ${PARKED_COLUMNS} FROM parked_receipt WHERE carrier_id = ? AND ${column} = ?
           ORDER BY id DESC LIMIT ${MAX_SAME_ID}`,
        ),
      ),
      park: db.prepare<Value[]>(
        `INSERT INTO parked_receipt
           (carrier_id, carrier_message_id, outcome, error_id, at_ms, mcc_mnc, recipient, other_address, repeated, why, times,
            submitted_at_ms, octets, message_key)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
      insertLater: db.prepare<[LaterReceipt]>(
        `INSERT INTO later_receipt (message_key, carrier_id, carrier_message_id, outcome, error_id, at_ms)
         SELECT @messageKey, @carrierId, @carrierMessageId, @outcome, @errorId, @atMs
         WHERE (SELECT count(*) FROM later_receipt WHERE message_key = @messageKey) < ${MAX_LATER_RECEIPTS}
         ON CONFLICT DO NOTHING`,
      ),
      deleteLater: db.prepare<[string, string, string]>(
        "DELETE FROM later_receipt WHERE message_key = ? AND carrier_message_id = ? AND outcome = ?",
      ),
      unpark: db.prepare<[number]>("DELETE FROM parked_receipt WHERE id = ?"),
      lastId: db.prepare<[string], number>("SELECT seq FROM sqlite_sequence WHERE name = ?").pluck(),
      bulk: db.prepare<[number, string], BulkRow>(
        `SELECT ${BULK_COLUMNS} FROM bulk WHERE account_id = ? AND bulk_id = ?`,
      ),
      insertBulk: db.prepare<[number, string, number]>(
        "INSERT INTO bulk (account_id, bulk_id, send_at_ms) VALUES (?, ?, ?)",
      ),
      replay: db.prepare<[number, string, string, string], { answer: string }>(
        "SELECT answer FROM replay WHERE account_id = ? AND kind = ? AND token = ? AND body_hash = ?",
      ),
      otherReplay: db.prepare<[number, string, string], unknown>(
        "SELECT 1 FROM replay WHERE account_id = ? AND kind = 'key' AND token = ? AND body_hash <> ? LIMIT 1",
      ),
      insertReplay: db.prepare(
        "INSERT INTO replay (account_id, kind, token, body_hash, answer, at_ms) VALUES (?, ?, ?, ?, ?, ?)",
      ),
      report: db.prepare<[string], ReportRow>(`SELECT ${REPORT_COLUMNS} FROM report WHERE id = ?`),
      insertReport: db.prepare<Value[]>(
        `INSERT INTO report (${REPORT_NAMES}) VALUES (${places(REPORT_NAMES)}) ON CONFLICT (id) DO NOTHING`,
      ),
      deleteReport: db.prepare<[string]>("DELETE FROM report WHERE id = ?"),
      followers: db.prepare<[string], ReportRow>(`SELECT ${REPORT_COLUMNS} FROM report WHERE after_id = ?`),
    };
  }

  /** Only the columns that change are named, so that only their indexes are touched. */
  #update(table: string, where: string, change: Columns, ...key: Value[]): void {
    const columns = Object.keys(change);
    if (columns.length === 0) return;
    const id = `${table} ${columns}`;
    let statement = this.#updates.get(id);
    if (statement === undefined) {
      const unknown = columns.find((column) => !CHANGEABLE[table]!.has(column));
      if (unknown !== undefined) throw new RangeError(`the table ${table} has no column ${JSON.stringify(unknown)}`);
      const set = columns.map((column) => `${column} = ?`).join(", ");
      statement = this.#db.prepare<Value[]>(`UPDATE ${table} SET ${set} WHERE ${where}`);
      this.#updates.set(id, statement);
    }
    statement.run(...Object.values(change), ...key);
  }

  message(key: MessageKey): MessageRow | undefined {
    return this.#statements.message.get(key);
  }

  waiting({ carrierId, accountId }: LaneName, after: MessageKey, count: number): MessageRow[] {
    return this.#statements.waiting.all(carrierId, accountId, after, count);
  }

  insertMessage(values: MessageValues): void {
    const { insertUsual, insertOften, insertMessage } = this.#statements;
    if (values.length === USUAL_VALUES) {
      insertUsual.run(...values);
      return;
    }
    // An entry of an older version has fewer columns: those that came later had their default.
    const left = DEFAULTS.slice(values.length - USUAL_VALUES);
    const whole = left.length === 0 ? values : [...values, ...left];
    if (OTHER_PLACES.every((place) => whole[place] === DEFAULTS[place - USUAL_VALUES]))
      insertOften.run(...whole.slice(0, USUAL_VALUES), ...OFTEN_PLACES.map((place) => whole[place]!));
    else insertMessage.run(...whole);
  }

  changeMessage(key: MessageKey, change: MessageChange): void {
    this.#update("message", "key = ?", change as Columns, key);
  }

  /** The message of that name which was not rejected. */
  named(accountId: number, clientMessageId: string): MessageKey | undefined {
    return this.#statements.named.get(accountId, clientMessageId);
  }

  hasOptOuts(list: number): boolean {
    return this.#statements.anyOptOut.get(list) !== undefined;
  }

  isOptedOut({ list, number }: NumberOnList): boolean {
    return this.#statements.optedOut.get(list, number) !== undefined;
  }

  /** Oldest first. */
  parts({ carrierId, carrierMessageId }: PartName, count: number): (PartRow & { id: number })[] {
    return this.#statements.parts.all(carrierId, carrierMessageId, count);
  }

  anyPart(): boolean {
    return this.#statements.anyPart.get() !== undefined;
  }

  insertPart(values: PartValues): void {
    this.#statements.insertPart.run(...values);
  }

  deletePart(id: number): void {
    this.#statements.deletePart.run(id);
  }

  anyParked(carrierId: string): boolean {
    return this.#statements.anyParked.get(carrierId) !== undefined;
  }

  parked({ carrierId, carrierMessageId }: PartName): ParkedReceipt[] {
    return this.#statements.parked.all(carrierId, carrierMessageId).reverse();
  }

  parkedForPhone(carrierId: string, phone: string): ParkedReceipt[] {
    const found = this.#statements.parkedForPhone.flatMap((statement) => statement.all(carrierId, phone));
    // One that is found in both ways is still one.
    const each = [...new Map(found.map((receipt) => [receipt.id, receipt])).values()];
    return each.sort((one, other) => one.id - other.id).slice(-MAX_SAME_ID);
  }

  /** Returns its id. */
  park(receipt: Omit<ParkedReceipt, "id">): number {
    const { carrierId, carrierMessageId, outcome, errorId, atMs, mccMnc, to, other = null, repeated } = receipt;
    const said = [carrierId, carrierMessageId, outcome, errorId, atMs, mccMnc, to, other];
    const { why, times, submittedAtMs = null, octets = null, messageKey } = receipt;
    const { lastInsertRowid } = this.#statements.park.run(
      ...said,
      repeated,
      why,
      times,
      submittedAtMs,
      octets,
      messageKey,
    );
    return Number(lastInsertRowid);
  }

  insertLater({ messageKey, carrierId, carrierMessageId, outcome, errorId, atMs }: LaterReceipt): void {
    this.#statements.insertLater.run({ messageKey, carrierId, carrierMessageId, outcome, errorId, atMs });
  }

  deleteLater({ messageKey, carrierMessageId, outcome }: LaterReceipt): void {
    this.#statements.deleteLater.run(messageKey, carrierMessageId, outcome);
  }

  unpark(id: number): void {
    this.#statements.unpark.run(id);
  }

  /** The highest id that a row of the table has or had. */
  lastId(table: "part" | "posting"): number {
    return this.#statements.lastId.get(table) ?? 0;
  }

  bulk(accountId: number, bulkId: string): BulkRow | undefined {
    return this.#statements.bulk.get(accountId, bulkId);
  }

  insertBulk({ account_id, bulk_id, send_at_ms }: BulkRow): void {
    this.#statements.insertBulk.run(account_id, bulk_id, send_at_ms);
  }

  changeBulk({ account_id, bulk_id }: BulkRow, change: Partial<BulkRow>): void {
    this.#update("bulk", "account_id = ? AND bulk_id = ?", change as Columns, account_id, bulk_id);
  }

  replay({ accountId, kind, token, bodyHash }: ReplayName): string | undefined {
    return this.#statements.replay.get(accountId, kind, token, bodyHash)?.answer;
  }

  hasOtherReplay({ accountId, token, bodyHash }: ReplayName): boolean {
    return this.#statements.otherReplay.get(accountId, token, bodyHash) !== undefined;
  }

  insertReplay({ accountId, kind, token, bodyHash }: ReplayName, answer: string, atMs: number): void {
    this.#statements.insertReplay.run(accountId, kind, token, bodyHash, answer, atMs);
  }

  report(id: string): ReportRow | undefined {
    return this.#statements.report.get(id);
  }

  insertReport(row: ReportRow): void {
    const { id, kind, account_id, url, content_type, items, attempts, due_at_ms, held_by, after_id } = row;
    const { dead_at_ms, reason, history, tried } = row;
    const told = [kind, account_id, url, content_type, items, attempts, due_at_ms, held_by, after_id];
    this.#statements.insertReport.run(id, ...told, dead_at_ms, reason, history, tried);
  }

  changeReport(id: string, change: Partial<ReportRow>): void {
    this.#update("report", "id = ?", change as Columns, id);
  }

  deleteReport(id: string): void {
    this.#statements.deleteReport.run(id);
  }

  followers(id: string): ReportRow[] {
    return this.#statements.followers.all(id);
  }
}
