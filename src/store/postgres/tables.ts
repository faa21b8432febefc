/**
 * The tables on PostgreSQL. What a group of commands needs is read before they run, in one round trip (further ones where what was read leads to
 * more). What they changed is written after, with the commit, in another. In between the rows are in memory (loaded-rows.ts), and this transaction has
 * locks on those that another node could change.
 */
import { UNKNOWN_PREFIX } from "../../carriers/port.ts";
import type { MessageKey } from "../../message/message.ts";
import { isAboutPhone, MAX_SAME_ID } from "../commands/candidates.ts";
import { allReceiptNames, receiptNames } from "../commands/receipt-names.ts";
import type { BulkName, CarrierReceipt, PartName } from "../port.ts";
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
import { POSTING, type PostingRow } from "../schema/posting.ts";
import { LATER, type LaterReceipt, type NewParkedReceipt, PARKED, type ParkedReceipt } from "../schema/receipts.ts";
import { type NewReportRow, REPORT, type ReportChange, type ReportRow } from "../schema/report.ts";
import type { NumberOnList, ReadSet, Tables } from "../tables.ts";
import { checkPosting, type NewPosting, type Wallet, type WalletRow, walletOf } from "../wallet.ts";
import { type RowsStatement, sendRows } from "./columns.ts";
import type { Session } from "./link.ts";
import { LoadedRows, rowId } from "./loaded-rows.ts";
import type { Partitions } from "./partitions.ts";
import type { ServiceWallets } from "./service-wallets.ts";
import { FIND, WRITE, WRITES } from "./statements.ts";

/** SQLSTATE numeric_value_out_of_range. */
const OUT_OF_RANGE = "22003";

const nameId = ({ carrierId, carrierMessageId }: PartName): string => rowId(carrierId, carrierMessageId);
const bulkRowId = ({ accountId, bulkId }: BulkName): string => rowId(accountId, bulkId);
const replayId = ({ accountId, kind, token }: ReplayName): string => rowId(accountId, kind, token);
const byKey = (keys: readonly (string | number)[]): { key: string | number }[] => keys.map((key) => ({ key }));
const idNameOf = (receipt: CarrierReceipt): PartName | null => receiptNames(receipt.carrierId, receipt).byId;

/** Under which a parked receipt is found by phone. */
function phonesOf({ carrierId, to, other }: ParkedReceipt): Set<string> {
  return new Set([to, other].filter((phone) => phone !== null).map((phone) => rowId(carrierId, phone)));
}

function append<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

function remove<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  lists.set(
    key,
    (lists.get(key) ?? []).filter((other) => other !== item),
  );
}

interface WorkingWallet extends Wallet {
  balanceMicros: bigint;
}

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
    parked: new LoadedRows(WRITES.parked),
    posting: new LoadedRows(WRITES.posting),
    bulk: new LoadedRows(WRITES.bulk),
    replay: new LoadedRows(WRITES.replay),
    report: new LoadedRows(WRITES.report),
  };
  /** What was asked for in this transaction, found or not, by statement. */
  readonly #asked = new Map<RowsStatement, Set<string>>();
  readonly #names = new Set<string>();
  readonly #optOuts = new Set<string>();
  readonly #optOutLists = new Set<number>();
  readonly #partsByName = new Map<string, PartRow[]>();
  readonly #parkedByName = new Map<string, ParkedReceipt[]>();
  readonly #parkedByPhone = new Map<string, ParkedReceipt[]>();
  readonly #walletsByAccount = new Map<number, WorkingWallet>();
  readonly #walletsById = new Map<number, WorkingWallet>();
  readonly #replays = new Map<string, ReplayRow[]>();
  /** Reports that are neither settled nor dead. */
  readonly #waiting = new Set<string>();
  readonly #followers = new Map<string, string[]>();
  #freedNames: MessageRow[] = [];
  #newLater: LaterReceipt[] = [];
  #goneLater: LaterReceipt[] = [];
  #postings: NewPosting[] = [];
  /** Rows that the database has not given an id yet have one below 0. */
  #lastId = 0;

  constructor(parts: TablesParts) {
    this.#parts = parts;
  }

  /** Forgets all rows: another transaction begins. */
  begin(): void {
    for (const rows of Object.values(this.#rows)) rows.clear();
    for (const known of [
      this.#asked,
      this.#names,
      this.#optOuts,
      this.#optOutLists,
      this.#partsByName,
      this.#parkedByName,
      this.#parkedByPhone,
      this.#walletsByAccount,
      this.#walletsById,
      this.#replays,
      this.#waiting,
      this.#followers,
    ])
      known.clear();
    this.#nothingToWrite();
  }

  #nothingToWrite(): void {
    this.#freedNames = [];
    this.#newLater = [];
    this.#goneLater = [];
    this.#postings = [];
  }

  /** The names under which a part or a receipt could have come to another node while this transaction was under way. */
  get namesToMatch(): PartName[] {
    const parts = this.#rows.part.inserted.map(({ carrierId, carrierMessageId }) => ({ carrierId, carrierMessageId }));
    return [...parts, ...this.#rows.parked.inserted.flatMap(allReceiptNames)];
  }

  // --- Reading -----------------------------------------------------------------------------------------------------------

  /** Those that the statement was not asked for before. */
  #fresh<Item extends object>(statement: RowsStatement, items: readonly Item[]): readonly Item[] {
    if (items.length === 0) return items;
    const asked = this.#asked.get(statement) ?? new Set();
    this.#asked.set(statement, asked);
    return items.filter((item) => {
      const id = statement.sent.map(({ name }) => (item as Record<string, unknown>)[name]).join("\n");
      if (asked.has(id)) return false;
      asked.add(id);
      return true;
    });
  }

  /** What it finds for them. */
  async #find<Found>(statement: RowsStatement, items: readonly object[]): Promise<Found[]> {
    return (await sendRows<Found>(this.#parts.session(), statement, this.#fresh(statement, items))).rows;
  }

  async load(wanted: ReadSet): Promise<void> {
    const { messages = [], parts = [], receipts = [], parked = [], wallets = [], names = [], numbers = [] } = wanted;
    const { bulks = [], lockedBulks = [], replays = [], reports = [], leaders = [], newKeys = [] } = wanted;
    const { partitions } = this.#parts;
    const homeless = newKeys.filter((key) => !partitions.covers(key));
    if (homeless.length > 0) await partitions.ensure(homeless);
    await Promise.all([
      this.#find<MessageRow>(FIND.messages, byKey(messages)).then((rows) => this.cache(rows)),
      this.#loadParts([...parts, ...receipts.flatMap((receipt) => idNameOf(receipt) ?? [])]),
      this.#loadParked(parked),
      this.#loadWallets(wallets),
      this.#loadNames(names, numbers),
      this.#loadBulks(bulks, lockedBulks),
      this.#find<ReplayRow>(FIND.replays, replays).then((rows) => {
        for (const row of rows) append(this.#replays, replayId(row), row);
      }),
      this.#find<ReportRow>(FIND.reports, byKey(reports)).then((rows) => {
        for (const row of rows) this.#rows.report.keep(row);
      }),
      this.#loadFollowers(leaders),
    ]);
    // Receipts that are found by no id are rare, and so are parked ones: only for those the parts of their phones.
    const lost = receipts.filter((receipt) => !this.#isFound(receipt));
    const waiting = [...this.#parkedByName.values(), ...this.#parkedByPhone.values()].flat();
    await this.#loadParts([...lost, ...waiting].flatMap(allReceiptNames));
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
      refunds === true ? this.#loadWallets(messages.map((row) => row.account_id)) : null,
      this.#find<{ id: string }>(FIND.waiting, byKey(reports)).then((rows) => {
        for (const { id } of rows) if (!this.#rows.report.isGone(id)) this.#waiting.add(id);
      }),
    ]);
  }

  /** Parts come and go under the lock of their message: so first the messages, locked, and then the parts as they are now. */
  async #loadParts(names: readonly PartName[]): Promise<void> {
    const session = this.#parts.session();
    const fresh = this.#fresh(FIND.parts, names);
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

  async #loadParked(names: readonly PartName[]): Promise<void> {
    const phones = names.filter(({ carrierMessageId }) => carrierMessageId.startsWith(UNKNOWN_PREFIX));
    const toPhone = phones.map(({ carrierId, carrierMessageId }) => ({
      carrierId,
      carrierMessageId: carrierMessageId.slice(UNKNOWN_PREFIX.length),
    }));
    const found = await Promise.all([
      this.#find<ParkedReceipt>(FIND.parked, names),
      this.#find<ParkedReceipt>(FIND.parkedForPhone, toPhone),
    ]);
    // One that is found in several ways is still one.
    for (const receipt of found.flat().toSorted((one, other) => one.id - other.id))
      if (this.#rows.parked.get(String(receipt.id)) === undefined) this.#keepParked(this.#rows.parked.keep(receipt));
  }

  #keepParked(receipt: ParkedReceipt): void {
    append(this.#parkedByName, nameId(receipt), receipt);
    for (const phone of phonesOf(receipt)) append(this.#parkedByPhone, phone, receipt);
  }

  async #loadWallets(accountIds: readonly number[]): Promise<void> {
    const rows = await this.#find<WalletRow & { accountId: number }>(FIND.wallets, byKey(accountIds));
    for (const row of rows) {
      const wallet: WorkingWallet = walletOf(row);
      this.#walletsByAccount.set(row.accountId, wallet);
      this.#walletsById.set(row.id, wallet);
    }
    await this.#parts.serviceWallets.ensure(rows.map(({ currency }) => currency));
  }

  async #loadNames(
    names: readonly { accountId: number; clientMessageId: string }[],
    numbers: readonly NumberOnList[],
  ): Promise<void> {
    const [taken, optOuts] = await Promise.all([
      this.#find<{ accountId: number; clientMessageId: string }>(FIND.names, names),
      this.#find<NumberOnList>(FIND.optOuts, numbers),
    ]);
    for (const { accountId, clientMessageId } of taken) this.#names.add(rowId(accountId, clientMessageId));
    for (const { list, number } of optOuts) {
      this.#optOutLists.add(list);
      this.#optOuts.add(rowId(list, number));
    }
  }

  async #loadBulks(names: readonly BulkName[], locked: readonly BulkName[]): Promise<void> {
    const found = await Promise.all([
      this.#find<BulkRow>(FIND.bulks, names),
      this.#find<BulkRow>(FIND.lockedBulks, locked),
    ]);
    for (const row of found.flat()) this.#rows.bulk.refresh(row);
  }

  async #loadFollowers(ids: readonly string[]): Promise<void> {
    // First the lock: whoever adds a follower shares it until the follower can be seen.
    const locked = this.#find(FIND.leaders, byKey(ids));
    const rows = await this.#find<ReportRow & { after_id: string }>(FIND.followers, byKey(ids));
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
    return this.#parkedByName.size + this.#parkedByPhone.size > 0;
  }

  parked(name: PartName): ParkedReceipt[] {
    return (this.#parkedByName.get(nameId(name)) ?? []).slice(-MAX_SAME_ID);
  }

  parkedForPhone(carrierId: string, phone: string): ParkedReceipt[] {
    return (this.#parkedByPhone.get(rowId(carrierId, phone)) ?? []).slice(-MAX_SAME_ID);
  }

  park(fresh: NewParkedReceipt): ParkedReceipt {
    const receipt = PARKED.create({ ...fresh, id: --this.#lastId });
    this.#rows.parked.insert(receipt);
    this.#keepParked(receipt);
    return receipt;
  }

  unpark(receipt: ParkedReceipt): void {
    remove(this.#parkedByName, nameId(receipt), receipt);
    for (const phone of phonesOf(receipt)) remove(this.#parkedByPhone, phone, receipt);
    this.#rows.parked.delete(receipt);
  }

  insertLater(later: LaterReceipt): void {
    this.#newLater.push(LATER.create(later));
  }

  deleteLater(later: LaterReceipt): void {
    this.#goneLater.push(later);
  }

  wallet(accountId: number): Wallet {
    const wallet = this.#walletsByAccount.get(accountId);
    if (wallet === undefined) throw new Error(`account ${accountId} has no wallet`);
    return { ...wallet };
  }

  serviceWallet(name: "payments" | "revenue", currency: string): number {
    return this.#parts.serviceWallets.idOf(name, currency);
  }

  post(posting: NewPosting): void {
    this.#rows.posting.insert(this.#moveInMemory(posting));
    this.#postings.push(posting);
  }

  #moveInMemory(posting: NewPosting): PostingRow {
    const { from, to, amountMicros } = posting;
    const source = this.#walletsById.get(from);
    const target = this.#walletsById.get(to);
    checkPosting(posting, target);
    const row = POSTING.create({ ...posting, id: --this.#lastId, amountMicros: amountMicros.toString() });
    if (source !== undefined) source.balanceMicros -= amountMicros;
    if (target !== undefined) target.balanceMicros += amountMicros;
    return row;
  }

  async postNumbered(posting: NewPosting): Promise<number> {
    const row = this.#moveInMemory(posting);
    const session = this.#parts.session();
    const { rows } = await sendRows<{ id: number }>(session, WRITE.postNumbered, [row]);
    await this.#move(session, [posting]);
    return rows[0]!.id;
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
    const { message, part, parked, posting, bulk, replay, report } = this.#rows;
    const named = message.inserted.filter((row) => row.client_message_id !== null && !isRejected(row.status_id));
    const sent: Promise<unknown>[] = [
      ...message.flush(session),
      sendRows(session, WRITE.insertNames, named),
      sendRows(session, WRITE.freeNames, this.#freedNames),
      ...part.flush(session),
      ...parked.flush(session),
      // One that was recorded in this same transaction may have to go.
      sendRows(session, WRITE.insertLater, this.#newLater),
      sendRows(session, WRITE.deleteLater, this.#goneLater),
      ...posting.flush(session),
      this.#postings.length === 0 ? Promise.resolve() : this.#move(session, this.#postings),
      ...bulk.flush(session),
      ...replay.flush(session),
      ...report.flush(session),
    ];
    this.#nothingToWrite();
    await Promise.all(sent);
  }

  /** Moves what the postings come to for each wallet, by its id: all nodes move money in one order, and none waits for another in a ring. */
  async #move(session: Session, postings: readonly NewPosting[]): Promise<void> {
    const { serviceWallets } = this.#parts;
    const moves = new Map<number, bigint>();
    for (const { from, to, amountMicros } of postings) {
      moves.set(from, (moves.get(from) ?? 0n) - amountMicros);
      moves.set(to, (moves.get(to) ?? 0n) + amountMicros);
    }
    const inOrder = [...moves].sort(([first], [second]) => first - second);
    for (const [id, amount] of inOrder) serviceWallets.moves(id, amount);
    try {
      await session.query(WRITE.move, [inOrder.map(([id]) => id), inOrder.map(([, amount]) => amount.toString())]);
    } catch (error) {
      if ((error as { code?: string }).code === OUT_OF_RANGE) serviceWallets.doubt();
      throw error;
    }
  }
}
