/**
 * The rows of one table that are written behind the journal: a change goes into the journal with its commit, and the row stays in memory for a
 * while. Most have changed several times, and many are gone again, by the time that they are written to the table.
 */
import { SlotMap } from "../../runtime/slots.ts";
import { type AnyTable, type Row, type RowChange, type Value, whole } from "../schema/table.ts";
import type { Aside } from "./aside.ts";
import type { Change, Journaled } from "./journal-format.ts";
import type { TableStatements } from "./table-statements.ts";

/** The transaction that is under way: its place in the journal, and what it has changed. */
export interface Commit {
  /** The number that its entry of the journal will have. */
  readonly seq: number;
  readonly changes: Change[];
}

/** A row in memory. `since` is the journal's first entry about it that is not in its table. */
interface Kept<Row, Changes> {
  row: Row;
  readonly isNew: boolean;
  change: Changes;
  readonly since: number;
}

export interface WriteBehindOptions<Of extends AnyTable> {
  readonly aside: Aside;
  readonly commit: () => Commit;
  /** A row has been written, and is in memory no more. */
  readonly onWritten: (row: Row<Of>) => void;
}

export class WriteBehind<Of extends AnyTable> {
  readonly statements: TableStatements<Of>;
  readonly #options: WriteBehindOptions<Of>;
  readonly #name: Journaled;
  readonly #key: keyof Row<Of>;
  // Each in the order of `since`.
  readonly #kept = new SlotMap<Value, Kept<Row<Of>, RowChange<Of>>>();
  readonly #gone = new Map<Value, number>();

  constructor(statements: TableStatements<Of>, options: WriteBehindOptions<Of>) {
    this.statements = statements;
    this.#options = options;
    const { name, key } = statements.table;
    this.#name = name as Journaled;
    this.#key = key[0] as keyof Row<Of>;
  }

  /** How many are in memory. */
  get size(): number {
    return this.#kept.size;
  }

  get goneCount(): number {
    return this.#gone.size;
  }

  get(key: Value): Row<Of> | undefined {
    if (this.#gone.has(key)) return undefined;
    return this.#kept.get(key)?.row ?? this.statements.get(key);
  }

  /** The row, if it is in memory. */
  kept(key: Value): Row<Of> | undefined {
    return this.#kept.get(key)?.row;
  }

  isGone(key: Value): boolean {
    return this.#gone.has(key);
  }

  #keyOf(row: Row<Of>): Value {
    return row[this.#key] as Value;
  }

  insert(row: Row<Of>): void {
    const { seq, changes } = this.#options.commit();
    this.#kept.set(this.#keyOf(row), { row, isNew: true, change: {} as RowChange<Of>, since: seq });
    changes.push(["insert", this.#name, row]);
  }

  /** `known` is the row as it was read. Returns it as it is then. */
  change(known: Row<Of>, wanted: RowChange<Of>): Row<Of> {
    const key = this.#keyOf(known);
    const kept = this.#kept.get(key);
    const before = kept?.row ?? known;
    const change = differences(before, wanted);
    const row = { ...before, ...change };
    const { seq, changes } = this.#options.commit();
    changes.push(["change", this.#name, key, change]);
    if (kept === undefined) {
      this.#kept.set(key, { row, isNew: false, change, since: seq });
      return row;
    }
    kept.row = row;
    if (!kept.isNew) kept.change = { ...kept.change, ...change };
    return row;
  }

  delete(key: Value): void {
    const { seq, changes } = this.#options.commit();
    changes.push(["delete", this.#name, key]);
    const kept = this.#kept.get(key);
    this.#kept.delete(key);
    if (kept?.isNew !== true) this.#gone.set(key, seq);
  }

  /** Writes the rows that have been in memory since this entry of the journal or an earlier one, so many at most. */
  flush(upTo: number, most: number): void {
    this.flushRows(firstKeys(this.#kept.entries(), most, ({ since }) => since <= upTo));
    for (const key of firstKeys(this.#gone, most, (since) => since <= upTo)) {
      this.statements.delete(key);
      this.#gone.delete(key);
    }
  }

  /** Writes these, as far as they are in memory. What changes goes before what is new: a name that it leaves may be taken again. */
  flushRows(keys: readonly Value[]): void {
    const { commit, onWritten } = this.#options;
    const { seq } = commit();
    const all = keys.flatMap((key) => this.#kept.get(key) ?? []);
    const promised: Row<Of>[] = [];
    for (const kept of all) {
      if (kept.isNew && kept.since < seq) promised.push(kept.row);
      else this.#write(kept);
    }
    for (const row of this.statements.insertTogether(promised)) this.#write(this.#kept.get(this.#keyOf(row))!);
    for (const { row } of all) {
      this.#kept.delete(this.#keyOf(row));
      onWritten(row);
    }
  }

  /** One that is in the journal was promised; one of this transaction fails with its command. */
  #write({ row, isNew, change, since }: Kept<Row<Of>, RowChange<Of>>): void {
    const { aside, commit } = this.#options;
    const key = this.#keyOf(row);
    const write = (): unknown => (isNew ? this.statements.insert(row) : this.statements.changeByKey([key], change));
    if (since < commit().seq) aside.promised(this.#name, key as string | number, row, write);
    else write();
  }

  /** The first entry of the journal that is about a row in memory. */
  get firstKept(): number {
    const [kept] = this.#kept.values();
    const [gone = Number.POSITIVE_INFINITY] = this.#gone.values();
    return Math.min(kept?.since ?? Number.POSITIVE_INFINITY, gone);
  }

  clear(): void {
    this.#kept.clear();
    this.#gone.clear();
  }
}

/** The first keys of a map, as long as their values are wanted, so many at most. */
export function firstKeys<Key, Value>(
  entries: Iterable<[Key, Value]>,
  most: number,
  isWanted: (value: Value) => boolean = () => true,
): Key[] {
  const keys: Key[] = [];
  for (const [key, value] of entries) {
    if (keys.length >= most || !isWanted(value)) break;
    keys.push(key);
  }
  return keys;
}

/** Of a change what is really another value. */
function differences<Some extends object, Wanted extends object>(row: Some, wanted: Wanted): Wanted {
  const change: Record<string, unknown> = {};
  for (const column in wanted) {
    const value = (wanted as Record<string, unknown>)[column];
    if (value === (row as Record<string, unknown>)[column]) continue;
    if (typeof value === "number") whole(value, column);
    change[column] = value;
  }
  return change as Wanted;
}
