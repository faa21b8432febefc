/**
 * The tables on SQLite. Messages, their parts, reports and postings are written behind: a commit puts what it changed into the journal, as one
 * row, and the rows themselves stay in memory for a moment. Most have changed several times, and many are gone again, by the time that they
 * are written to their tables:
 *
 *      changes of a commit ──▶ journal (one row, flushed with the commit)
 *            └──▶ rows in memory ──(a second later, some at a time, while nobody waits)──▶ tables, and their entries leave the journal
 *
 * The journal is the truth: whenever memory may be wrong, after a failed transaction or when another process has written, it is forgotten and the
 * tables are brought up to date from the journal. A statement of SQL that looks at one of these tables has all written first (sql.ts).
 */
import type { MessageKey } from "../../message/message.ts";
import { SlotMap } from "../../runtime/slots.ts";
import { MAX_SAME_ID } from "../commands/candidates.ts";
import type { LaneName, LaterReceipt, ParkedReceipt, PartName } from "../port.ts";
import {
  type BulkRow,
  isRejected,
  type MessageChange,
  type MessageRow,
  messageRow,
  type NewMessageRow,
  type NewReportRow,
  type PartRow,
  type ReportRow,
  STATE_NUMBER,
  walletOf,
} from "../rows.ts";
import {
  checkPosting,
  type NewPart,
  type NewPosting,
  type NumberOnList,
  type ReplayName,
  type Tables,
  type Wallet,
} from "../tables.ts";
import { ClaimedLanes, isWaiting } from "./claimed.ts";
import type { Db } from "./database.ts";
import { type Change, Journal } from "./journal.ts";
import { messageValues, type PartValues, RowStatements } from "./row-statements.ts";
import type { StoredPosting } from "./wallets.ts";

/** How long a row stays in memory after its first change; a message that has come to its end only until the next slice. */
const KEEP_MS = 1_000;
/** How often rows are written while nobody waits, unless there are many. */
const WRITE_EVERY_MS = 25;
/** So many rows of a table are worth a transaction while nobody waits; so many, while somebody always does, are written with a commit. */
const SOME = 100;
const MANY = 4_000;
/** How many are written at once: a bound on how long whoever comes next waits. */
const SLICE = 1_000;
/** Messages in memory; beyond that they are written sooner. */
const MAX_MESSAGES = 20_000;

const NO_PARTS: readonly KeptPart[] = [];
/** Not known: to be looked at. */
const PERHAPS = { any: true, atMs: Number.NEGATIVE_INFINITY };

/** A row in memory. `since` is the journal's first entry about it that is not in its table. */
interface Kept<Row, Changes> {
  row: Row;
  readonly isNew: boolean;
  change: Changes;
  readonly since: number;
}

interface KeptPart extends PartRow {
  readonly id: number;
  readonly name: string;
  readonly values: PartValues;
  readonly since: number;
}

interface WorkingWallet extends Wallet {
  balanceMicros: bigint;
}

/** The tables whose rows may still be in memory. */
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
  readonly #written: RowStatements;
  readonly #journal: Journal;
  readonly #options: TablesOptions;
  readonly #dataVersion;

  /** What is in memory may be wrong. */
  #stale = true;
  #knownVersion = 0;
  /** The number that the journal's entry of this transaction will have. */
  #seq = 1;
  #changes: Change[] = [];
  /** The journal's entries, oldest first, and when they were made. */
  #entries: { readonly seq: number; readonly atMs: number }[] = [];
  #lastSliceMs = 0;

  // Each in the order of `since`.
  #messages = new SlotMap<MessageKey, Kept<MessageRow, MessageChange>>();
  /** Of the messages in memory those that have come to their end. */
  #finished = new Set<MessageKey>();
  #parts = new SlotMap<number, KeptPart>();
  #goneParts = new Map<number, number>();
  #reports = new SlotMap<string, Kept<ReportRow, Partial<ReportRow>>>();
  #goneReports = new Map<string, number>();
  /** Of the reports in memory those that wait for another. */
  #following = new Set<string>();
  #postings: { readonly posting: StoredPosting; readonly since: number }[] = [];

  /** Names of new messages in memory that no other may have. */
  #names = new Map<string, MessageKey>();
  #partsByName = new SlotMap<string, KeptPart[]>();
  #lastPartId = 0;
  #lastPostingId = 0;

  // What was read and has not changed since.
  #wallets = new Map<number, WorkingWallet>();
  #walletsById = new Map<number, WorkingWallet>();
  #serviceWallets = new Map<string, number>();
  #optOutLists = new Map<number, boolean>();
  #parkedCarriers = new Map<string, boolean>();
  /** Whether there is a part in its table, as it was then: none is written without this being told. */
  #partsWritten = PERHAPS;
  readonly #claimed = new ClaimedLanes();

  constructor(options: TablesOptions) {
    this.#options = options;
    this.#written = new RowStatements(options.db, options.onFault);
    this.#journal = new Journal(options.db);
    this.#dataVersion = options.db.prepare<[], number>("PRAGMA data_version").pluck();
  }

  // --- The transaction's side --------------------------------------------------------------------------------------------

  /** A transaction that may write has begun. */
  begin(): void {
    const version = this.#dataVersion.get()!;
    if (this.#stale || version !== this.#knownVersion) this.#startAnew();
    this.#knownVersion = version;
  }

  /** The transaction has failed. */
  forget(): void {
    this.#stale = true;
  }

  #startAnew(): void {
    this.#journal.replayJournal(this.#written);
    this.#messages = new SlotMap();
    this.#finished = new Set();
    this.#parts = new SlotMap();
    this.#goneParts = new Map();
    this.#reports = new SlotMap();
    this.#goneReports = new Map();
    this.#following = new Set();
    this.#postings = [];
    this.#names = new Map();
    this.#partsByName = new SlotMap();
    this.#changes = [];
    this.#entries = [];
    this.#seq = 1;
    this.#lastPartId = this.#written.lastId("part");
    this.#lastPostingId = this.#written.lastId("posting");
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
    this.#wallets = new Map();
    this.#walletsById = new Map();
  }

  /** The last thing before the commit. */
  commit(): void {
    if (!this.#options.writeBehind) {
      this.flush();
      return;
    }
    const atMs = this.#options.now();
    if (this.#changes.length > 0) {
      this.#journal.append(this.#seq, this.#changes);
      this.#entries.push({ seq: this.#seq++, atMs });
      this.#changes = [];
    }
    const crowded = this.#messages.size > MAX_MESSAGES;
    if (crowded) this.#writeRipe(atMs, this.#messages.size - MAX_MESSAGES + SLICE, crowded);
    else if (this.#isLate(atMs, MANY)) this.#writeRipe(atMs, SLICE);
  }

  /** Whether the tables lack something. */
  get isBehind(): boolean {
    return this.#stale || this.#changes.length + this.#entries.length > 0;
  }

  // --- Writing -----------------------------------------------------------------------------------------------------------

  flush(): void {
    if (!this.isBehind) return;
    for (const table of WRITTEN_BEHIND) this.flushTable(table);
    this.#changes = [];
    if (this.#entries.length > 0) this.#journal.drop(this.#entries.at(-1)!.seq);
    this.#entries = [];
  }

  /** Writes one table, for whoever reads it. Its entries stay in the journal until the others' rows are written too. */
  flushTable(table: WrittenBehind): void {
    this.#write[table](this.#seq, Number.POSITIVE_INFINITY);
  }

  /** Whether it is time to write some rows, for whoever has nothing else to do. */
  get isDue(): boolean {
    if (this.#stale || this.#entries.length === 0) return false;
    const nowMs = this.#options.now();
    if (this.#isLate(nowMs, SOME)) return true;
    const isTime = Math.abs(nowMs - this.#lastSliceMs) >= WRITE_EVERY_MS;
    return isTime && (this.#finished.size > 0 || this.#oldestMs(nowMs) >= KEEP_MS);
  }

  /** Many at once where there are many: each transaction has its price. */
  writeSome(): void {
    this.#writeRipe(this.#options.now(), Math.min(SLICE, Math.max(SOME, Math.floor(this.#finished.size / 4))));
  }

  /** Whether so many have come to their end, or some have been ripe for long. */
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
    this.#writeRipe(this.#options.now(), SLICE);
  }

  #writeRipe(nowMs: number, most: number, crowded = false): void {
    this.#lastSliceMs = nowMs;
    take(
      this.#finished,
      most,
      () => true,
      (key) => this.#writeMessage(key, this.#messages.get(key)!),
    );
    const ripe = this.#entries.findLast(({ atMs }) => crowded || Math.abs(nowMs - atMs) >= KEEP_MS);
    if (ripe === undefined) return;
    for (const table of WRITTEN_BEHIND) this.#write[table](ripe.seq, most);
    const firstKept = this.#firstKept();
    const written = this.#entries.findLastIndex(({ seq }) => seq <= ripe.seq && seq < firstKept);
    if (written < 0) return;
    this.#journal.drop(this.#entries[written]!.seq);
    this.#entries.splice(0, written + 1);
  }

  /** The first entry of the journal that is about a row in memory. */
  #firstKept(): number {
    const [message] = this.#messages.values();
    const [part] = this.#parts.values();
    const [gonePart = Number.POSITIVE_INFINITY] = this.#goneParts.values();
    const [report] = this.#reports.values();
    const [goneReport = Number.POSITIVE_INFINITY] = this.#goneReports.values();
    const kept = [message, part, report, this.#postings[0]].map((row) => row?.since ?? Number.POSITIVE_INFINITY);
    return Math.min(...kept, gonePart, goneReport);
  }

  /** Write the rows that have been in memory since this entry of the journal or an earlier one, so many at most. */
  readonly #write: Readonly<Record<WrittenBehind, (upTo: number, most: number) => void>> = {
    message: (upTo, most) => {
      take(this.#messages, most, isSince(upTo), (key, kept) => this.#writeMessage(key, kept));
    },
    part: (upTo, most) => {
      take(this.#parts, most, isSince(upTo), (id, kept) => {
        this.#writeRow("part", id, kept, kept.values, () => this.#written.insertPart(kept.values));
        this.#partsWritten = PERHAPS;
        this.#dropName(kept);
      });
      take(
        this.#goneParts,
        most,
        (since) => since <= upTo,
        (id) => this.#written.deletePart(id),
      );
    },
    report: (upTo, most) => {
      take(this.#reports, most, isSince(upTo), (id, kept) => {
        this.#writeRow("report", id, kept, kept.row, () => {
          if (kept.isNew) this.#written.insertReport(kept.row);
          else this.#written.changeReport(id, kept.change);
        });
        this.#following.delete(id);
      });
      take(
        this.#goneReports,
        most,
        (since) => since <= upTo,
        (id) => this.#written.deleteReport(id),
      );
    },
    // A wallet moves with its postings.
    posting: (upTo) => this.#writePostings(upTo),
    wallet: (upTo) => this.#writePostings(upTo),
  };

  /** Writes a row. One that is in the journal was promised; one of this transaction fails with its command. */
  #writeRow(
    table: WrittenBehind,
    id: string | number,
    { since }: { since: number },
    row: unknown,
    write: () => void,
  ): void {
    if (since < this.#seq) this.#written.aside.promised(table, id, row, write);
    else write();
  }

  #writeMessage(key: MessageKey, kept: Kept<MessageRow, MessageChange>): void {
    this.#writeRow("message", key, kept, kept.row, () => {
      if (kept.isNew) this.#written.insertMessage(messageValues(kept.row));
      else this.#written.changeMessage(key, kept.change);
    });
    this.#messages.delete(key);
    this.#finished.delete(key);
    this.#claimed.see(kept.row);
    const { client_message_id, account_id } = kept.row;
    if (client_message_id === null) return;
    const name = clientName(account_id, client_message_id);
    if (this.#names.get(name) === key) this.#names.delete(name);
  }

  #writePostings(upTo: number): void {
    const first = this.#postings.findIndex(({ since }) => since > upTo);
    const count = first < 0 ? this.#postings.length : first;
    if (count === 0) return;
    const written = this.#postings.splice(0, count);
    const own = written.findIndex(({ since }) => since >= this.#seq);
    const promised = own < 0 ? written : written.slice(0, own);
    const postingOf = ({ posting }: { posting: StoredPosting }): StoredPosting => posting;
    const all = this.#written.wallets.post(promised.map(postingOf), true);
    if (own >= 0) this.#written.wallets.post(written.slice(own).map(postingOf), false);
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
    return this.#messages.get(key)?.row ?? this.#written.message(key);
  }

  nextWaiting(lane: LaneName, count: number): MessageRow[] | null {
    const last = this.#claimed.lastOf(lane);
    if (last === undefined) return null;
    const rows = this.#written.waiting(lane, last, count).map((row) => this.#messages.get(row.key)?.row ?? row);
    return rows.length === count && rows.every(isWaiting) ? rows : null;
  }

  claimedUpTo(lane: LaneName, key: MessageKey): void {
    this.#claimed.claimedUpTo(lane, key);
  }

  insertMessage(fresh: NewMessageRow): void {
    const row = messageRow(fresh);
    const { key, account_id, client_message_id } = row;
    this.#messages.set(key, { row, isNew: true, change: {}, since: this.#seq });
    this.#changes.push(["message", messageValues(row)]);
    if (row.state === STATE_NUMBER.done) this.#finished.add(key);
    if (client_message_id !== null && !isRejected(row.status_id))
      this.#names.set(clientName(account_id, client_message_id), key);
  }

  changeMessage(known: MessageRow, wanted: MessageChange): MessageRow {
    const { key } = known;
    const kept = this.#messages.get(key);
    const before = kept?.row ?? known;
    const change = differences(before, wanted);
    const row = { ...before, ...change };
    this.#changes.push(["message changed", key, change]);
    this.#claimed.see(row);
    if (row.state === STATE_NUMBER.done) this.#finished.add(key);
    if (kept === undefined) {
      this.#messages.set(key, { row, isNew: false, change, since: this.#seq });
      return row;
    }
    kept.row = row;
    if (!kept.isNew) kept.change = { ...kept.change, ...change };
    if (row.client_message_id !== null && isRejected(row.status_id)) {
      const name = clientName(row.account_id, row.client_message_id);
      if (this.#names.get(name) === key) this.#names.delete(name);
    }
    return row;
  }

  isNamed(accountId: number, clientMessageId: string): boolean {
    if (this.#names.has(clientName(accountId, clientMessageId))) return true;
    const key = this.#written.named(accountId, clientMessageId);
    if (key === undefined) return false;
    const kept = this.#messages.get(key);
    return kept === undefined || !isRejected(kept.row.status_id);
  }

  hasOptOuts(list: number): boolean {
    return remembered(this.#optOutLists, list, () => this.#written.hasOptOuts(list));
  }

  isOptedOut(entry: NumberOnList): boolean {
    return this.#written.isOptedOut(entry);
  }

  parts(name: PartName): readonly PartRow[] {
    const kept = this.#partsByName.get(partName(name)) ?? NO_PARTS;
    if (!this.#anyPartWritten()) return kept;
    const found = this.#written.parts(name, MAX_SAME_ID + 1 + this.#goneParts.size);
    if (found.length === 0) return kept;
    return [...found.filter(({ id }) => !this.#goneParts.has(id)), ...kept];
  }

  /** Where receipts come soon there is none, and to look for each is a fair share of what a receipt costs. */
  #anyPartWritten(): boolean {
    const nowMs = this.#options.now();
    if (this.#partsWritten.any && Math.abs(nowMs - this.#partsWritten.atMs) >= KEEP_MS)
      this.#partsWritten = { any: this.#written.anyPart(), atMs: nowMs };
    return this.#partsWritten.any;
  }

  insertPart({ carrierId, carrierMessageId, messageKey, counts, submittedAtMs, expiresAtMs }: NewPart): void {
    requireWhole(submittedAtMs, "submitted_at_ms");
    requireWhole(expiresAtMs, "expires_at_ms");
    const id = ++this.#lastPartId;
    const counted = counts ? 1 : 0;
    const times = [submittedAtMs, expiresAtMs] as const;
    const values = [id, carrierId, carrierMessageId, messageKey, counted, ...times] as const;
    this.#changes.push(["part", ...values]);
    const name = partName({ carrierId, carrierMessageId });
    const kept = { id, key: messageKey, counts: counted, submittedAtMs, name, values, since: this.#seq };
    this.#parts.set(id, kept);
    const same = this.#partsByName.get(name);
    if (same === undefined) this.#partsByName.set(name, [kept]);
    else same.push(kept);
  }

  deletePart({ id }: PartRow): void {
    this.#changes.push(["part gone", id!]);
    const kept = this.#parts.get(id!);
    if (kept === undefined) {
      this.#goneParts.set(id!, this.#seq);
      return;
    }
    this.#parts.delete(id!);
    this.#dropName(kept);
  }

  #dropName(kept: KeptPart): void {
    const { name } = kept;
    const others = this.#partsByName.get(name)!.filter((other) => other !== kept);
    if (others.length === 0) this.#partsByName.delete(name);
    else this.#partsByName.set(name, others);
  }

  anyParked(carrierId: string): boolean {
    return remembered(this.#parkedCarriers, carrierId, () => this.#written.anyParked(carrierId));
  }

  parked(name: PartName): ParkedReceipt[] {
    return this.#written.parked(name);
  }

  parkedForPhone(carrierId: string, phone: string): ParkedReceipt[] {
    return this.#written.parkedForPhone(carrierId, phone);
  }

  park(receipt: Omit<ParkedReceipt, "id">): ParkedReceipt {
    this.#parkedCarriers.set(receipt.carrierId, true);
    return { ...receipt, id: this.#written.park(receipt) };
  }

  unpark({ id, carrierId }: ParkedReceipt): void {
    this.#written.unpark(id);
    this.#parkedCarriers.delete(carrierId);
  }

  insertLater(later: LaterReceipt): void {
    this.#written.insertLater(later);
  }

  deleteLater(later: LaterReceipt): void {
    this.#written.deleteLater(later);
  }

  wallet(accountId: number): Wallet {
    return { ...remembered(this.#wallets, accountId, () => this.#readWallet(accountId)) };
  }

  #readWallet(accountId: number): WorkingWallet {
    // What is on its way to or from it has to be in its balance.
    this.#writePostings(this.#seq);
    const row = this.#written.wallets.ofAccount(accountId);
    if (row === undefined) throw new Error(`account ${accountId} has no wallet`);
    const wallet: WorkingWallet = walletOf(row);
    this.#walletsById.set(wallet.id, wallet);
    return wallet;
  }

  serviceWallet(name: "payments" | "revenue", currency: string): number {
    return remembered(this.#serviceWallets, `${name} ${currency}`, () =>
      this.#written.wallets.ofService(name, currency),
    );
  }

  post(posting: NewPosting): void {
    this.postNumbered(posting);
  }

  postNumbered(fresh: NewPosting): number {
    const { from, to, amountMicros } = fresh;
    const source = this.#walletsById.get(from);
    const target = this.#walletsById.get(to);
    checkPosting(fresh, target);
    const posting = { ...fresh, id: ++this.#lastPostingId, amountMicros: amountMicros.toString() };
    this.#changes.push(["posting", posting]);
    this.#postings.push({ posting, since: this.#seq });
    if (source !== undefined) source.balanceMicros -= amountMicros;
    if (target !== undefined) target.balanceMicros += amountMicros;
    return posting.id;
  }

  bulk(accountId: number, bulkId: string): BulkRow | undefined {
    return this.#written.bulk(accountId, bulkId);
  }

  insertBulk(bulk: BulkRow): void {
    this.#written.insertBulk(bulk);
  }

  changeBulk(bulk: BulkRow, change: Partial<BulkRow>): void {
    this.#written.changeBulk(bulk, change);
  }

  replay(name: ReplayName): string | undefined {
    return this.#written.replay(name);
  }

  hasOtherReplay(name: ReplayName): boolean {
    return this.#written.hasOtherReplay(name);
  }

  insertReplay(name: ReplayName, answer: string, atMs: number): void {
    this.#written.insertReplay(name, answer, atMs);
  }

  report(id: string): ReportRow | undefined {
    if (this.#goneReports.has(id)) return undefined;
    return this.#reports.get(id)?.row ?? this.#written.report(id);
  }

  reportWaits(id: string): boolean {
    const row = this.report(id);
    return row !== undefined && row.dead_at_ms === null;
  }

  insertReport(fresh: NewReportRow): void {
    requireWhole(fresh.due_at_ms, "due_at_ms");
    const row: ReportRow = { ...fresh, attempts: 0, dead_at_ms: null, reason: null, history: "[]", tried: 0 };
    this.#changes.push(["report", row]);
    this.#reports.set(row.id, { row, isNew: true, change: {}, since: this.#seq });
    if (row.after_id !== null) this.#following.add(row.id);
  }

  changeReport(id: string, change: Partial<ReportRow>): void {
    const kept = this.#reports.get(id);
    const known = kept?.row ?? this.report(id);
    if (known === undefined) return;
    for (const [column, value] of Object.entries(change)) if (typeof value === "number") requireWhole(value, column);
    this.#changes.push(["report changed", id, change]);
    const row = { ...known, ...change };
    if (row.after_id === null) this.#following.delete(id);
    else this.#following.add(id);
    if (kept === undefined) {
      this.#reports.set(id, { row, isNew: false, change, since: this.#seq });
      return;
    }
    kept.row = row;
    if (!kept.isNew) kept.change = { ...kept.change, ...change };
  }

  deleteReport(id: string): void {
    this.#changes.push(["report gone", id]);
    const kept = this.#reports.get(id);
    this.#reports.delete(id);
    this.#following.delete(id);
    if (kept?.isNew !== true) this.#goneReports.set(id, this.#seq);
  }

  followers(id: string): ReportRow[] {
    const written = this.#written
      .followers(id)
      .filter((row) => !this.#reports.has(row.id) && !this.#goneReports.has(row.id));
    const kept = [...this.#following].map((follower) => this.#reports.get(follower)!.row);
    return [...written, ...kept.filter(({ after_id }) => after_id === id)];
  }
}

const isSince =
  (upTo: number) =>
  ({ since }: { readonly since: number }): boolean =>
    since <= upTo;

/** Uses the first entries of a map, as long as they are wanted and there are not too many, and takes them out. */
function take<Key, Value>(
  map: { entries(): Iterable<[Key, Value]>; delete(key: Key): boolean },
  most: number,
  isWanted: (value: Value) => boolean,
  use: (key: Key, value: Value) => void,
): void {
  let count = 0;
  for (const [key, value] of map.entries()) {
    if (count++ >= most || !isWanted(value)) return;
    use(key, value);
    map.delete(key);
  }
}

/** Of a change what is really another value. */
function differences(row: MessageRow, wanted: MessageChange): MessageChange {
  const change: Record<string, unknown> = {};
  for (const column in wanted) {
    const value = wanted[column as keyof MessageChange];
    if (value === row[column as keyof MessageRow]) continue;
    if (typeof value === "number") requireWhole(value, column);
    change[column] = value;
  }
  return change;
}

/**
 * The journal takes any number, and the columns of the tables only whole ones. So they are looked at before they are promised, wherever they come
 * from another thread. What else the tables want is seen to by types (NOT NULL, texts), by what made the row (kinds, names that are
 * taken, ids of other rows), or by `checkPosting`; commands/accept.ts looks at the numbers of new messages.
 */
function requireWhole(value: number, column: string): void {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${column} must be a whole number, not ${value}`);
}

function remembered<Key, Value>(known: Map<Key, Value>, key: Key, read: () => Value): Value {
  let value = known.get(key);
  if (value === undefined) {
    value = read();
    known.set(key, value);
  }
  return value;
}
