/**
 * The tables on SQLite. Messages, their parts, reports and postings are written behind: a commit puts what it changed into the journal, as one row, and
 * the rows themselves stay in memory for a moment (write-behind.ts):
 *
 *      changes of a commit ──▶ journal (one row, flushed with the commit)
 *            └──▶ rows in memory ──(a second later, some at a time, while nobody waits)──▶ tables, and their entries leave the journal
 *
 * The journal is the truth. Memory may be wrong after a failed transaction, or when another process has written: then it is dropped, and the journal is
 * replayed into the tables. A statement of SQL that looks at one of these tables has it flushed first (sql.ts).
 */

import type { MessageKey } from "../../message/message.ts";
import { SlotMap } from "../../runtime/slots.ts";
import { MAX_SAME_ID } from "../commands/candidates.ts";
import type { LaneName, PartName } from "../port.ts";
import { isRejected } from "../rows.ts";
import type { BulkChange, BulkRow, ReplayName } from "../schema/bulk.ts";
import {
  MESSAGE,
  type MessageChange,
  type MessageRow,
  type NewMessageRow,
  type NewPartRow,
  PART,
  type PartRow,
  STATE_NUMBER,
} from "../schema/message.ts";
import { POSTING, type PostingRow } from "../schema/posting.ts";
import { type LaterReceipt, type NewParkedReceipt, PARKED, type ParkedReceipt } from "../schema/receipts.ts";
import { type NewReportRow, REPORT, type ReportChange, type ReportRow } from "../schema/report.ts";
import type { NumberOnList, Tables } from "../tables.ts";
import { checkPosting, type NewPosting, type Wallet, walletOf } from "../wallet.ts";
import { Aside } from "./aside.ts";
import { ClaimedLanes, isWaiting } from "./claimed.ts";
import type { Db } from "./database.ts";
import { Journal, Replayer } from "./journal.ts";
import type { Change } from "./journal-format.ts";
import { Lookups } from "./lookups.ts";
import { Wallets } from "./wallets.ts";
import { take, WriteBehind } from "./write-behind.ts";

/** How long a row stays in memory after its first change; a message that has come to its end only until the next slice. */
const KEEP_MS = 1_000;
/** How often rows are written while nobody waits, unless there are many. */
const FLUSH_EVERY_MS = 25;
/** Finished messages that justify a transaction while nobody waits. */
const IDLE_FLUSH_ROWS = 100;
/** Above this we flush inside a commit, because the store is never idle. */
const COMMIT_FLUSH_ROWS = 4_000;
/** How many are written at once: a bound on how long whoever comes next waits. */
const MAX_FLUSH_ROWS = 1_000;
/** Messages in memory; beyond that they are written sooner. */
const MAX_MESSAGES = 20_000;

const NO_PARTS: readonly PartRow[] = [];
/** Not known: to be looked at. */
const PERHAPS = { any: true, atMs: Number.NEGATIVE_INFINITY };

interface WorkingWallet extends Wallet {
  balanceMicros: bigint;
}

/** The tables whose rows may still be in memory. A wallet moves with its postings. */
export const WRITTEN_BEHIND = ["message", "part", "report", "posting", "wallet"] as const;
export type WrittenBehind = (typeof WRITTEN_BEHIND)[number];

const partName = ({ carrierId, carrierMessageId }: PartName): string => `${carrierId} ${carrierMessageId}`;
const clientName = (accountId: number, clientMessageId: string): string => `${accountId} ${clientMessageId}`;

export interface TablesOptions {
  readonly db: Db;
  readonly now: () => number;
  /** Without it all is written with the commit, as the command line does. */
  readonly writeBehind: boolean;
  /** Told of rows that their table refuses. */
  readonly onFault: (error: unknown) => void;
}

export class SqliteTables implements Tables {
  readonly #lookups: Lookups;
  readonly #wallets: Wallets;
  readonly #journal: Journal;
  readonly #options: TablesOptions;
  readonly #dataVersion;

  /** What is in memory may be wrong. */
  #stale = true;
  #knownVersion = 0;
  #commit: { seq: number; changes: Change[] } = { seq: 1, changes: [] };
  /** The journal's entries, oldest first, and when they were made. */
  #entries: { readonly seq: number; readonly atMs: number }[] = [];
  #lastFlushMs = 0;

  readonly #messages: WriteBehind<typeof MESSAGE>;
  readonly #parts: WriteBehind<typeof PART>;
  readonly #reports: WriteBehind<typeof REPORT>;
  #postings: { readonly posting: PostingRow; readonly since: number }[] = [];
  /** Of the messages in memory those that have come to their end. */
  readonly #finished = new Set<MessageKey>();
  /** Of the reports in memory those that wait for another. */
  readonly #following = new Set<string>();
  /** Names of new messages in memory that no other may have. */
  readonly #names = new Map<string, MessageKey>();
  readonly #partsByName = new SlotMap<string, PartRow[]>();
  #lastPartId = 0;
  #lastPostingId = 0;

  // What was read and has not changed since.
  #walletsByAccount = new Map<number, WorkingWallet>();
  #walletsById = new Map<number, WorkingWallet>();
  #serviceWallets = new Map<string, number>();
  #optOutLists = new Map<number, boolean>();
  #parkedCarriers = new Map<string, boolean>();
  /** Whether there is a part in its table, as it was then: none is written without this being told. */
  #partsWritten = PERHAPS;
  readonly #claimed = new ClaimedLanes();

  constructor(options: TablesOptions) {
    const { db, onFault } = options;
    this.#options = options;
    this.#lookups = new Lookups(db);
    this.#journal = new Journal(db);
    this.#dataVersion = db.prepare<[], number>("PRAGMA data_version").pluck();
    const aside = new Aside(db, onFault);
    this.#wallets = new Wallets(db, aside);
    const commit = () => this.#commit;
    const { message, part, report } = this.#lookups;
    this.#messages = new WriteBehind({ statements: message, aside, commit, onWritten: (row) => this.#onMessage(row) });
    this.#parts = new WriteBehind({ statements: part, aside, commit, onWritten: (row) => this.#onPart(row) });
    const onWritten = ({ id }: ReportRow) => void this.#following.delete(id);
    this.#reports = new WriteBehind({ statements: report, aside, commit, onWritten });
  }

  // --- The transaction's side --------------------------------------------------------------------------------------------

  /** A transaction that may write has begun. */
  begin(): void {
    const version = this.#dataVersion.get()!;
    if (this.#stale || version !== this.#knownVersion) this.#startAnew();
    this.#knownVersion = version;
  }

  /** The transaction has failed. */
  reset(): void {
    this.#stale = true;
  }

  #startAnew(): void {
    this.#journal.forgetLayout();
    this.#journal.replay(new Replayer(this.#options.db, this.#options.onFault));
    for (const rows of [this.#messages, this.#parts, this.#reports]) rows.clear();
    for (const known of [this.#finished, this.#following, this.#names, this.#partsByName]) known.clear();
    this.#postings = [];
    this.#entries = [];
    this.#commit = { seq: 1, changes: [] };
    this.#lastPartId = this.#lookups.lastId("part");
    this.#lastPostingId = this.#lookups.lastId("posting");
    this.dropRead();
    this.#stale = false;
  }

  /** A statement of SQL may have changed what was read. */
  dropRead(): void {
    this.#dropWallets();
    this.#serviceWallets = new Map();
    this.#optOutLists = new Map();
    this.#parkedCarriers = new Map();
    this.#partsWritten = PERHAPS;
    this.#claimed.clear();
  }

  #dropWallets(): void {
    this.#walletsByAccount = new Map();
    this.#walletsById = new Map();
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
    const crowded = this.#messages.size > MAX_MESSAGES;
    if (crowded) this.#flushSome(atMs, this.#messages.size - MAX_MESSAGES + MAX_FLUSH_ROWS, crowded);
    else if (this.#isLate(atMs, COMMIT_FLUSH_ROWS)) this.#flushSome(atMs, MAX_FLUSH_ROWS);
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
    this.#flushUpTo[table](this.#commit.seq, Number.POSITIVE_INFINITY);
  }

  readonly #flushUpTo: Readonly<Record<WrittenBehind, (seq: number, most: number) => void>> = {
    message: (seq, most) => this.#messages.flush(seq, most),
    part: (seq, most) => this.#parts.flush(seq, most),
    report: (seq, most) => this.#reports.flush(seq, most),
    posting: (seq) => this.#flushPostings(seq),
    wallet: (seq) => this.#flushPostings(seq),
  };

  /** Whether it is time to write some rows, for whoever has nothing else to do. */
  get isDue(): boolean {
    if (this.#stale || this.#entries.length === 0) return false;
    const nowMs = this.#options.now();
    if (this.#isLate(nowMs, IDLE_FLUSH_ROWS)) return true;
    const isTime = Math.abs(nowMs - this.#lastFlushMs) >= FLUSH_EVERY_MS;
    return isTime && (this.#finished.size > 0 || this.#oldestMs(nowMs) >= KEEP_MS);
  }

  /** Many at once where there are many: each transaction has its price. */
  flushIdle(): void {
    const quarter = Math.floor(this.#finished.size / 4);
    this.#flushSome(this.#options.now(), Math.min(MAX_FLUSH_ROWS, Math.max(IDLE_FLUSH_ROWS, quarter)));
  }

  /** Whether so many have come to their end, or some have been in memory for long. */
  #isLate(nowMs: number, finished: number): boolean {
    return this.#finished.size >= finished || this.#oldestMs(nowMs) >= 2 * KEEP_MS;
  }

  /** How long ago the oldest entry of the journal was made; also after the clock was set back. */
  #oldestMs(nowMs: number): number {
    const [oldest] = this.#entries;
    return oldest === undefined ? 0 : Math.abs(nowMs - oldest.atMs);
  }

  /** Writes what has been in memory for long enough, for whoever looks for rows that have been as they are for long. */
  flushAged(): void {
    this.#flushSome(this.#options.now(), MAX_FLUSH_ROWS);
  }

  #flushSome(nowMs: number, most: number, crowded = false): void {
    this.#lastFlushMs = nowMs;
    const isWanted = () => true;
    take(this.#finished, most, isWanted, (key) => this.#messages.flushRow(key));
    const aged = this.#entries.findLast(({ atMs }) => crowded || Math.abs(nowMs - atMs) >= KEEP_MS);
    if (aged === undefined) return;
    for (const table of WRITTEN_BEHIND) this.#flushUpTo[table](aged.seq, most);
    const caches = [this.#messages, this.#parts, this.#reports];
    const firstKept = Math.min(
      ...caches.map((cache) => cache.firstKept),
      this.#postings[0]?.since ?? Number.POSITIVE_INFINITY,
    );
    const written = this.#entries.findLastIndex(({ seq }) => seq <= aged.seq && seq < firstKept);
    if (written < 0) return;
    this.#journal.drop(this.#entries[written]!.seq);
    this.#entries.splice(0, written + 1);
  }

  /** A message has reached its table. */
  #onMessage(row: MessageRow): void {
    this.#finished.delete(row.key);
    this.#claimed.see(row);
    this.#freeName(row);
  }

  #onPart(row: PartRow): void {
    this.#partsWritten = PERHAPS;
    this.#dropPartName(row);
  }

  #flushPostings(upTo: number): void {
    const first = this.#postings.findIndex(({ since }) => since > upTo);
    const count = first < 0 ? this.#postings.length : first;
    if (count === 0) return;
    const written = this.#postings.splice(0, count);
    const own = written.findIndex(({ since }) => since >= this.#commit.seq);
    const promised = own < 0 ? written : written.slice(0, own);
    const postingOf = ({ posting }: { posting: PostingRow }): PostingRow => posting;
    const all = this.#wallets.post(promised.map(postingOf), true);
    if (own >= 0) this.#wallets.post(written.slice(own).map(postingOf), false);
    // What was set aside has moved nothing, so the balances in memory are not those of the table.
    if (!all) this.#dropWallets();
  }

  // --- The commands' side ------------------------------------------------------------------------------------------------

  load(): void {}

  /** Whoever has read rows by SQL has had all written before: they are as they are. */
  cache(rows: readonly MessageRow[]): MessageRow[] {
    return [...rows];
  }

  message(key: MessageKey): MessageRow | undefined {
    return this.#messages.get(key);
  }

  nextWaiting(lane: LaneName, count: number): MessageRow[] | null {
    const last = this.#claimed.lastOf(lane);
    if (last === undefined) return null;
    const rows = this.#lookups.waiting(lane, last, count).map((row) => this.#messages.kept(row.key) ?? row);
    return rows.length === count && rows.every(isWaiting) ? rows : null;
  }

  claimedUpTo(lane: LaneName, key: MessageKey): void {
    this.#claimed.claimedUpTo(lane, key);
  }

  insertMessage(fresh: NewMessageRow): void {
    const row = MESSAGE.create(fresh);
    const { key, account_id, client_message_id } = row;
    this.#messages.insert(row);
    if (row.state === STATE_NUMBER.done) this.#finished.add(key);
    if (client_message_id !== null && !isRejected(row.status_id))
      this.#names.set(clientName(account_id, client_message_id), key);
  }

  changeMessage(known: MessageRow, change: MessageChange): MessageRow {
    const row = this.#messages.change(known, change);
    this.#claimed.see(row);
    if (row.state === STATE_NUMBER.done) this.#finished.add(row.key);
    if (isRejected(row.status_id)) this.#freeName(row);
    return row;
  }

  #freeName({ key, account_id, client_message_id }: MessageRow): void {
    if (client_message_id === null) return;
    const name = clientName(account_id, client_message_id);
    if (this.#names.get(name) === key) this.#names.delete(name);
  }

  isNamed(accountId: number, clientMessageId: string): boolean {
    if (this.#names.has(clientName(accountId, clientMessageId))) return true;
    const key = this.#lookups.named(accountId, clientMessageId);
    if (key === undefined) return false;
    const kept = this.#messages.kept(key);
    return kept === undefined || !isRejected(kept.status_id);
  }

  hasOptOuts(list: number): boolean {
    return remembered(this.#optOutLists, list, () => this.#lookups.hasOptOuts(list));
  }

  isOptedOut(entry: NumberOnList): boolean {
    return this.#lookups.isOptedOut(entry);
  }

  parts(name: PartName): readonly PartRow[] {
    const kept = this.#partsByName.get(partName(name)) ?? NO_PARTS;
    if (!this.#anyPartWritten()) return kept;
    const found = this.#lookups.parts(name, MAX_SAME_ID + 1 + this.#parts.goneCount);
    if (found.length === 0) return kept;
    return [...found.filter(({ id }) => !this.#parts.isGone(id)), ...kept];
  }

  /** Where receipts come soon there is none, and to look for each is a fair share of what a receipt costs. */
  #anyPartWritten(): boolean {
    const nowMs = this.#options.now();
    if (this.#partsWritten.any && Math.abs(nowMs - this.#partsWritten.atMs) >= KEEP_MS)
      this.#partsWritten = { any: this.#lookups.anyPart(), atMs: nowMs };
    return this.#partsWritten.any;
  }

  insertPart(fresh: NewPartRow): void {
    const row = PART.create({ ...fresh, id: ++this.#lastPartId });
    this.#parts.insert(row);
    const name = partName(row);
    const same = this.#partsByName.get(name);
    if (same === undefined) this.#partsByName.set(name, [row]);
    else same.push(row);
  }

  deletePart({ id }: PartRow): void {
    const kept = this.#parts.kept(id);
    this.#parts.delete(id);
    if (kept !== undefined) this.#dropPartName(kept);
  }

  #dropPartName(row: PartRow): void {
    const name = partName(row);
    const others = this.#partsByName.get(name)!.filter((other) => other !== row);
    if (others.length === 0) this.#partsByName.delete(name);
    else this.#partsByName.set(name, others);
  }

  anyParked(carrierId: string): boolean {
    return remembered(this.#parkedCarriers, carrierId, () => this.#lookups.anyParked(carrierId));
  }

  parked(name: PartName): ParkedReceipt[] {
    return this.#lookups.parked(name);
  }

  parkedForPhone(carrierId: string, phone: string): ParkedReceipt[] {
    return this.#lookups.parkedForPhone(carrierId, phone);
  }

  park(fresh: NewParkedReceipt): ParkedReceipt {
    this.#parkedCarriers.set(fresh.carrierId, true);
    // The database gives the id.
    const row = PARKED.create({ ...fresh, id: null as never });
    return { ...row, id: this.#lookups.receipt.insert(row) };
  }

  unpark({ id, carrierId }: ParkedReceipt): void {
    this.#lookups.receipt.delete(id);
    this.#parkedCarriers.delete(carrierId);
  }

  insertLater(later: LaterReceipt): void {
    this.#lookups.insertLater(later);
  }

  deleteLater(later: LaterReceipt): void {
    this.#lookups.deleteLater(later);
  }

  wallet(accountId: number): Wallet {
    return { ...remembered(this.#walletsByAccount, accountId, () => this.#readWallet(accountId)) };
  }

  #readWallet(accountId: number): WorkingWallet {
    // What is on its way to or from it has to be in its balance.
    this.#flushPostings(this.#commit.seq);
    const row = this.#wallets.ofAccount(accountId);
    if (row === undefined) throw new Error(`account ${accountId} has no wallet`);
    const wallet: WorkingWallet = walletOf(row);
    this.#walletsById.set(wallet.id, wallet);
    return wallet;
  }

  serviceWallet(name: "payments" | "revenue", currency: string): number {
    return remembered(this.#serviceWallets, `${name} ${currency}`, () => this.#wallets.ofService(name, currency));
  }

  post(posting: NewPosting): number {
    const { from, to, amountMicros } = posting;
    const source = this.#walletsById.get(from);
    const target = this.#walletsById.get(to);
    checkPosting(posting, target);
    const row = POSTING.create({ ...posting, id: ++this.#lastPostingId, amountMicros: amountMicros.toString() });
    this.#commit.changes.push(["insert", "posting", POSTING.valuesOf(row)]);
    this.#postings.push({ posting: row, since: this.#commit.seq });
    if (source !== undefined) source.balanceMicros -= amountMicros;
    if (target !== undefined) target.balanceMicros += amountMicros;
    return row.id;
  }

  postNumbered(posting: NewPosting): number {
    return this.post(posting);
  }

  bulk(accountId: number, bulkId: string): BulkRow | undefined {
    return this.#lookups.bulk.get(accountId, bulkId);
  }

  insertBulk(bulk: BulkRow): void {
    this.#lookups.bulk.insert(bulk);
  }

  changeBulk({ account_id, bulk_id }: BulkRow, change: BulkChange): void {
    this.#lookups.bulk.change([account_id, bulk_id], change);
  }

  replay({ accountId, kind, token, bodyHash }: ReplayName): string | undefined {
    return this.#lookups.replay.get(accountId, kind, token, bodyHash)?.answer;
  }

  hasOtherReplay(name: ReplayName): boolean {
    return this.#lookups.hasOtherReplay(name);
  }

  insertReplay(name: ReplayName, answer: string, atMs: number): void {
    this.#lookups.replay.insert({ ...name, answer, atMs });
  }

  report(id: string): ReportRow | undefined {
    return this.#reports.get(id);
  }

  reportWaits(id: string): boolean {
    const row = this.report(id);
    return row !== undefined && row.dead_at_ms === null;
  }

  insertReport(fresh: NewReportRow): void {
    const row = REPORT.create(fresh);
    this.#reports.insert(row);
    if (row.after_id !== null) this.#following.add(row.id);
  }

  changeReport(id: string, change: ReportChange): void {
    const known = this.report(id);
    if (known === undefined) return;
    const { after_id } = this.#reports.change(known, change);
    if (after_id === null) this.#following.delete(id);
    else this.#following.add(id);
  }

  deleteReport(id: string): void {
    this.#reports.delete(id);
    this.#following.delete(id);
  }

  followers(id: string): ReportRow[] {
    const written = this.#lookups
      .followers(id)
      .filter((row) => this.#reports.kept(row.id) === undefined && !this.#reports.isGone(row.id));
    const kept = [...this.#following].map((follower) => this.#reports.kept(follower)!);
    return [...written, ...kept.filter(({ after_id }) => after_id === id)];
  }
}

function remembered<Key, Value>(known: Map<Key, Value>, key: Key, read: () => Value): Value {
  let value = known.get(key);
  if (value === undefined) {
    value = read();
    known.set(key, value);
  }
  return value;
}
