/** Parts, which are written behind, by the names that carriers gave them. */
import type { Db } from "../../drivers/sqlite/database.ts";
import { append } from "../../runtime/lazy.ts";
import { SlotMap } from "../../runtime/slots.ts";
import { nameKey } from "../part-names.ts";
import type { PartName } from "../port/receipts.ts";
import { type NewPartRow, PART, type PartRow } from "../schema/message.ts";
import type { PartTable } from "../tables.ts";
import { MAX_SAME_ID } from "../tables.ts";
import type { BehindTables } from "./behind-tables.ts";
import type { WriteBehind } from "./write-behind.ts";

/** How long it is believed that parts are in their table. */
const LOOK_AGAIN_MS = 1_000;
/** Not known: to be looked at. */
const PERHAPS = { any: true, atMs: Number.NEGATIVE_INFINITY };
const NO_PARTS: readonly PartRow[] = [];

export class SqliteParts implements PartTable {
  readonly #rows: WriteBehind<typeof PART>;
  readonly #now: () => number;
  readonly #byName = new SlotMap<string, PartRow[]>();
  #lastId = 0;
  /** Whether there is a part in its table, as it was then: none is written without this being told. */
  #written = PERHAPS;
  readonly #named;
  readonly #any;

  constructor(db: Db, behind: BehindTables, now: () => number) {
    this.#now = now;
    this.#rows = behind.table(PART, (row) => {
      this.#written = PERHAPS;
      this.#dropName(row);
    });
    const { statements } = this.#rows;
    this.#named = statements.select<[string, string, number]>(
      "carrier_id = ? AND carrier_message_id = ? ORDER BY id LIMIT ?",
    );
    this.#any = db.prepare<[], unknown>("SELECT 1 FROM part LIMIT 1");
  }

  /** Memory was dropped. */
  reset(): void {
    this.#byName.clear();
    this.#lastId = this.#rows.statements.lastId();
  }

  dropRead(): void {
    this.#written = PERHAPS;
  }

  named(name: PartName): readonly PartRow[] {
    const kept = this.#byName.get(nameKey(name)) ?? NO_PARTS;
    if (!this.#anyWritten()) return kept;
    const found = this.#named.all(name.carrierId, name.carrierMessageId, MAX_SAME_ID + 1 + this.#rows.goneCount);
    if (found.length === 0) return kept;
    return [...found.filter(({ id }) => !this.#rows.isGone(id)), ...kept];
  }

  /** Where receipts come soon there is none, and to look for each is a fair share of what a receipt costs. */
  #anyWritten(): boolean {
    const nowMs = this.#now();
    if (this.#written.any && Math.abs(nowMs - this.#written.atMs) >= LOOK_AGAIN_MS)
      this.#written = { any: this.#any.get() !== undefined, atMs: nowMs };
    return this.#written.any;
  }

  insert(fresh: NewPartRow): void {
    const row = PART.create({ ...fresh, id: ++this.#lastId });
    this.#rows.insert(row);
    append(this.#byName, nameKey(row), row);
  }

  delete({ id }: PartRow): void {
    const kept = this.#rows.kept(id);
    this.#rows.delete(id);
    if (kept !== undefined) this.#dropName(kept);
  }

  #dropName(row: PartRow): void {
    const name = nameKey(row);
    const others = this.#byName.get(name)!.filter((other) => other !== row);
    if (others.length === 0) this.#byName.delete(name);
    else this.#byName.set(name, others);
  }
}
