/**
 * The journal: what each commit changed of the rows that are written to their tables later, in the order of the commits. Whoever opens the
 * database brings the tables up to date with it first (`replayJournal`): after a crash the service, and beside a running one the command line.
 *
 * It goes entry by entry, and row by row. What cannot be read or has no place is set aside (aside.ts), and the rest goes on. Every entry says the
 * version of its format. One of a newer version is no damage but a step back to an older Heliograph, so nothing is touched then.
 */
import type { MessageKey } from "../../message/message.ts";
import { keyOf, type MessageChange, type ReportRow } from "../rows.ts";
import type { Db } from "./database.ts";
import { type MessageValues, type PartValues, RowStatements } from "./row-statements.ts";
import type { StoredPosting } from "./wallets.ts";

/**
 * The format that is written here. Entries of 0 are from before there were versions, and are as those of 1. Another order of a message's values, or
 * another kind of change, is another version; the older ones are read for as long as somebody may come from them.
 */
export const JOURNAL_VERSION = 1;

export class JournalOfNewer extends Error {
  constructor(version: number) {
    super(
      `a newer Heliograph than this one has left changes of version ${version} in the journal, and this one reads up to ${JOURNAL_VERSION}: start the newer one, and stop it in good order before you go back`,
    );
  }
}

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
    rows: RowStatements,
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
  posting: (rows, posting) => void rows.wallets.post([posting], false),
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

/** The whole values of a message that was written as the differences from the one before. */
function lengthened(differences: readonly unknown[], before: MessageValues | null): MessageValues {
  if (before === null) throw new RangeError("it is told by the message before it, which could not be read");
  const values = [...before];
  for (let at = 0; at < differences.length; at += 2) {
    const place = differences[at] as number;
    if (!(place in before)) throw new RangeError(`there is no value ${place} in a message`);
    values[place] = differences[at + 1] as MessageValues[number];
  }
  return values;
}

interface Entry {
  readonly seq: number;
  readonly version: number;
  readonly changes: string;
}

/** What the journal says of messages: their values if they are new, and what has changed since. */
type Messages = Map<MessageKey, { readonly values: MessageValues | null; readonly change: MessageChange }>;

export class Journal {
  readonly #statements;

  constructor(db: Db) {
    this.#statements = {
      append: db.prepare<[number, string]>(
        `INSERT INTO journal (seq, version, changes) VALUES (?, ${JOURNAL_VERSION}, ?)`,
      ),
      last: db.prepare<[], number | null>("SELECT max(seq) FROM journal").pluck(),
      next: db.prepare<[number], Entry>("SELECT seq, version, changes FROM journal WHERE seq > ? ORDER BY seq LIMIT 1"),
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
   * Brings the tables up to date. To be called in a transaction, which fails at an entry of a newer version. A message goes straight to its
   * last state: on the way there it could have a name again that was free by then, and that another message has.
   */
  replayJournal(rows: RowStatements): void {
    const { next } = this.#statements;
    const messages: Messages = new Map();
    for (let entry = next.get(0); entry !== undefined; entry = next.get(entry.seq)) {
      if (entry.version > JOURNAL_VERSION) throw new JournalOfNewer(entry.version);
      applyEntry(entry, rows, messages);
      this.drop(entry.seq);
    }
    for (const [key, { values, change }] of messages) {
      if (values !== null && rows.message(key) === undefined) {
        const isThere = rows.aside.promised("message", key, [values, change], () => rows.insertMessage(values));
        if (!isThere) continue;
      }
      rows.aside.promised("message", key, change, () => rows.changeMessage(key, change));
    }
  }
}

function applyEntry({ seq, changes: text }: Entry, rows: RowStatements, messages: Messages): void {
  let changes: unknown;
  let reason = "it is no list of changes";
  try {
    changes = JSON.parse(text);
  } catch (error) {
    reason = (error as Error).message;
  }
  if (!Array.isArray(changes)) {
    rows.aside.keep(`entry ${seq} of the journal`, reason, text);
    return;
  }
  let before: MessageValues | null = [];
  for (const shortened of changes as Shortened[]) {
    rows.aside.promised(nameOf(shortened), null, shortened, () => {
      const [kind, ...others] = shortened;
      if (kind === "message" || kind === "like") {
        const base: MessageValues | null = before;
        before = null;
        before = kind === "message" ? shortened[1] : lengthened(shortened[1], base);
        noteNew(before, messages);
      } else if (kind === "message changed") noteChange(shortened[1], shortened[2], messages);
      else if (Object.hasOwn(APPLY, kind))
        (APPLY[kind] as (rows: RowStatements, ...others: unknown[]) => void)(rows, ...others);
      else throw new RangeError("there is no such kind of change");
    });
  }
}

function noteNew(values: MessageValues, messages: Messages): void {
  messages.set(keyIn(values[0]), { values, change: {} });
}

function noteChange(key: unknown, change: MessageChange, messages: Messages): void {
  const known = messages.get(keyIn(key));
  messages.set(keyIn(key), { values: known?.values ?? null, change: { ...known?.change, ...change } });
}

function keyIn(value: unknown): MessageKey {
  if (typeof value === "string" && keyOf(value) !== null) return value;
  throw new RangeError("it names no message");
}

/** What a change is about, whatever it is: its kind and the row's id, which stands first. */
function nameOf(change: unknown): string {
  if (!Array.isArray(change)) return "a change of no kind";
  const [kind, first] = change;
  const id = Array.isArray(first) ? first[0] : typeof first === "object" && first !== null ? first.id : first;
  return [kind, id].map((part) => (typeof part === "string" ? part : JSON.stringify(part))).join(" ");
}

/** For whoever works on the tables without the engine, or before it. */
export function replayJournal(db: Db, onFault?: (error: unknown) => void): void {
  const journal = new Journal(db);
  if (journal.last() === null) return;
  db.transaction(() => journal.replayJournal(new RowStatements(db, onFault))).immediate();
}
