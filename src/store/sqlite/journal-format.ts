/**
 * How the journal writes down what a commit changed:
 *
 *      ["insert", table, values]                 the values of a new row, in the order of the entry's layout
 *      ["insert", table, null, [place, value…]]  the same for a row that differs in so much from the one before
 *      ["change", table, key, { column: value }]
 *      ["delete", table, key]
 */
import { MESSAGE, PART } from "../schema/message.ts";
import { POSTING } from "../schema/posting.ts";
import { REPORT } from "../schema/report.ts";
import type { AnyTable, Value } from "../schema/table.ts";

/** The columns of each table in the order of an entry's values, by their names in the code. */
export type Layout = Readonly<Record<string, readonly string[]>>;

/** The tables whose changes go into the journal. */
export const JOURNALED = { message: MESSAGE, part: PART, report: REPORT, posting: POSTING } as const;
export type Journaled = keyof typeof JOURNALED;

export const LAYOUT: Layout = Object.fromEntries(
  Object.values(JOURNALED).map(({ name, fields }) => [name, fields.map((field) => field.name)]),
);

/** A change as it is written. */
export type WrittenChange =
  | readonly ["insert", Journaled, readonly Value[]]
  | readonly ["insert", Journaled, null, readonly Value[]]
  | readonly ["change", Journaled, Value, object]
  | readonly ["delete", Journaled, Value];

/** A change as it is made: a new row is there whole. */
export type Change = Exclude<WrittenChange, readonly ["insert", ...unknown[]]> | readonly ["insert", Journaled, object];

/** The rows of a request differ in little. Shorter ones are as short in whole. */
const MIN_SHORTENED = 16;

interface Before {
  readonly row: object;
  /** It was written without its seldom columns, and none of them can differ from that. */
  readonly isShort: boolean;
}

/** A commit's changes as they are written: new rows as what they differ in from the one of their table before. */
export function asWritten(changes: readonly Change[]): readonly WrittenChange[] {
  const before = new Map<Journaled, Before>();
  return changes.map((change) => {
    if (change[0] !== "insert") return change;
    const [kind, name, row] = change;
    const table: AnyTable = JOURNALED[name];
    if (table.fields.length < MIN_SHORTENED) return [kind, name, table.valuesOf(row)];
    const last = before.get(name);
    const isShort = table.seldomOf(row) === 0;
    if (last === undefined || (last.isShort && !isShort)) {
      before.set(name, { row, isShort });
      return [kind, name, table.valuesOf(row)];
    }
    before.set(name, { row, isShort: last.isShort });
    return [kind, name, null, table.differences(row, last.row)];
  });
}

/** The whole values of a row that was written as the differences from the one of its table before. */
export function lengthened(differences: readonly Value[], before: readonly Value[] | undefined): readonly Value[] {
  if (before === undefined) throw new RangeError("it is told by the row before it, which could not be read");
  const values = [...before];
  for (let at = 0; at < differences.length; at += 2) {
    const place = differences[at] as number;
    if (!(place in before)) throw new RangeError(`there is no value ${place} in a row`);
    values[place] = differences[at + 1]!;
  }
  return values;
}
