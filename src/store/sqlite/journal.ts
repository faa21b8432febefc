/**
 * The journal holds what each commit changed of the rows that are written to their tables later, in the order of the commits. An entry is a list of
 * changes of three kinds: insert, change and delete (journal-format.ts).
 *
 * Any process that opens the database first replays the journal into the tables: after a crash the service, and beside a running one the command line.
 * Replay is one transaction and can be repeated safely. It goes entry by entry, and row by row. What cannot be read or has no place is set aside
 * (aside.ts), and the rest goes on.
 *
 * Every entry says the version of its format and the layout of its rows: which columns a table had when it was written. So columns can be moved and
 * dropped, and added if they can be null or have a default. An entry of a newer version is no damage but a step back to an older Heliograph, so nothing is touched then.
 */
import type { Db } from "../../drivers/sqlite/database.ts";
import type { MessageKey } from "../../message/message.ts";
import { keyOf } from "../rows.ts";
import type { MessageChange } from "../schema/message.ts";
import type { AnyTable, Value } from "../schema/table.ts";
import { Aside } from "./aside.ts";
import {
  asWritten,
  type Change,
  JOURNALED,
  type Journaled,
  LAYOUT,
  type Layout,
  lengthened,
  type WrittenChange,
} from "./journal-format.ts";
import { VERSION_1_LAYOUT, version2 } from "./journal-version-1.ts";
import { TableStatements } from "./table-statements.ts";
import { Wallets } from "./wallets.ts";

/** The format that is written here. The one before it is still read (journal-version-1.ts). */
export const JOURNAL_VERSION = 2;

export class JournalOfNewer extends Error {
  constructor(version: number) {
    super(
      `a newer Heliograph than this one has left changes of version ${version} in the journal, and this one reads up to ${JOURNAL_VERSION}: start the newer one, and stop it in good order before you go back`,
    );
  }
}

interface Entry {
  readonly seq: number;
  readonly version: number;
  readonly layout: number;
  readonly changes: string;
}

export class Journal {
  readonly #statements;
  #layout: number | null = null;

  constructor(db: Db) {
    this.#statements = {
      append: db.prepare<[number, number, string]>(
        `INSERT INTO journal (seq, version, layout, changes) VALUES (?, ${JOURNAL_VERSION}, ?, ?)`,
      ),
      last: db.prepare<[], number | null>("SELECT max(seq) FROM journal").pluck(),
      next: db.prepare<[number], Entry>(
        "SELECT seq, version, layout, changes FROM journal WHERE seq > ? ORDER BY seq LIMIT 1",
      ),
      drop: db.prepare<[number]>("DELETE FROM journal WHERE seq <= ?"),
      layoutId: db.prepare<[string], number>("SELECT id FROM journal_layout WHERE columns = ?").pluck(),
      addLayout: db.prepare<[string]>("INSERT INTO journal_layout (columns) VALUES (?)"),
      layout: db.prepare<[number], string>("SELECT columns FROM journal_layout WHERE id = ?").pluck(),
    };
  }

  /** The number of the newest entry; null when there is none. */
  last(): number | null {
    return this.#statements.last.get() ?? null;
  }

  append(seq: number, changes: readonly Change[]): void {
    this.#layout ??= this.#ensureLayout();
    this.#statements.append.run(seq, this.#layout, JSON.stringify(asWritten(changes)));
  }

  /** The layout of today, which is written down with the first entry that has it. */
  #ensureLayout(): number {
    const { layoutId, addLayout } = this.#statements;
    const columns = JSON.stringify(LAYOUT);
    return layoutId.get(columns) ?? Number(addLayout.run(columns).lastInsertRowid);
  }

  /** The transaction has failed, and with it the layout may be gone that it wrote. */
  forgetLayout(): void {
    this.#layout = null;
  }

  /** The entries up to this one are in the tables. */
  drop(upTo: number): void {
    this.#statements.drop.run(upTo);
  }

  /** To be called in a transaction, which fails at an entry of a newer version. */
  replay(replayer: Replayer): void {
    const { next } = this.#statements;
    for (let entry = next.get(0); entry !== undefined; entry = next.get(entry.seq)) {
      if (entry.version > JOURNAL_VERSION) throw new JournalOfNewer(entry.version);
      replayer.apply(entry, this.#layoutOf(entry));
      this.drop(entry.seq);
    }
    replayer.finish();
  }

  #layoutOf({ version, layout }: Entry): Layout {
    if (version < JOURNAL_VERSION) return VERSION_1_LAYOUT;
    try {
      return (JSON.parse(this.#statements.layout.get(layout) ?? "{}") as Layout | null) ?? {};
    } catch {
      // Without it no row can be read: each is set aside.
      return {};
    }
  }
}

/** Writes the journal's entries to the tables. */
export class Replayer {
  readonly aside: Aside;
  readonly #statements: { readonly [Name in Journaled]: TableStatements<AnyTable> };
  readonly #wallets: Wallets;
  /**
   * What the journal says of messages: the row if it is new, and what has changed since. A message goes straight to its last state: on the way
   * there it could have a name again that was free by then, and that another message has.
   */
  readonly #messages = new Map<MessageKey, { readonly row: object | null; readonly change: MessageChange }>();

  constructor(db: Db, onFault: (error: unknown) => void = () => undefined) {
    this.aside = new Aside(db, onFault);
    this.#wallets = new Wallets(db, this.aside);
    const statements = Object.entries(JOURNALED).map(([name, table]) => [
      name,
      new TableStatements(db, table, { once: true }),
    ]);
    this.#statements = Object.fromEntries(statements);
  }

  apply({ seq, version, changes: text }: Entry, layout: Layout): void {
    let changes: unknown;
    let reason = "it is no list of changes";
    try {
      changes = JSON.parse(text);
    } catch (error) {
      reason = (error as Error).message;
    }
    if (!Array.isArray(changes)) {
      this.aside.keep(`entry ${seq} of the journal`, reason, text);
      return;
    }
    const before = new Map<Journaled, readonly Value[]>();
    for (const written of changes as unknown[]) {
      this.aside.promised(subjectOf(written), null, written, () => {
        const [kind, name, ...rest] = version < JOURNAL_VERSION ? version2(written) : (written as WrittenChange);
        const table = JOURNALED[name];
        if (!Object.hasOwn(JOURNALED, name)) throw new RangeError("there is no such table in the journal");
        if (kind === "insert") {
          const [values, differences] = rest as unknown as [readonly Value[] | null, readonly Value[]];
          const base = before.get(name);
          before.delete(name);
          const all = values ?? lengthened(differences, base);
          before.set(name, all);
          this.#insert(name, table.rowOf(layout[name] ?? [], all));
        } else if (kind === "change")
          this.#change(name, rest[0] as Value, withoutDropped(rest[1] as object, table, layout));
        else if (kind === "delete") this.#statements[name].delete(rest[0] as Value);
        else throw new RangeError("there is no such kind of change");
      });
    }
  }

  #insert(name: Journaled, row: object): void {
    if (name === "message") this.#messages.set(keyIn((row as { key: unknown }).key), { row, change: {} });
    else if (name === "posting") this.#wallets.post([row as never], false);
    else this.#statements[name].insert(row as never);
  }

  #change(name: Journaled, key: Value, change: object): void {
    if (name !== "message") {
      this.#statements[name].changeByKey([key], change);
      return;
    }
    const known = this.#messages.get(keyIn(key));
    this.#messages.set(keyIn(key), { row: known?.row ?? null, change: { ...known?.change, ...change } });
  }

  /** All entries have been read. */
  finish(): void {
    const { message } = this.#statements;
    for (const [key, { row, change }] of this.#messages) {
      if (row !== null && message.get(key) === undefined) {
        const isThere = this.aside.promised("message", key, [row, change], () => message.insert(row as never));
        if (!isThere) continue;
      }
      this.aside.promised("message", key, change, () => message.changeByKey([key], change));
    }
  }
}

/** A change without the columns that its table had when it was written, and has no more. */
function withoutDropped(change: object, { name, columns }: AnyTable, layout: Layout): object {
  const isKept = ([column]: [string, unknown]): boolean =>
    Object.hasOwn(columns, column) || layout[name]?.includes(column) !== true;
  return Object.fromEntries(Object.entries(change).filter(isKept));
}

function keyIn(value: unknown): MessageKey {
  if (typeof value === "string" && keyOf(value) !== null) return value;
  throw new RangeError("it names no message");
}

/** What a change is about, whatever it is: its kind, its table, and what names the row. Changes of version 1 have the table in their kind. */
function subjectOf(change: unknown): string {
  if (!Array.isArray(change)) return "a change of no kind";
  const words = ["insert", "change", "delete"].includes(change[0]) ? 2 : 1;
  const row = change[words];
  const id = Array.isArray(row) ? row[0] : typeof row === "object" && row !== null ? row.id : row;
  return [...change.slice(0, words), id]
    .map((part) => (typeof part === "string" ? part : JSON.stringify(part)))
    .join(" ");
}

/** For whoever works on the tables without the engine, or before it. */
export function replayJournal(db: Db, onFault?: (error: unknown) => void): void {
  const journal = new Journal(db);
  if (journal.last() === null) return;
  db.transaction(() => journal.replay(new Replayer(db, onFault))).immediate();
}
