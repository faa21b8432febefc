/**
 * The tables on SQLite that are written behind: messages, their parts, reports and postings. A commit puts what it changed into the journal, as one
 * row, and the rows themselves stay in memory for a moment (write-behind.ts):
 *
 *      changes of a commit ──▶ journal (one row, flushed with the commit)
 *            └──▶ rows in memory ──(a second later, some at a time, while nobody waits)──▶ tables, and their entries leave the journal
 *
 * The journal is the truth. Memory may be wrong after a failed transaction, or when another process has written: then it is dropped, and the journal is
 * replayed into the tables. A statement of SQL that looks at one of these tables has it flushed first (sql.ts).
 */
import type { Db } from "../../drivers/sqlite/database.ts";
import type { MessageKey } from "../../message/message.ts";
import type { PostingRow } from "../schema/posting.ts";
import type { AnyTable, Row } from "../schema/table.ts";
import { Aside } from "./aside.ts";
import { Journal, Replayer } from "./journal.ts";
import type { Change } from "./journal-format.ts";
import { TableStatements } from "./table-statements.ts";
import { Wallets } from "./wallets.ts";
import { firstKeys, WriteBehind } from "./write-behind.ts";

/** How long a row stays in memory after its first change; a message that has come to its end only until the next slice. */
const KEEP_MS = 1_000;
/** How often rows are written while nobody waits, unless there are many: each transaction has its price, and the journal has them all. */
const FLUSH_EVERY_MS = 500;
/** Finished messages that justify a transaction while nobody waits. */
const IDLE_FLUSH_ROWS = 100;
/** Above this we flush inside a commit, because the store is never idle. */
const COMMIT_FLUSH_ROWS = 4_000;
/** How many are written at once: a bound on how long whoever comes next waits. */
const MAX_FLUSH_ROWS = 1_000;
/** The same while somebody waits; inside a commit, where it has changed more than that, as many. */
const FLUSH_ROWS = 50;
/** Messages in memory; beyond that they are written sooner. */
const MAX_MESSAGES = 20_000;
/** With so many or fewer there is room for a request of many more; and a search, which has all of them written first, is no dearer than that. */
const ROOMY_MESSAGES = { rows: 10_000, search: 500 };

/** The tables whose rows may still be in memory. A wallet moves with its postings. */
export const WRITTEN_BEHIND = ["message", "part", "report", "posting", "wallet"] as const;
export type WrittenBehind = (typeof WRITTEN_BEHIND)[number];

export interface BehindOptions {
  readonly db: Db;
  readonly now: () => number;
  /** Without it all is written with the commit, as the command line does. */
  readonly writeBehind: boolean;
  /** Told of rows that their table refuses. */
  readonly onFault: (error: unknown) => void;
}

export class BehindTables {
  readonly wallets: Wallets;
  /** Of the messages in memory those that have come to their end. */
  readonly finished = new Set<MessageKey>();
  readonly #options: BehindOptions;
  readonly #aside: Aside;
  readonly #caches = new Map<string, WriteBehind<AnyTable>>();
  #tellOfPostingsAside: () => void = () => undefined;
  readonly #journal: Journal;
  readonly #dataVersion;
  #postings: { readonly posting: PostingRow; readonly since: number }[] = [];

  /** What is in memory may be wrong. */
  #stale = true;
  #knownVersion = 0;
  #commit: { seq: number; changes: Change[] } = { seq: 1, changes: [] };
  /** The journal's entries, oldest first, and when they were made. */
  #entries: { readonly seq: number; readonly atMs: number }[] = [];
  #lastFlushMs = 0;

  constructor(options: BehindOptions) {
    const { db, onFault } = options;
    this.#options = options;
    this.#journal = new Journal(db);
    this.#dataVersion = db.prepare<[], number>("PRAGMA data_version").pluck();
    this.#aside = new Aside(db, onFault);
    this.wallets = new Wallets(db, this.#aside);
  }

  /** The rows of a table. `onWritten` is told of each that has reached it, and is in memory no more. */
  table<Of extends AnyTable>(table: Of, onWritten: (row: Row<Of>) => void): WriteBehind<Of> {
    const statements = new TableStatements(this.#options.db, table, { once: true });
    const rows = new WriteBehind(statements, { aside: this.#aside, commit: () => this.#commit, onWritten });
    this.#caches.set(table.name, rows as unknown as WriteBehind<AnyTable>);
    return rows;
  }

  /** Tells of postings that were set aside and have moved nothing: balances in memory are not those of the table then. */
  onPostingsAside(tell: () => void): void {
    this.#tellOfPostingsAside = tell;
  }

  /** A transaction that may write has begun. Says whether memory was dropped. */
  begin(): boolean {
    const version = this.#dataVersion.get()!;
    const isNew = this.#stale || version !== this.#knownVersion;
    if (isNew) this.#startAnew();
    this.#knownVersion = version;
    return isNew;
  }

  /** The transaction has failed. */
  reset(): void {
    this.#stale = true;
  }

  #startAnew(): void {
    this.#journal.forgetLayout();
    if (this.#journal.last() !== null) this.#journal.replay(new Replayer(this.#options.db, this.#options.onFault));
    for (const rows of [...this.#caches.values(), this.finished]) rows.clear();
    this.#postings = [];
    this.#entries = [];
    this.#commit = { seq: 1, changes: [] };
    this.#stale = false;
  }

  /** The last thing before the commit. */
  commit(): void {
    if (!this.#options.writeBehind) {
      this.flush();
      return;
    }
    const atMs = this.#options.now();
    const { seq, changes } = this.#commit;
    if (changes.length > 0) {
      this.#journal.append(seq, changes);
      this.#entries.push({ seq, atMs });
      this.#commit = { seq: seq + 1, changes: [] };
    }
    const { size } = this.#caches.get("message")!;
    const crowded = size > MAX_MESSAGES;
    const some = Math.max(FLUSH_ROWS, Math.min(MAX_FLUSH_ROWS, changes.length));
    if (crowded) this.#flushSome(atMs, size - MAX_MESSAGES + some, crowded);
    else if (this.#isLate(atMs, COMMIT_FLUSH_ROWS)) this.#flushSome(atMs, some);
  }

  /** Whether so many messages are in memory that some should be written before. */
  isFullFor(what: keyof typeof ROOMY_MESSAGES): boolean {
    return !this.#stale && this.#caches.get("message")!.size > ROOMY_MESSAGES[what];
  }

  /** Writes some of them, however new they are. */
  flushFull(): void {
    this.#flushSome(this.#options.now(), FLUSH_ROWS, true);
  }

  /** Whether the tables lack something. */
  get isBehind(): boolean {
    return this.#stale || this.#commit.changes.length + this.#entries.length > 0;
  }

  // --- Flushing ----------------------------------------------------------------------------------------------------------

  flush(): void {
    if (!this.isBehind) return;
    for (const table of WRITTEN_BEHIND) this.flushTable(table);
    this.#commit.changes = [];
    if (this.#entries.length > 0) this.#journal.drop(this.#entries.at(-1)!.seq);
    this.#entries = [];
  }

  /** Writes one table, for whoever reads it. Its entries stay in the journal until the others' rows are written too. */
  flushTable(table: WrittenBehind): void {
    this.#flushUpTo(table, this.#commit.seq, Number.POSITIVE_INFINITY);
  }

  #flushUpTo(table: WrittenBehind, seq: number, most: number): void {
    const rows = this.#caches.get(table);
    if (rows === undefined) this.#flushPostings(seq);
    else rows.flush(seq, most);
  }

  /** Whether it is time to write some rows, for whoever has nothing else to do. */
  get isDue(): boolean {
    if (this.#stale || this.#entries.length === 0) return false;
    const nowMs = this.#options.now();
    if (this.#isLate(nowMs, IDLE_FLUSH_ROWS)) return true;
    const isTime = Math.abs(nowMs - this.#lastFlushMs) >= FLUSH_EVERY_MS;
    return isTime && (this.finished.size > 0 || this.#oldestMs(nowMs) >= KEEP_MS);
  }

  /** Many at once where there are many: each transaction has its price. */
  flushIdle(): void {
    const quarter = Math.floor(this.finished.size / 4);
    this.#flushSome(this.#options.now(), Math.min(MAX_FLUSH_ROWS, Math.max(IDLE_FLUSH_ROWS, quarter)));
  }

  /** Whether so many have come to their end, or some have been in memory for long. */
  #isLate(nowMs: number, finished: number): boolean {
    return this.finished.size >= finished || this.#oldestMs(nowMs) >= 2 * KEEP_MS;
  }

  /** How long ago the oldest entry of the journal was made; also after the clock was set back. */
  #oldestMs(nowMs: number): number {
    const [oldest] = this.#entries;
    return oldest === undefined ? 0 : Math.abs(nowMs - oldest.atMs);
  }

  /** Writes what has been in memory for long enough, for whoever looks for rows that have been as they are for long. */
  flushAged(): void {
    this.#flushSome(this.#options.now(), FLUSH_ROWS);
  }

  #flushSome(nowMs: number, most: number, crowded = false): void {
    this.#lastFlushMs = nowMs;
    const messages = this.#caches.get("message")!;
    messages.flushRows(firstKeys(this.finished.entries(), most));
    const aged = this.#entries.findLast(({ atMs }) => crowded || Math.abs(nowMs - atMs) >= KEEP_MS);
    if (aged === undefined) return;
    for (const table of WRITTEN_BEHIND) this.#flushUpTo(table, aged.seq, most);
    const firstKept = Math.min(
      ...[...this.#caches.values()].map((rows) => rows.firstKept),
      this.#postings[0]?.since ?? Number.POSITIVE_INFINITY,
    );
    const written = this.#entries.findLastIndex(({ seq }) => seq <= aged.seq && seq < firstKept);
    if (written < 0) return;
    this.#journal.drop(this.#entries[written]!.seq);
    this.#entries.splice(0, written + 1);
  }

  /** For whoever has to know what is in a wallet. */
  flushPostings(): void {
    this.#flushPostings(this.#commit.seq);
  }

  post(posting: PostingRow): void {
    this.#commit.changes.push(["insert", "posting", posting]);
    this.#postings.push({ posting, since: this.#commit.seq });
  }

  #flushPostings(upTo: number): void {
    const first = this.#postings.findIndex(({ since }) => since > upTo);
    const count = first < 0 ? this.#postings.length : first;
    if (count === 0) return;
    const written = this.#postings.splice(0, count);
    const own = written.findIndex(({ since }) => since >= this.#commit.seq);
    const promised = own < 0 ? written : written.slice(0, own);
    const postingOf = ({ posting }: { posting: PostingRow }): PostingRow => posting;
    const all = this.wallets.post(promised.map(postingOf), true);
    if (own >= 0) this.wallets.post(written.slice(own).map(postingOf), false);
    // What was set aside has moved nothing, so the balances in memory are not those of the table.
    if (!all) this.#tellOfPostingsAside();
  }
}
