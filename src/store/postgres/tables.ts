import type { MessageKey } from "../../message/message.ts";
import { isAboutPhone } from "../commands/candidates.ts";
import { allReceiptNames, receiptNames } from "../commands/receipt-names.ts";
import type { BulkName } from "../port/bulks.ts";
import type { CarrierReceipt, PartName } from "../port/receipts.ts";
import { isRejected } from "../rows.ts";
import type { BulkChange, BulkRow, ReplayName, ReplayRow } from "../schema/bulk.ts";
import {
  MESSAGE,
  type MessageChange,
  type MessageRow,
  type NewMessageRow,
  type NewPartRow,
  PART,
  type PartRow,
} from "../schema/message.ts";
import type { LaterReceipt, NewParkedReceipt, ParkedReceipt } from "../schema/receipts.ts";
import { type NewReportRow, REPORT, type ReportChange, type ReportRow } from "../schema/report.ts";
import type { NumberOnList, ReadSet, Tables } from "../tables.ts";
import type { NewPosting, Wallet } from "../wallet.ts";
import { sendRows } from "./columns.ts";
import { Found } from "./found.ts";
import type { Session } from "./link.ts";
import { LoadedReceipts } from "./loaded-receipts.ts";
import { append, LoadedRows, remove, rowId } from "./loaded-rows.ts";
import { LoadedWallets } from "./loaded-wallets.ts";
import type { Partitions } from "./partitions.ts";
import type { ServiceWallets } from "./service-wallets.ts";
import { FIND, WRITE, WRITES } from "./statements.ts";

const nameId = ({ carrierId, carrierMessageId }: PartName): string => rowId(carrierId, carrierMessageId);
const bulkRowId = ({ accountId, bulkId }: BulkName): string => rowId(accountId, bulkId);
const replayId = ({ accountId, kind, token }: ReplayName): string => rowId(accountId, kind, token);
const byKey = (keys: readonly (string | number)[]): { key: string | number }[] => keys.map((key) => ({ key }));
const idNameOf = (receipt: CarrierReceipt): PartName | null => receiptNames(receipt.carrierId, receipt).byId;

export interface TablesParts {
  readonly session: () => Session;
  readonly partitions: Partitions;
  readonly serviceWallets: ServiceWallets;
}

export class PostgresTables implements Tables {
  readonly #parts: TablesParts;
  readonly #rows = {
    message: new LoadedRows(WRITES.message),
    part: new LoadedRows(WRITES.part),
    bulk: new LoadedRows(WRITES.bulk),
    replay: new LoadedRows(WRITES.replay),
    report: new LoadedRows(WRITES.report),
  };
  readonly #found: Found;
  readonly #names = new Set<string>();
  readonly #optOuts = new Set<string>();
  readonly #optOutLists = new Set<number>();
  readonly #partsByName = new Map<string, PartRow[]>();
  readonly #receipts: LoadedReceipts;
  readonly #wallets: LoadedWallets;
  readonly #replays = new Map<string, ReplayRow[]>();
  /** Reports that are neither settled nor dead. */
  readonly #waiting = new Set<string>();
  readonly #followers = new Map<string, string[]>();
  #freedNames: MessageRow[] = [];
  /** Rows that the database has not given an id yet have one below 0. */
  #lastId = 0;

  constructor(parts: TablesParts) {
    this.#parts = parts;
    this.#found = new Found(parts.session);
    this.#wallets = new LoadedWallets(parts);
    this.#receipts = new LoadedReceipts(parts);
  }

  /** Forgets all rows: another transaction begins. */
  begin(): void {
    for (const rows of Object.values(this.#rows)) rows.clear();
    for (const known of [
      this.#found,
      this.#names,
      this.#optOuts,
      this.#optOutLists,
      this.#partsByName,
      this.#receipts,
      this.#wallets,
      this.#replays,
      this.#waiting,
      this.#followers,
    ])
      known.clear();
    this.#freedNames = [];
  }

  /** The names under which a part or a receipt could have come to another node while this transaction was under way. */
  get namesToMatch(): PartName[] {
    const parts = this.#rows.part.inserted.map(({ carrierId, carrierMessageId }) => ({ carrierId, carrierMessageId }));
    return [...parts, ...this.#receipts.parkedNow.flatMap(allReceiptNames)];
  }

  // --- Reading -----------------------------------------------------------------------------------------------------------

  async load(wanted: ReadSet): Promise<void> {
    const { messages = [], parts = [], receipts = [], parked = [], wallets = [], names = [], numbers = [] } = wanted;
    const { bulks = [], lockedBulks = [], replays = [], reports = [], leaders = [], newKeys = [] } = wanted;
    const { partitions } = this.#parts;
    const homeless = newKeys.filter((key) => !partitions.covers(key));
    if (homeless.length > 0) await partitions.ensure(homeless);
    await Promise.all([
      this.#found.find<MessageRow>(FIND.messages, byKey(messages)).then((rows) => this.cache(rows)),
      this.#loadParts([...parts, ...receipts.flatMap((receipt) => idNameOf(receipt) ?? [])]),
      this.#receipts.load(parked),
      this.#wallets.load(wallets),
      this.#loadNames(names, numbers),
      this.#loadBulks(bulks, lockedBulks),
      this.#found.find<ReplayRow>(FIND.replays, replays).then((rows) => {
        for (const row of rows) append(this.#replays, replayId(row), row);
      }),
      this.#found.find<ReportRow>(FIND.reports, byKey(reports)).then((rows) => {
        for (const row of rows) this.#rows.report.keep(row);
      }),
      this.#loadFollowers(leaders),
    ]);
    // Receipts that are found by no id are rare, and so are parked ones: only for those the parts of their phones.
    const lost = receipts.filter((receipt) => !this.#isFound(receipt));
    await this.#loadParts([...lost, ...this.#receipts.all].flatMap(allReceiptNames));
    await this.#loadFurther(wanted);
  }

  #isFound(receipt: CarrierReceipt): boolean {
    const name = idNameOf(receipt);
    const parts = name === null ? [] : this.parts(name);
    return parts.some(({ key }) => {
      const row = this.message(key);
      return row === undefined || isAboutPhone(receipt, row.recipient);
    });
  }

  /** What depends on the messages that were read. */
  async #loadFurther({ refunds }: ReadSet): Promise<void> {
    const messages = [...this.#rows.message.all];
    const bulks = messages.filter((row) => row.bulk_version !== null);
    const reports = messages.flatMap((row) => (row.intermediate === 1 ? (row.last_report_id ?? []) : []));
    await Promise.all([
      this.#loadBulks(
        bulks.map((row) => ({ accountId: row.account_id, bulkId: row.bulk_id })),
        [],
      ),
      refunds === true ? this.#wallets.load(messages.map((row) => row.account_id)) : null,
      this.#found.find<{ id: string }>(FIND.waiting, byKey(reports)).then((rows) => {
        for (const { id } of rows) if (!this.#rows.report.isGone(id)) this.#waiting.add(id);
      }),
    ]);
  }

  /** Parts come and go under the lock of their message: so first the messages, locked, and then the parts as they are now. */
  async #loadParts(names: readonly PartName[]): Promise<void> {
    const session = this.#parts.session();
    const fresh = this.#found.fresh(FIND.parts, names);
    const [messages, parts] = await Promise.all([
      sendRows<MessageRow>(session, FIND.messagesOfParts, fresh),
      sendRows<PartRow>(session, FIND.parts, fresh),
    ]);
    this.cache(messages.rows);
    const found = await this.#withMessages(session, fresh, parts.rows);
    for (const part of found) append(this.#partsByName, nameId(part), this.#rows.part.keep(part));
  }

  /** A part that was written between the two statements has no message here yet. One whose message has left the store has none for good. */
  async #withMessages(
    session: Session,
    names: readonly PartName[],
    parts: readonly PartRow[],
    tried = new Set<MessageKey>(),
  ): Promise<readonly PartRow[]> {
    const missing = parts.map(({ key }) => key).filter((key) => this.message(key) === undefined && !tried.has(key));
    if (missing.length === 0) return parts;
    for (const key of missing) tried.add(key);
    const [messages, again] = await Promise.all([
      sendRows<MessageRow>(session, FIND.messages, byKey(missing)),
      sendRows<PartRow>(session, FIND.parts, names),
    ]);
    this.cache(messages.rows);
    return this.#withMessages(session, names, again.rows, tried);
  }

  async #loadNames(
    names: readonly { accountId: number; clientMessageId: string }[],
    numbers: readonly NumberOnList[],
  ): Promise<void> {
    const [taken, optOuts] = await Promise.all([
      this.#found.find<{ accountId: number; clientMessageId: string }>(FIND.names, names),
      this.#found.find<NumberOnList>(FIND.optOuts, numbers),
    ]);
    for (const { accountId, clientMessageId } of taken) this.#names.add(rowId(accountId, clientMessageId));
    for (const { list, number } of optOuts) {
      this.#optOutLists.add(list);
      this.#optOuts.add(rowId(list, number));
    }
  }

  async #loadBulks(names: readonly BulkName[], locked: readonly BulkName[]): Promise<void> {
    const found = await Promise.all([
      this.#found.find<BulkRow>(FIND.bulks, names),
      this.#found.find<BulkRow>(FIND.lockedBulks, locked),
    ]);
    for (const row of found.flat()) this.#rows.bulk.refresh(row);
  }

  async #loadFollowers(ids: readonly string[]): Promise<void> {
    // First the lock: whoever adds a follower shares it until the follower can be seen.
    const locked = this.#found.find(FIND.leaders, byKey(ids));
    const rows = await this.#found.find<ReportRow & { after_id: string }>(FIND.followers, byKey(ids));
    await locked;
    for (const row of rows) {
      this.#rows.report.keep(row);
      append(this.#followers, row.after_id, row.id);
    }
    // Behind one that went out as part of another there may be more.
    const empty = rows.filter(({ items }) => items === "[]").map(({ id }) => id);
    if (empty.length > 0) await this.#loadFollowers(empty);
  }

  /** Other nodes claim and release too: it has to be looked for every time. */
  nextWaiting(): null {
    return null;
  }

  claimedUpTo(): void {}

  cache(rows: readonly MessageRow[]): MessageRow[] {
    return rows.map((row) => this.#rows.message.keep(row));
  }

  // --- The commands' side ------------------------------------------------------------------------------------------------

  message(key: MessageKey): MessageRow | undefined {
    return this.#rows.message.get(key);
  }

  insertMessage(fresh: NewMessageRow): void {
    const row = MESSAGE.create(fresh);
    this.#rows.message.insert(row);
    if (row.client_message_id !== null && !isRejected(row.status_id))
      this.#names.add(rowId(row.account_id, row.client_message_id));
  }

  changeMessage(row: MessageRow, change: MessageChange): MessageRow {
    const changed = this.#rows.message.change(row, change);
    const { client_message_id, status_id } = changed;
    if (client_message_id !== null && isRejected(status_id) && !isRejected(row.status_id))
      this.#freedNames.push(changed);
    return changed;
  }

  isNamed(accountId: number, clientMessageId: string): boolean {
    return this.#names.has(rowId(accountId, clientMessageId));
  }

  hasOptOuts(list: number): boolean {
    return this.#optOutLists.has(list);
  }

  isOptedOut({ list, number }: NumberOnList): boolean {
    return this.#optOuts.has(rowId(list, number));
  }

  parts(name: PartName): readonly PartRow[] {
    return this.#partsByName.get(nameId(name)) ?? [];
  }

  insertPart(fresh: NewPartRow): void {
    const part = PART.create({ ...fresh, id: --this.#lastId });
    this.#rows.part.insert(part);
    append(this.#partsByName, nameId(part), part);
  }

  deletePart(part: PartRow): void {
    remove(this.#partsByName, nameId(part), part);
    this.#rows.part.delete(part);
  }

  anyParked(): boolean {
    return this.#receipts.size > 0;
  }

  parked(name: PartName): ParkedReceipt[] {
    return this.#receipts.named(name);
  }

  parkedForPhone(carrierId: string, phone: string): ParkedReceipt[] {
    return this.#receipts.forPhone(carrierId, phone);
  }

  park(receipt: NewParkedReceipt): ParkedReceipt {
    return this.#receipts.park(receipt);
  }

  unpark(receipt: ParkedReceipt): void {
    this.#receipts.unpark(receipt);
  }

  insertLater(later: LaterReceipt): void {
    this.#receipts.insertLater(later);
  }

  deleteLater(later: LaterReceipt): void {
    this.#receipts.deleteLater(later);
  }

  wallet(accountId: number): Wallet {
    return this.#wallets.wallet(accountId);
  }

  serviceWallet(name: "payments" | "revenue", currency: string): number {
    return this.#parts.serviceWallets.idOf(name, currency);
  }

  post(posting: NewPosting): void {
    this.#wallets.post(posting);
  }

  postNumbered(posting: NewPosting): Promise<number> {
    return this.#wallets.postNumbered(posting);
  }

  bulk(accountId: number, bulkId: string): BulkRow | undefined {
    return this.#rows.bulk.get(bulkRowId({ accountId, bulkId }));
  }

  insertBulk(bulk: BulkRow): void {
    this.#rows.bulk.insert(bulk);
  }

  changeBulk(bulk: BulkRow, change: BulkChange): void {
    this.#rows.bulk.change(bulk, change);
  }

  replay(name: ReplayName): string | undefined {
    return this.#replays.get(replayId(name))?.find(({ bodyHash }) => bodyHash === name.bodyHash)?.answer;
  }

  hasOtherReplay(name: ReplayName): boolean {
    return this.#replays.get(replayId(name))?.some(({ bodyHash }) => bodyHash !== name.bodyHash) === true;
  }

  insertReplay(name: ReplayName, answer: string, atMs: number): void {
    const row = { ...name, answer, atMs };
    this.#rows.replay.insert(row);
    append(this.#replays, replayId(name), row);
  }

  report(id: string): ReportRow | undefined {
    return this.#rows.report.get(id);
  }

  reportWaits(id: string): boolean {
    return this.#waiting.has(id);
  }

  insertReport(fresh: NewReportRow): void {
    this.#rows.report.insert(REPORT.create(fresh));
  }

  changeReport(id: string, change: ReportChange): void {
    this.#rows.report.changeById(id, { id }, change);
    if (change.dead_at_ms != null) this.#waiting.delete(id);
  }

  deleteReport(id: string): void {
    this.#rows.report.delete({ id });
    this.#waiting.delete(id);
  }

  followers(id: string): ReportRow[] {
    return (this.#followers.get(id) ?? []).flatMap((follower) => this.report(follower) ?? []);
  }

  // --- Writing -----------------------------------------------------------------------------------------------------------

  async flush(): Promise<void> {
    const session = this.#parts.session();
    const { message, part, bulk, replay, report } = this.#rows;
    const named = message.inserted.filter((row) => row.client_message_id !== null && !isRejected(row.status_id));
    const sent: Promise<unknown>[] = [
      ...message.flush(session),
      sendRows(session, WRITE.insertNames, named),
      sendRows(session, WRITE.freeNames, this.#freedNames),
      ...part.flush(session),
      ...this.#receipts.flush(session),
      ...this.#wallets.flush(session),
      ...bulk.flush(session),
      ...replay.flush(session),
      ...report.flush(session),
    ];
    this.#freedNames = [];
    await Promise.all(sent);
  }
}
