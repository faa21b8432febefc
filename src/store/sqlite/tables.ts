/**
 * The tables on SQLite, as the commands see them. Messages, parts, reports and postings are written behind the journal (behind-tables.ts), and all else
 * at once.
 */
import type { MessageKey } from "../../message/message.ts";
import { SlotMap } from "../../runtime/slots.ts";
import { MAX_SAME_ID } from "../commands/candidates.ts";
import type { LaneName } from "../port/delivery.ts";
import type { PartName } from "../port/receipts.ts";
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
import { POSTING } from "../schema/posting.ts";
import { type LaterReceipt, type NewParkedReceipt, PARKED, type ParkedReceipt } from "../schema/receipts.ts";
import { type NewReportRow, REPORT, type ReportChange, type ReportRow } from "../schema/report.ts";
import type { NumberOnList, Tables } from "../tables.ts";
import { checkPosting, type NewPosting, type Wallet, walletOf } from "../wallet.ts";
import { type BehindOptions, BehindTables } from "./behind-tables.ts";
import { ClaimedLanes, isWaiting } from "./claimed.ts";
import { Lookups } from "./lookups.ts";

/** How long it is believed that parts are in their table. */
const LOOK_AGAIN_MS = 1_000;

const NO_PARTS: readonly PartRow[] = [];
/** Not known: to be looked at. */
const PERHAPS = { any: true, atMs: Number.NEGATIVE_INFINITY };

interface WorkingWallet extends Wallet {
  balanceMicros: bigint;
}

const partName = ({ carrierId, carrierMessageId }: PartName): string => `${carrierId} ${carrierMessageId}`;
const clientName = (accountId: number, clientMessageId: string): string => `${accountId} ${clientMessageId}`;

export class SqliteTables implements Tables {
  /** What is written behind. */
  readonly behind: BehindTables;
  readonly #now: () => number;
  readonly #lookups: Lookups;
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

  constructor(options: BehindOptions) {
    this.#now = options.now;
    this.#lookups = new Lookups(options.db);
    this.behind = new BehindTables(options, {
      onMessage: (row) => {
        this.#claimed.see(row);
        this.#freeName(row);
      },
      onPart: (row) => {
        this.#partsWritten = PERHAPS;
        this.#dropPartName(row);
      },
      onReport: ({ id }) => this.#following.delete(id),
      onPostingsAside: () => this.#dropWallets(),
    });
  }

  /** A transaction that may write has begun. */
  begin(): void {
    if (!this.behind.begin()) return;
    for (const known of [this.#following, this.#names, this.#partsByName]) known.clear();
    this.#lastPartId = this.#lookups.lastId("part");
    this.#lastPostingId = this.#lookups.lastId("posting");
    this.dropRead();
  }

  flush(): void {
    this.behind.flush();
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

  // --- The commands' side ------------------------------------------------------------------------------------------------

  load(): void {}

  /** Whoever has read rows by SQL has had all written before: they are as they are. */
  cache(rows: readonly MessageRow[]): MessageRow[] {
    return [...rows];
  }

  message(key: MessageKey): MessageRow | undefined {
    return this.behind.messages.get(key);
  }

  nextWaiting(lane: LaneName, count: number): MessageRow[] | null {
    const last = this.#claimed.lastOf(lane);
    if (last === undefined) return null;
    const rows = this.#lookups.waiting(lane, last, count).map((row) => this.behind.messages.kept(row.key) ?? row);
    return rows.length === count && rows.every(isWaiting) ? rows : null;
  }

  claimedUpTo(lane: LaneName, key: MessageKey): void {
    this.#claimed.claimedUpTo(lane, key);
  }

  insertMessage(fresh: NewMessageRow): void {
    const row = MESSAGE.create(fresh);
    const { key, account_id, client_message_id } = row;
    this.behind.messages.insert(row);
    if (row.state === STATE_NUMBER.done) this.behind.finished.add(key);
    if (client_message_id !== null && !isRejected(row.status_id))
      this.#names.set(clientName(account_id, client_message_id), key);
  }

  changeMessage(known: MessageRow, change: MessageChange): MessageRow {
    const row = this.behind.messages.change(known, change);
    this.#claimed.see(row);
    if (row.state === STATE_NUMBER.done) this.behind.finished.add(row.key);
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
    const kept = this.behind.messages.kept(key);
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
    const found = this.#lookups.parts(name, MAX_SAME_ID + 1 + this.behind.parts.goneCount);
    if (found.length === 0) return kept;
    return [...found.filter(({ id }) => !this.behind.parts.isGone(id)), ...kept];
  }

  /** Where receipts come soon there is none, and to look for each is a fair share of what a receipt costs. */
  #anyPartWritten(): boolean {
    const nowMs = this.#now();
    if (this.#partsWritten.any && Math.abs(nowMs - this.#partsWritten.atMs) >= LOOK_AGAIN_MS)
      this.#partsWritten = { any: this.#lookups.anyPart(), atMs: nowMs };
    return this.#partsWritten.any;
  }

  insertPart(fresh: NewPartRow): void {
    const row = PART.create({ ...fresh, id: ++this.#lastPartId });
    this.behind.parts.insert(row);
    const name = partName(row);
    const same = this.#partsByName.get(name);
    if (same === undefined) this.#partsByName.set(name, [row]);
    else same.push(row);
  }

  deletePart({ id }: PartRow): void {
    const kept = this.behind.parts.kept(id);
    this.behind.parts.delete(id);
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
    return { ...row, id: Number(this.#lookups.receipt.insert(row).lastInsertRowid) };
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
    this.behind.flushPostings();
    const row = this.behind.wallets.ofAccount(accountId);
    if (row === undefined) throw new Error(`account ${accountId} has no wallet`);
    const wallet: WorkingWallet = walletOf(row);
    this.#walletsById.set(wallet.id, wallet);
    return wallet;
  }

  serviceWallet(name: "payments" | "revenue", currency: string): number {
    return remembered(this.#serviceWallets, `${name} ${currency}`, () => this.behind.wallets.ofService(name, currency));
  }

  post(posting: NewPosting): number {
    const { from, to, amountMicros } = posting;
    const source = this.#walletsById.get(from);
    const target = this.#walletsById.get(to);
    checkPosting(posting, target);
    const row = POSTING.create({ ...posting, id: ++this.#lastPostingId, amountMicros: amountMicros.toString() });
    this.behind.post(row);
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
    return this.behind.reports.get(id);
  }

  reportWaits(id: string): boolean {
    const row = this.report(id);
    return row !== undefined && row.dead_at_ms === null;
  }

  insertReport(fresh: NewReportRow): void {
    const row = REPORT.create(fresh);
    this.behind.reports.insert(row);
    if (row.after_id !== null) this.#following.add(row.id);
  }

  changeReport(id: string, change: ReportChange): void {
    const known = this.report(id);
    if (known === undefined) return;
    const { after_id } = this.behind.reports.change(known, change);
    if (after_id === null) this.#following.delete(id);
    else this.#following.add(id);
  }

  deleteReport(id: string): void {
    this.behind.reports.delete(id);
    this.#following.delete(id);
  }

  followers(id: string): ReportRow[] {
    const written = this.#lookups
      .followers(id)
      .filter((row) => this.behind.reports.kept(row.id) === undefined && !this.behind.reports.isGone(row.id));
    const kept = [...this.#following].map((follower) => this.behind.reports.kept(follower)!);
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
