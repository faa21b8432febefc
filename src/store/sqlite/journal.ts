/**
 * The journal: what each commit changed of the rows that are written to their tables later, in the order of the commits. Whoever opens the
 * database brings the tables up to date with it first (`catchUp`): after a crash the service, and beside a running one the command line.
 */
import type { MessageKey } from "../../message/message.ts";
import type { MessageChange, ReportRow } from "../rows.ts";
import type { Db } from "./database.ts";
import { type MessageValues, type PartValues, type StoredPosting, WrittenRows } from "./written.ts";

export type Change =
  | readonly ["message", MessageValues]
  | readonly ["message changed", MessageKey, MessageChange]
  | readonly ["part", ...PartValues]
  | readonly ["part gone", number]
  | readonly ["report", ReportRow]
  | readonly ["report changed", string, Partial<ReportRow>]
  | readonly ["report gone", string]
  | readonly ["posting", StoredPosting];

type Apply = {
  readonly [Kind in Exclude<Change[0], "message" | "message changed">]: (
    rows: WrittenRows,
    ...change: Rest<Extract<Change, readonly [Kind, ...unknown[]]>>
  ) => void;
};
type Rest<Tuple> = Tuple extends readonly [unknown, ...infer Others] ? Others : never;

const APPLY: Apply = {
  part: (rows, ...values) => rows.insertPart(values),
  "part gone": (rows, id) => rows.deletePart(id),
  report: (rows, row) => rows.insertReport(row),
  "report changed": (rows, id, change) => rows.changeReport(id, change),
  "report gone": (rows, id) => rows.deleteReport(id),
  posting: (rows, posting) => rows.post([posting], true),
};

/** The messages of a request differ in little: only the values that are not those of the one before are kept, by place. */
type Shortened = Change | readonly ["like", readonly unknown[]];

function shortened(changes: readonly Change[]): Shortened[] {
  let before: MessageValues = [];
  return changes.map((change) => {
    if (change[0] !== "message") return change;
    const [, values] = change;
    const last = before;
    before = values;
    if (values.length !== last.length) return change;
    const differences: unknown[] = [];
    for (let place = 0; place < values.length; place++) {
      if (values[place] !== last[place]) differences.push(place, values[place]);
    }
    return ["like", differences];
  });
}

function lengthened(changes: readonly Shortened[]): Change[] {
  let before: MessageValues = [];
  return changes.map((change) => {
    if (change[0] === "message") before = change[1];
    if (change[0] !== "like") return change;
    const values = [...before];
    const [, differences] = change;
    for (let at = 0; at < differences.length; at += 2) {
      values[differences[at] as number] = differences[at + 1] as MessageValues[number];
    }
    before = values;
    return ["message", values];
  });
}

export class Journal {
  readonly #statements;

  constructor(db: Db) {
    this.#statements = {
      append: db.prepare<[number, string]>("INSERT INTO journal (seq, changes) VALUES (?, ?)"),
      last: db.prepare<[], number | null>("SELECT max(seq) FROM journal").pluck(),
      next: db.prepare<[number], { seq: number; changes: string }>(
        "SELECT seq, changes FROM journal WHERE seq > ? ORDER BY seq LIMIT 1",
      ),
      drop: db.prepare<[number]>("DELETE FROM journal WHERE seq <= ?"),
    };
  }

  /** The number of the newest entry; null when there is none. */
  last(): number | null {
    return this.#statements.last.get() ?? null;
  }

  append(seq: number, changes: readonly Change[]): void {
    this.#statements.append.run(seq, JSON.stringify(shortened(changes)));
  }

  /** The entries up to this one are in the tables. */
  drop(upTo: number): void {
    this.#statements.drop.run(upTo);
  }

  /**
   * Brings the tables up to date. To be called in a transaction. A message goes straight to its last state: on the way there it could
   * have a name again that was free by then, and that another message has.
   */
  catchUp(rows: WrittenRows): void {
    const { next } = this.#statements;
    const messages = new Map<MessageKey, { values: MessageValues | null; change: MessageChange }>();
    for (let entry = next.get(0); entry !== undefined; entry = next.get(entry.seq)) {
      for (const change of lengthened(JSON.parse(entry.changes))) {
        if (change[0] === "message") {
          messages.set(change[1][0] as MessageKey, { values: change[1], change: {} });
        } else if (change[0] === "message changed") {
          const [, key, changed] = change;
          const known = messages.get(key);
          messages.set(key, { values: known?.values ?? null, change: { ...known?.change, ...changed } });
        } else {
          const [kind, ...others] = change;
          const apply = APPLY[kind] as (rows: WrittenRows, ...others: unknown[]) => void;
          rows.promised(kind, nameOf(change), others, () => apply(rows, ...others));
        }
      }
      this.drop(entry.seq);
    }
    for (const [key, { values, change }] of messages) {
      if (values !== null && rows.message(key) === undefined)
        rows.promised("message", key, values, () => rows.insertMessage(values));
      rows.promised("message", key, change, () => rows.changeMessage(key, change));
    }
  }
}

/** The row's id, which stands first in every kind of change. */
function nameOf([, first]: Change): string | number {
  return typeof first === "object" ? (first as { readonly id: string | number }).id : first;
}

/** For whoever works on the tables without the engine, or before it. */
export function catchUp(db: Db, onFault?: (error: unknown) => void): void {
  const journal = new Journal(db);
  if (journal.last() === null) return;
  db.transaction(() => journal.catchUp(new WrittenRows(db, onFault))).immediate();
}
