/** The tables on SQLite: each row is read and written when it is asked for. */
import type { Receipt } from "../../carriers/port.ts";
import type { MessageKey } from "../../message/message.ts";
import { PARKED_COLUMNS } from "../commands/delivery.ts";
import type { ParkedReceipt, PartName } from "../port.ts";
import {
  BULK_COLUMNS,
  type BulkRow,
  IS_NOT_REJECTED,
  MESSAGE_COLUMNS,
  type MessageChange,
  type MessageRow,
  type NewMessageRow,
  type NewReportRow,
  type PartRow,
  type PurseRow,
  purseOf,
  REPORT_COLUMNS,
  type ReportRow,
} from "../rows.ts";
import type { Value } from "../sql.ts";
import type { NewPart, NewPosting, NumberOnList, Purse, ReplayName, Tables } from "../tables.ts";
import type { Db } from "./database.ts";

type Columns = Readonly<Record<string, Value>>;

export class SqliteTables implements Tables {
  readonly #db: Db;
  readonly #updates = new Map<string, { run(...values: Value[]): unknown }>();
  readonly #insertMessage;
  readonly #statements;

  constructor(db: Db) {
    this.#db = db;
    this.#insertMessage = db.prepare(
      `INSERT INTO message (key, account_id, bulk_id, client_message_id, state, status_id, error_id, owner, carrier_id, sender, recipient, body,
         encoding, part_count, flash, price_micros, charged_micros, currency, notify_url, notify_type, callback_data, intermediate, due_at_ms,
         delivery_window, expires_at_ms, validity_ms, bulk_version, received_at_ms, done_at_ms, pull, pull_at_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#statements = {
      message: db.prepare<[bigint], MessageRow>(`SELECT ${MESSAGE_COLUMNS} FROM message WHERE key = ?`),
      named: db.prepare<[number, string], unknown>(
        `SELECT 1 FROM message WHERE account_id = ? AND client_message_id = ? AND ${IS_NOT_REJECTED}`,
      ),
      anyOptOut: db.prepare<[number], unknown>("SELECT 1 FROM opt_out WHERE account_id = ? LIMIT 1"),
      optedOut: db.prepare<[number, string], unknown>("SELECT 1 FROM opt_out WHERE account_id = ? AND number = ?"),
      part: db.prepare<[string, string], PartRow>(
        `SELECT id, CAST(message_key AS TEXT) AS key, counts FROM part WHERE carrier_id = ? AND carrier_message_id = ? ORDER BY id LIMIT 1`,
      ),
      insertPart: db.prepare<[string, string, bigint, number, number, number]>(
        `INSERT INTO part (carrier_id, carrier_message_id, message_key, counts, submitted_at_ms, expires_at_ms)
         VALUES (?, ?, ?, ?, ?, ?)`,
      ),
      deletePart: db.prepare<[number]>("DELETE FROM part WHERE id = ?"),
      anyParked: db.prepare<[string], unknown>("SELECT 1 FROM parked_receipt WHERE carrier_id = ? LIMIT 1"),
      parked: db.prepare<[string, string], ParkedReceipt>(
        `SELECT ${PARKED_COLUMNS} FROM parked_receipt WHERE carrier_id = ? AND carrier_message_id = ? ORDER BY id`,
      ),
      parkedForPhone: db.prepare<[string, string], ParkedReceipt>(
        `SELECT ${PARKED_COLUMNS} FROM parked_receipt WHERE carrier_id = ? AND recipient = ? ORDER BY id`,
      ),
      park: db.prepare<[string, string, string, number, number, string | null, string | null]>(
        `INSERT INTO parked_receipt (carrier_id, carrier_message_id, outcome, error_id, at_ms, mcc_mnc, recipient)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
      ),
      unpark: db.prepare<[number]>("DELETE FROM parked_receipt WHERE id = ?"),
      purse: db.prepare<[number], PurseRow>(
        `SELECT purse.id, CAST(balance_micros AS TEXT) AS balance, CAST(credit_limit_micros AS TEXT) AS creditLimit, purse.currency,
           account.key AS accountKey, CAST(alert_below_micros AS TEXT) AS alertBelow, alert_url AS alertUrl
         FROM purse JOIN account ON account.id = purse.account_id WHERE purse.account_id = ?`,
      ),
      servicePurse: db.prepare<[string, string], { id: number }>(
        "SELECT id FROM purse WHERE account_id IS NULL AND name = ? AND currency = ?",
      ),
      openServicePurse: db.prepare<[string, string]>("INSERT INTO purse (name, currency) VALUES (?, ?)"),
      post: db.prepare(
        `INSERT INTO posting (at_ms, kind, from_purse, to_purse, amount_micros, message_key, part_count, description, actor_id)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
      move: db.prepare<[bigint, number]>("UPDATE purse SET balance_micros = balance_micros + ? WHERE id = ?"),
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
      report: db.prepare<[bigint], ReportRow>(`SELECT ${REPORT_COLUMNS} FROM report WHERE id = ?`),
      reportWaits: db.prepare<[bigint], unknown>("SELECT 1 FROM report WHERE id = ? AND dead_at_ms IS NULL"),
      insertReport: db.prepare(
        "INSERT INTO report (id, kind, account_id, url, content_type, items, due_at_ms, held_by, after_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      ),
      deleteReport: db.prepare<[bigint]>("DELETE FROM report WHERE id = ?"),
      followers: db.prepare<[bigint], ReportRow>(`SELECT ${REPORT_COLUMNS} FROM report WHERE after_id = ?`),
    };
  }

  // Nothing has to be fetched, or is kept back.
  load(): void {}
  flush(): void {}
  adopt(rows: readonly MessageRow[]): MessageRow[] {
    return [...rows];
  }

  /** Only the columns that change are named, so that only their indexes are touched. */
  #update(table: string, where: string, change: Columns, ...key: Value[]): void {
    const columns = Object.keys(change);
    const id = `${table} ${columns}`;
    let statement = this.#updates.get(id);
    if (statement === undefined) {
      const set = columns.map((column) => `${column} = ?`).join(", ");
      statement = this.#db.prepare<Value[]>(`UPDATE ${table} SET ${set} WHERE ${where}`);
      this.#updates.set(id, statement);
    }
    statement.run(...Object.values(change), ...key);
  }

  message(key: MessageKey): MessageRow | undefined {
    return this.#statements.message.get(BigInt(key));
  }

  insertMessage(row: NewMessageRow): void {
    this.#insertMessage.run(
      BigInt(row.key),
      row.account_id,
      row.bulk_id,
      row.client_message_id,
      row.state,
      row.status_id,
      row.error_id,
      row.owner,
      row.carrier_id,
      row.sender,
      row.recipient,
      row.body,
      row.encoding,
      row.part_count,
      row.flash,
      row.price_micros,
      row.charged_micros,
      row.currency,
      row.notify_url,
      row.notify_type,
      row.callback_data,
      row.intermediate,
      row.due_at_ms,
      row.delivery_window,
      row.expires_at_ms,
      row.validity_ms,
      row.bulk_version,
      row.received_at_ms,
      row.done_at_ms,
      row.pull,
      row.pull_at_ms,
    );
  }

  changeMessage(row: MessageRow, change: MessageChange): MessageRow {
    this.#update("message", "key = ?", change as Columns, BigInt(row.key));
    return { ...row, ...change };
  }

  isNamed(accountId: number, clientMessageId: string): boolean {
    return this.#statements.named.get(accountId, clientMessageId) !== undefined;
  }

  hasOptOuts(list: number): boolean {
    return this.#statements.anyOptOut.get(list) !== undefined;
  }

  isOptedOut({ list, number }: NumberOnList): boolean {
    return this.#statements.optedOut.get(list, number) !== undefined;
  }

  part({ carrierId, carrierMessageId }: PartName): PartRow | undefined {
    return this.#statements.part.get(carrierId, carrierMessageId);
  }

  insertPart({ carrierId, carrierMessageId, messageKey, counts, submittedAtMs, expiresAtMs }: NewPart): void {
    const times = [submittedAtMs, expiresAtMs] as const;
    this.#statements.insertPart.run(carrierId, carrierMessageId, BigInt(messageKey), counts ? 1 : 0, ...times);
  }

  deletePart({ id }: PartRow): void {
    this.#statements.deletePart.run(id!);
  }

  anyParked(carrierId: string): boolean {
    return this.#statements.anyParked.get(carrierId) !== undefined;
  }

  parked({ carrierId, carrierMessageId }: PartName): ParkedReceipt[] {
    return this.#statements.parked.all(carrierId, carrierMessageId);
  }

  parkedForPhone(carrierId: string, to: string): ParkedReceipt[] {
    return this.#statements.parkedForPhone.all(carrierId, to);
  }

  park(carrierId: string, { carrierMessageId, outcome, errorId, atMs, mccMnc, to }: Receipt): void {
    this.#statements.park.run(carrierId, carrierMessageId, outcome, errorId, atMs, mccMnc, to);
  }

  unpark({ id }: ParkedReceipt): void {
    this.#statements.unpark.run(id);
  }

  purse(accountId: number): Purse {
    const row = this.#statements.purse.get(accountId);
    if (row === undefined) throw new Error(`account ${accountId} has no purse`);
    return purseOf(row);
  }

  servicePurse(name: "payments" | "revenue", currency: string): number {
    const row = this.#statements.servicePurse.get(name, currency);
    return row?.id ?? Number(this.#statements.openServicePurse.run(name, currency).lastInsertRowid);
  }

  post(posting: NewPosting): void {
    this.postNumbered(posting);
  }

  postNumbered(posting: NewPosting): number {
    const { atMs, kind, from, to, amountMicros, messageKey, partCount, description, actorId } = posting;
    const inserted = this.#statements.post.run(
      atMs,
      kind,
      from,
      to,
      amountMicros,
      messageKey === undefined ? null : BigInt(messageKey),
      partCount ?? null,
      description ?? null,
      actorId ?? null,
    );
    this.#statements.move.run(-amountMicros, from);
    this.#statements.move.run(amountMicros, to);
    return Number(inserted.lastInsertRowid);
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
    return this.#statements.report.get(BigInt(id));
  }

  reportWaits(id: string): boolean {
    return this.#statements.reportWaits.get(BigInt(id)) !== undefined;
  }

  insertReport(row: NewReportRow): void {
    const { id, kind, account_id, url, content_type, items, due_at_ms, held_by, after_id } = row;
    const after = after_id === null ? null : BigInt(after_id);
    this.#statements.insertReport.run(
      BigInt(id),
      kind,
      account_id,
      url,
      content_type,
      items,
      due_at_ms,
      held_by,
      after,
    );
  }

  changeReport(id: string, change: Partial<ReportRow>): void {
    this.#update("report", "id = ?", change as Columns, BigInt(id));
  }

  deleteReport(id: string): void {
    this.#statements.deleteReport.run(BigInt(id));
  }

  followers(id: string): ReportRow[] {
    return this.#statements.followers.all(BigInt(id));
  }
}
