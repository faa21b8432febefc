/**
 * Inserts rows of a table several at a time. Most of what an insert costs is the binding of its values, and rows that are written together are alike:
 * those of a request differ in four columns of twenty-five. What they do not differ in is bound once:
 *
 *      INSERT INTO message (…) SELECT shared.…, own.… FROM (SELECT ? AS …) AS shared, (VALUES (?, …), (?, …), …) AS own
 */
import { type Db, failsForAll } from "../../drivers/sqlite/database.ts";
import { append } from "../../runtime/lazy.ts";
import type { AnyTable, Row, Value } from "../schema/table.ts";

/** What an insert says of rows that have values of the same seldom columns. */
export interface RowForm<Of extends AnyTable> {
  /** All columns that it names. */
  readonly columns: readonly string[];
  /** What it says of each: a place for its value, and behind those the defaults that the database does not have. */
  readonly places: readonly string[];
  /** The values of the places. */
  readonly valuesOf: (row: Row<Of>) => readonly Value[];
}

/** How many rows go at a time, while there are so many. */
const SIZES = [20, 5];
/** Statements that are kept of one form and size. */
const MAX_STATEMENTS = 8;
/** One that binds so many values of each row too many is good enough, and one that binds more for some uses. */
const FEW_TOO_MANY = 3;
const MAX_LOOSE_USES = 16;

/** A statement for rows that differ in some of its own columns, and in no others. */
interface Statement {
  readonly own: readonly number[];
  readonly shared: readonly number[];
  readonly run: (values: readonly Value[]) => void;
  looseUses: number;
}

export class InsertTogether<Of extends AnyTable> {
  readonly #db: Db;
  readonly #table: Of;
  readonly #formOf: (sets: number) => RowForm<Of>;
  readonly #forms: FormInserts<Of>[] = [];

  constructor(db: Db, table: Of, formOf: (sets: number) => RowForm<Of>) {
    this.#db = db;
    this.#table = table;
    this.#formOf = formOf;
  }

  /** Returns those that it has not inserted: too few are like them, or the table refuses one that would have gone with them. */
  insert(rows: readonly Row<Of>[]): readonly Row<Of>[] {
    const alike = new Map<number, Row<Of>[]>();
    for (const row of rows) append(alike, this.#table.seldomOf(row), row);
    const left: Row<Of>[] = [];
    for (const [sets, some] of alike) {
      this.#forms[sets] ??= new FormInserts(this.#db, this.#table.name, this.#formOf(sets));
      this.#insertAlike(this.#forms[sets], some, left);
    }
    return left;
  }

  #insertAlike(inserts: FormInserts<Of>, rows: readonly Row<Of>[], left: Row<Of>[]): void {
    let at = 0;
    for (const size of SIZES) {
      for (; rows.length - at >= size; at += size) {
        const some = rows.slice(at, at + size);
        if (!inserts.insert(some)) left.push(...some);
      }
    }
    left.push(...rows.slice(at));
  }
}

/** The statements for rows of one form. */
class FormInserts<Of extends AnyTable> {
  readonly #db: Db;
  readonly #name: string;
  readonly #form: RowForm<Of>;
  /** By their size, and of each size those that were used last come last. */
  readonly #statements = new Map<number, Statement[]>(SIZES.map((size) => [size, []]));

  constructor(db: Db, name: string, form: RowForm<Of>) {
    this.#db = db;
    this.#name = name;
    this.#form = form;
  }

  /** All of them or none; says which. */
  insert(rows: readonly Row<Of>[]): boolean {
    const values = rows.map(this.#form.valuesOf);
    const [first] = values;
    try {
      const { own, shared, run } = this.#statementFor(differing(values), rows.length);
      const bound = shared.map((place) => first![place]!);
      for (const row of values) for (const place of own) bound.push(row[place]!);
      run(bound);
      return true;
    } catch (error) {
      // Whatever it is that is wrong with them together, it may not be with each alone.
      if (failsForAll(error)) throw error;
      return false;
    }
  }

  /** One that is there, if it fits, and a new one where none does or what fits is loose too often: rows come in many mixtures, and most of them again. */
  #statementFor(places: readonly number[], size: number): Statement {
    const statements = this.#statements.get(size)!;
    const fitting = statements.filter(({ own }) => places.every((place) => own.includes(place)));
    fitting.sort((a, b) => a.own.length - b.own.length);
    let [best] = fitting;
    if (best !== undefined && best.own.length > places.length + FEW_TOO_MANY && ++best.looseUses > MAX_LOOSE_USES) {
      best.looseUses = 0;
      best = undefined;
    }
    if (best !== undefined) statements.splice(statements.indexOf(best), 1);
    else if (statements.length === MAX_STATEMENTS) statements.shift();
    best ??= this.#make(places, size);
    statements.push(best);
    return best;
  }

  #make(own: readonly number[], size: number): Statement {
    const { columns, places } = this.#form;
    const isBound = (place: number): boolean => places[place] === "?";
    const shared = places.flatMap((_, place) => (isBound(place) && !own.includes(place) ? [place] : []));
    const selected = places.map((said, place) => {
      if (!isBound(place)) return said;
      const ownPlace = own.indexOf(place);
      return ownPlace < 0 ? `shared.${columns[place]}` : `own.column${ownPlace + 1}`;
    });
    const values = `(${own.map(() => "?")})`;
    // Rows that share nothing: parts of several carriers, of which one does not count.
    const one = shared.length === 0 ? "1" : shared.map((place) => `? AS ${columns[place]}`);
    const statement = this.#db.prepare<[readonly Value[]]>(
      `INSERT INTO ${this.#name} (${columns}) SELECT ${selected} FROM (SELECT ${one}) AS shared,
       (VALUES ${Array.from({ length: size }, () => values)}) AS own`,
    );
    return { own, shared, run: (bound) => statement.run(bound), looseUses: 0 };
  }
}

/** The places in which rows differ. */
function differing(rows: readonly (readonly Value[])[]): number[] {
  const [first] = rows;
  const places: number[] = [];
  for (let place = 0; place < first!.length; place++) {
    const value = first![place];
    for (let at = 1; at < rows.length; at++) {
      if (rows[at]![place] === value) continue;
      places.push(place);
      break;
    }
  }
  return places;
}
