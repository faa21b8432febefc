/** Receipts that no part waits for. They are rare, and written at once. */
import type { Db } from "../../drivers/sqlite/database.ts";
import { onceEach } from "../../runtime/lazy.ts";
import { MAX_LATER_RECEIPTS, type PartName } from "../port/receipts.ts";
import { LATER, type LaterReceipt, type NewParkedReceipt, PARKED, type ParkedReceipt } from "../schema/receipts.ts";
import type { ReceiptTable } from "../tables.ts";
import { MAX_SAME_ID } from "../tables.ts";
import { TableStatements } from "./table-statements.ts";

export class SqliteReceipts implements ReceiptTable {
  readonly #statements: TableStatements<typeof PARKED>;
  readonly #later: TableStatements<typeof LATER>;
  /** Whether any of a carrier is parked, as it was read. */
  readonly #carriers = new Map<string, boolean>();
  readonly anyParked;
  readonly #byName;
  readonly #byPhone;
  readonly #insertLater;

  constructor(db: Db) {
    this.#statements = new TableStatements(db, PARKED);
    this.#later = new TableStatements(db, LATER);
    const any = this.#statements.select<[string]>("carrier_id = ? LIMIT 1");
    this.anyParked = onceEach(this.#carriers, (carrierId) => any.get(carrierId) !== undefined);
    // Each address by its own index: with an OR and an order, all of the carrier's would be read.
    const by = (column: string) =>
      this.#statements.select<[string, string]>(
        `carrier_id = ? AND ${column} = ? ORDER BY id DESC LIMIT ${MAX_SAME_ID}`,
      );
    this.#byName = by("carrier_message_id");
    this.#byPhone = [by("recipient"), by("other_address")];
    this.#insertLater = db.prepare<[LaterReceipt]>(
      `INSERT INTO later_receipt (${LATER.fields.map(({ column }) => column)}) SELECT ${LATER.fields.map(({ name }) => `@${name}`)}
       WHERE (SELECT count(*) FROM later_receipt WHERE message_key = @messageKey) < ${MAX_LATER_RECEIPTS}
       ON CONFLICT DO NOTHING`,
    );
  }

  dropRead(): void {
    this.#carriers.clear();
  }

  parked({ carrierId, carrierMessageId }: PartName): ParkedReceipt[] {
    return this.#byName.all(carrierId, carrierMessageId).reverse();
  }

  parkedForPhone(carrierId: string, phone: string): ParkedReceipt[] {
    const found = this.#byPhone.flatMap((statement) => statement.all(carrierId, phone));
    // One that is found in both ways is still one.
    const each = [...new Map(found.map((receipt) => [receipt.id, receipt])).values()];
    return each.sort((one, other) => one.id - other.id).slice(-MAX_SAME_ID);
  }

  park(fresh: NewParkedReceipt): ParkedReceipt {
    this.#carriers.set(fresh.carrierId, true);
    // The database gives the id.
    const row = PARKED.create({ ...fresh, id: null as never });
    return { ...row, id: Number(this.#statements.insert(row).lastInsertRowid) };
  }

  unpark({ id, carrierId }: ParkedReceipt): void {
    this.#statements.delete(id);
    this.#carriers.delete(carrierId);
  }

  insertLater(later: LaterReceipt): void {
    this.#insertLater.run(LATER.create(later));
  }

  deleteLater({ messageKey, carrierMessageId, outcome }: LaterReceipt): void {
    this.#later.delete(messageKey, carrierMessageId, outcome);
  }
}
