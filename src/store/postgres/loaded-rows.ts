/**
 * The rows of one table in a transaction: those that were read before its commands ran, and what the commands made, changed and deleted, which is
 * written after them in a statement each.
 */
import type { Session } from "../../drivers/postgres/link.ts";
import { compiled } from "../../runtime/compiled.ts";
import { perKey } from "../../runtime/lazy.ts";
import type { AnyTable, Field, Row, RowChange } from "../schema/table.ts";
import { deletion, insertion, type RowsStatement, sendRows, updating, Variants } from "./columns.ts";

/** The statements of a table, which all transactions share. */
export class TableWrites<Of extends AnyTable> {
  readonly table: Of;
  readonly key: readonly Field[];
  readonly insert: Variants;
  readonly delete: RowsStatement;
  /** For rows that are known whole: one statement for all of them, with the sets of columns that any of them has changed. */
  readonly change: Variants | null;
  /** Whether any of some rows has another value there than the default. */
  readonly isGiven: (name: string) => (rows: readonly object[]) => boolean;
  /** For rows of which only the change is known: these columns, by their names with commas between them. */
  readonly updateOf: (names: string) => RowsStatement;

  constructor(table: Of) {
    this.table = table;
    const { name, sent, changing, seldomSets, later, changeSets } = table;
    this.key = table.pick(table.key);
    // A row that was changed before it was written has values of those that come later too.
    const sets = [later, ...seldomSets.map((set) => set.filter((each) => !later.includes(each)))];
    this.insert = new Variants(sent, sets, (fields) => insertion(name, fields));
    this.delete = deletion(name, this.key);
    this.change =
      changeSets.length === 0 ? null : new Variants(changing, changeSets, (fields) => updating(name, this.key, fields));
    this.isGiven = perKey((column) =>
      compiled("rows", `rows.some((row) => row.${column} !== usual)`, { usual: table.defaultOf(column) }),
    );
    this.updateOf = perKey((names) => updating(name, this.key, [...this.key, ...table.pick(names.split(","))]));
  }
}

/** How changes of rows are written that this transaction has not locked. */
export interface Guarded<Row> {
  readonly isLocked: (row: Row) => boolean;
  readonly send: (rows: readonly Row[], isNeeded: (name: string) => boolean) => Promise<unknown>;
}

export class LoadedRows<Of extends AnyTable> {
  readonly #writes: TableWrites<Of>;
  readonly #idOf: (row: Row<Of>) => string;
  #rows = new Map<string, Row<Of>>();
  #inserted = new Map<string, Row<Of>>();
  #changes = new Map<string, RowChange<Of>>();
  #changedNames = new Set<string>();
  #deleted = new Map<string, object>();
  /** All that this transaction has deleted, also what is written by now. */
  #gone = new Set<string>();

  constructor(writes: TableWrites<Of>) {
    this.#writes = writes;
    const { key } = writes.table;
    this.#idOf = compiled(
      "row",
      key.length === 1 ? `String(row.${key[0]})` : `[${key.map((name) => `row.${name}`)}].join("\\n")`,
    );
  }

  /** Forgets all rows: another transaction begins. */
  clear(): void {
    this.#rows = new Map();
    this.#gone = new Set();
    this.#written();
  }

  #written(): void {
    this.#inserted = new Map();
    this.#changes = new Map();
    this.#changedNames = new Set();
    this.#deleted = new Map();
  }

  get(...key: readonly (string | number)[]): Row<Of> | undefined {
    return this.#rows.get(rowId(...key));
  }

  get size(): number {
    return this.#rows.size;
  }

  get all(): IterableIterator<Row<Of>> {
    return this.#rows.values();
  }

  /** What was made in this transaction and is not written yet. */
  get inserted(): readonly Row<Of>[] {
    return [...this.#inserted.values()];
  }

  isGone(id: string): boolean {
    return this.#gone.has(id);
  }

  /** A row that was read. One that is known already stays as it is; returns that, and nothing for one that this transaction has deleted. */
  keep(row: Row<Of>): Row<Of> | undefined {
    return this.#rows.get(this.#idOf(row)) ?? this.refresh(row);
  }

  /** A row that was read once more, and may be another by now. */
  refresh(row: Row<Of>): Row<Of> | undefined {
    const id = this.#idOf(row);
    if (this.#gone.has(id)) return undefined;
    const change = this.#changes.get(id);
    const kept = change === undefined ? row : { ...row, ...change };
    this.#rows.set(id, kept);
    return kept;
  }

  insert(row: Row<Of>): void {
    const id = this.#idOf(row);
    this.#inserted.set(id, row);
    this.#rows.set(id, row);
  }

  /** Returns the row as it is then. */
  change(row: Row<Of>, change: RowChange<Of>): Row<Of> {
    const id = this.#idOf(row);
    const known = this.#rows.get(id) ?? row;
    const changed = { ...known, ...change };
    this.#rows.set(id, changed);
    if (this.#inserted.has(id)) {
      this.#inserted.set(id, changed);
      return changed;
    }
    if (this.#writes.change === null) {
      this.#changes.set(id, { ...this.#changes.get(id), ...change });
      return changed;
    }
    this.#changes.set(id, change);
    for (const name in change) if (changed[name] !== known[name]) this.#changedNames.add(name);
    return changed;
  }

  /** A change of a row that need not be known. */
  changeByKey(key: Partial<Row<Of>>, change: RowChange<Of>): void {
    const id = this.#idOf(key as Row<Of>);
    const made = this.#inserted.get(id);
    if (made !== undefined) {
      this.change(made, change);
      return;
    }
    this.#changes.set(id, { ...key, ...this.#changes.get(id), ...change });
    const known = this.#rows.get(id);
    if (known !== undefined) this.#rows.set(id, { ...known, ...change });
  }

  delete(row: object): void {
    const id = this.#idOf(row as Row<Of>);
    this.#rows.delete(id);
    this.#changes.delete(id);
    this.#gone.add(id);
    if (!this.#inserted.delete(id)) this.#deleted.set(id, row);
  }

  /** Sends what is to be written. Nothing waits to be written then. Changes of rows that are not locked go by `guarded`. */
  flush(session: Session, guarded?: Guarded<Row<Of>>): Promise<unknown>[] {
    const { insert, delete: gone } = this.#writes;
    const rows = this.inserted;
    const isNeeded = (name: string): boolean => this.#writes.isGiven(name)(rows);
    const sent = [
      rows.length === 0 ? null : sendRows(session, insert.with(isNeeded), rows),
      ...this.#sendChanges(session, guarded),
      sendRows(session, gone, [...this.#deleted.values()]),
    ];
    this.#written();
    return sent.filter((each) => each !== null);
  }

  #sendChanges(session: Session, guarded?: Guarded<Row<Of>>): Promise<unknown>[] {
    if (this.#changes.size === 0) return [];
    const { change, key } = this.#writes;
    if (change !== null) {
      const rows = [...this.#changes.keys()].map((id) => this.#rows.get(id)!);
      const isNeeded = (name: string): boolean => this.#changedNames.has(name);
      if (guarded === undefined) return [sendRows(session, change.with(isNeeded), rows)];
      const { isLocked, send } = guarded;
      const open = rows.filter((row) => !isLocked(row));
      const locked = open.length === 0 ? rows : rows.filter(isLocked);
      return [sendRows(session, change.with(isNeeded), locked), ...(open.length === 0 ? [] : [send(open, isNeeded)])];
    }
    // Rows that change the same columns are changed together, and no column that they do not name.
    const groups = new Map<string, { names: string[]; rows: object[] }>();
    for (const [id, changed] of this.#changes) {
      const names = Object.keys(changed).filter((name) => !key.some((field) => field.name === name));
      const group = groups.get(names.sort().join()) ?? { names, rows: [] };
      group.rows.push({ ...this.#rows.get(id), ...changed });
      groups.set(names.join(), group);
    }
    return [...groups.values()].map(({ names, rows }) => sendRows(session, this.#writes.updateOf(names.join()), rows));
  }
}

/** What names a row by several columns. */
export function rowId(...key: readonly (string | number)[]): string {
  return key.length === 1 ? String(key[0]) : key.join("\n");
}

export function remove<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const left = (lists.get(key) ?? []).filter((other) => other !== item);
  lists.set(key, left);
}
