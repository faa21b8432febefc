/** The receipts without a part that a transaction has read and locked, and those that it parks, takes back and records beside a message. */
import type { Session } from "../../drivers/postgres/link.ts";
import { UNKNOWN_PREFIX } from "../../message/receipt.ts";
import { append } from "../../runtime/lazy.ts";
import { nameKey } from "../part-names.ts";
import type { PartName } from "../port/receipts.ts";
import { LATER, type LaterReceipt, type NewParkedReceipt, PARKED, type ParkedReceipt } from "../schema/receipts.ts";
import type { ReceiptTable } from "../tables.ts";
import { MAX_SAME_ID } from "../tables.ts";
import { sendRows } from "./columns.ts";
import type { Found } from "./found.ts";
import { LoadedRows, remove, rowId } from "./loaded-rows.ts";
import { FIND, WRITE, WRITES } from "./statements.ts";

/** Under which a parked receipt is found by phone. */
function phonesOf({ carrierId, to, other }: ParkedReceipt): Set<string> {
  return new Set([to, other].filter((phone) => phone !== null).map((phone) => rowId(carrierId, phone)));
}

export class LoadedReceipts implements ReceiptTable {
  readonly #found: Found;
  readonly rows = new LoadedRows(WRITES.parked);
  readonly #byName = new Map<string, ParkedReceipt[]>();
  readonly #byPhone = new Map<string, ParkedReceipt[]>();
  #newLater: LaterReceipt[] = [];
  #goneLater: LaterReceipt[] = [];
  /** Those that the database has not given an id yet have one below 0. */
  #lastId = 0;

  constructor(found: Found) {
    this.#found = found;
  }

  clear(): void {
    for (const known of [this.rows, this.#byName, this.#byPhone]) known.clear();
    this.#newLater = [];
    this.#goneLater = [];
  }

  get all(): ParkedReceipt[] {
    return [...this.rows.all];
  }

  /** Those that are asked for first are waited for where another transaction has them; later ones are not (LoadedMessages says why). */
  async load(names: readonly PartName[] = [], isFirst = true): Promise<void> {
    const phones = names.filter(({ carrierMessageId }) => carrierMessageId.startsWith(UNKNOWN_PREFIX));
    const toPhone = phones.map(({ carrierId, carrierMessageId }) => ({
      carrierId,
      carrierMessageId: carrierMessageId.slice(UNKNOWN_PREFIX.length),
    }));
    const found = await Promise.all([
      this.#found.find<ParkedReceipt>(isFirst ? FIND.parked : FIND.parkedAtOnce, names),
      this.#found.find<ParkedReceipt>(isFirst ? FIND.parkedForPhone : FIND.parkedForPhoneAtOnce, toPhone),
    ]);
    // One that is found in several ways is still one.
    for (const receipt of found.flat().toSorted((one, other) => one.id - other.id))
      if (this.rows.get(receipt.id) === undefined && this.rows.keep(receipt) !== undefined) this.#keep(receipt);
  }

  #keep(receipt: ParkedReceipt): void {
    append(this.#byName, nameKey(receipt), receipt);
    for (const phone of phonesOf(receipt)) append(this.#byPhone, phone, receipt);
  }

  anyParked(): boolean {
    return this.rows.size > 0;
  }

  parked(name: PartName): ParkedReceipt[] {
    return (this.#byName.get(nameKey(name)) ?? []).slice(-MAX_SAME_ID);
  }

  parkedForPhone(carrierId: string, phone: string): ParkedReceipt[] {
    return (this.#byPhone.get(rowId(carrierId, phone)) ?? []).slice(-MAX_SAME_ID);
  }

  park(fresh: NewParkedReceipt): ParkedReceipt {
    const receipt = PARKED.create({ ...fresh, id: --this.#lastId });
    this.rows.insert(receipt);
    this.#keep(receipt);
    return receipt;
  }

  unpark(receipt: ParkedReceipt): void {
    remove(this.#byName, nameKey(receipt), receipt);
    for (const phone of phonesOf(receipt)) remove(this.#byPhone, phone, receipt);
    this.rows.delete(receipt);
  }

  insertLater(later: LaterReceipt): void {
    this.#newLater.push(LATER.create(later));
  }

  deleteLater(later: LaterReceipt): void {
    this.#goneLater.push(later);
  }

  /** Sends what is to be written. */
  flush(session: Session): Promise<unknown>[] {
    const sent = [
      ...this.rows.flush(session),
      // One that was recorded in this same transaction may have to go.
      sendRows(session, WRITE.insertLater, this.#newLater),
      sendRows(session, WRITE.deleteLater, this.#goneLater),
    ];
    this.#newLater = [];
    this.#goneLater = [];
    return sent;
  }
}
