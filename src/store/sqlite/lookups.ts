/** What the commands look up in the database file beside rows by their keys. */
import type { MessageKey } from "../../message/message.ts";
import { MAX_SAME_ID } from "../commands/candidates.ts";
import type { LaneName } from "../port/delivery.ts";
import { MAX_LATER_RECEIPTS, type PartName } from "../port/receipts.ts";
import { IS_NOT_REJECTED } from "../rows.ts";
import { BULK, REPLAY, type ReplayName } from "../schema/bulk.ts";
import { MESSAGE, type MessageRow, PART, type PartRow } from "../schema/message.ts";
import { LATER, type LaterReceipt, PARKED, type ParkedReceipt } from "../schema/receipts.ts";
import { REPORT, type ReportRow } from "../schema/report.ts";
import type { NumberOnList } from "../tables.ts";
import type { Db } from "./database.ts";
import { TableStatements } from "./table-statements.ts";

export class Lookups {
  readonly bulk;
  readonly replay;
  readonly receipt;
  readonly #statements;

  constructor(db: Db) {
    const message = new TableStatements(db, MESSAGE);
    const part = new TableStatements(db, PART);
    const report = new TableStatements(db, REPORT);
    this.bulk = new TableStatements(db, BULK);
    this.replay = new TableStatements(db, REPLAY);
    this.receipt = new TableStatements(db, PARKED);
    const exists = (rest: string) => db.prepare<(string | number)[], unknown>(`SELECT 1 FROM ${rest} LIMIT 1`);
    this.#statements = {
      waiting: message.select<[string, number, string, number]>(
        `state = 1 AND owner IS NULL AND carrier_id = ? AND account_id = ? AND message.key > CAST(? AS INTEGER)
         ORDER BY message.key LIMIT ?`,
      ),
      named: db
        .prepare<[number, string], string>(
          `SELECT CAST(key AS TEXT) FROM message WHERE account_id = ? AND client_message_id = ? AND ${IS_NOT_REJECTED}`,
        )
        .pluck(),
      anyOptOut: exists("opt_out WHERE account_id = ?"),
      optedOut: exists("opt_out WHERE account_id = ? AND number = ?"),
      parts: part.select<[string, string, number]>("carrier_id = ? AND carrier_message_id = ? ORDER BY id LIMIT ?"),
      anyPart: exists("part"),
      anyParked: exists("parked_receipt WHERE carrier_id = ?"),
      // Each address by its own index: with an OR and an order, all of the carrier's would be read.
      parkedBy: ["carrier_message_id", "recipient", "other_address"].map((column) =>
        this.receipt.select<[string, string]>(`carrier_id = ? AND ${column} = ? ORDER BY id DESC LIMIT ${MAX_SAME_ID}`),
      ),
      insertLater: db.prepare<[LaterReceipt]>(
        `INSERT INTO later_receipt (${LATER.fields.map(({ column }) => column)}) SELECT ${LATER.fields.map(({ name }) => `@${name}`)}
         WHERE (SELECT count(*) FROM later_receipt WHERE message_key = @messageKey) < ${MAX_LATER_RECEIPTS}
         ON CONFLICT DO NOTHING`,
      ),
      deleteLater: db.prepare<[string, string, string]>(
        "DELETE FROM later_receipt WHERE message_key = ? AND carrier_message_id = ? AND outcome = ?",
      ),
      lastId: db.prepare<[string], number>("SELECT seq FROM sqlite_sequence WHERE name = ?").pluck(),
      otherReplay: exists("replay WHERE account_id = ? AND kind = 'key' AND token = ? AND body_hash <> ?"),
      followers: report.select<[string]>("after_id = ?"),
    };
  }

  /** Messages of a lane that wait for an owner, oldest first. */
  waiting({ carrierId, accountId }: LaneName, after: MessageKey, count: number): MessageRow[] {
    return this.#statements.waiting.all(carrierId, accountId, after, count);
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
  parts({ carrierId, carrierMessageId }: PartName, count: number): PartRow[] {
    return this.#statements.parts.all(carrierId, carrierMessageId, count);
  }

  anyPart(): boolean {
    return this.#statements.anyPart.get() !== undefined;
  }

  anyParked(carrierId: string): boolean {
    return this.#statements.anyParked.get(carrierId) !== undefined;
  }

  parked({ carrierId, carrierMessageId }: PartName): ParkedReceipt[] {
    return this.#statements.parkedBy[0]!.all(carrierId, carrierMessageId).reverse();
  }

  parkedForPhone(carrierId: string, phone: string): ParkedReceipt[] {
    const found = this.#statements.parkedBy.slice(1).flatMap((statement) => statement.all(carrierId, phone));
    // One that is found in both ways is still one.
    const each = [...new Map(found.map((receipt) => [receipt.id, receipt])).values()];
    return each.sort((one, other) => one.id - other.id).slice(-MAX_SAME_ID);
  }

  insertLater(later: LaterReceipt): void {
    this.#statements.insertLater.run(LATER.create(later));
  }

  deleteLater({ messageKey, carrierMessageId, outcome }: LaterReceipt): void {
    this.#statements.deleteLater.run(messageKey, carrierMessageId, outcome);
  }

  /** The highest id that a row of the table has or had. */
  lastId(table: "part" | "posting"): number {
    return this.#statements.lastId.get(table) ?? 0;
  }

  hasOtherReplay({ accountId, token, bodyHash }: ReplayName): boolean {
    return this.#statements.otherReplay.get(accountId, token, bodyHash) !== undefined;
  }

  followers(id: string): ReportRow[] {
    return this.#statements.followers.all(id);
  }
}
