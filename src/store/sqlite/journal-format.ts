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
import type { Value } from "../schema/table.ts";

/** The columns of each table in the order of an entry's values, by their names in the code. */
export type Layout = Readonly<Record<string, readonly string[]>>;

/** The tables whose changes go into the journal. */
export const JOURNALED = { message: MESSAGE, part: PART, report: REPORT, posting: POSTING } as const;
export type Journaled = keyof typeof JOURNALED;

export const LAYOUT: Layout = Object.fromEntries(
  Object.values(JOURNALED).map(({ name, fields }) => [name, fields.map((field) => field.name)]),
);

export type Change =
  | readonly ["insert", Journaled, readonly Value[]]
  | readonly ["insert", Journaled, null, readonly Value[]]
  | readonly ["change", Journaled, Value, object]
  | readonly ["delete", Journaled, Value];

/** The rows of a request differ in little. Shorter ones are as short in whole. */
const MIN_SHORTENED = 16;

export function shortened(changes: readonly Change[]): readonly Change[] {
  const before = new Map<Journaled, readonly Value[]>();
  return changes.map((change) => {
    const [kind, table, values] = change;
    if (kind !== "insert" || values === null) return change;
    const last = before.get(table);
    before.set(table, values);
    if (values.length < MIN_SHORTENED || values.length !== last?.length) return change;
    const differences: Value[] = [];
    for (let place = 0; place < values.length; place++) {
      if (values[place] !== last[place]) differences.push(place, values[place]!);
    }
    return ["insert", table, null, differences];
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
