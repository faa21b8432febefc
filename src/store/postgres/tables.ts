/**
 * The tables on PostgreSQL: what a group of commands needs is read before they run, in one round trip (further ones where what was
 * read leads to more), and what they changed is written after, with the commit, in another. In between the rows are in memory, and this
 * transaction has locks on those that another node could change.
 */
import { UNKNOWN_PREFIX } from "../../carriers/port.ts";
import type { MessageKey } from "../../message/message.ts";
import { isAboutPhone, MAX_SAME_ID } from "../commands/candidates.ts";
import { allReceiptNames, receiptNames } from "../commands/receipt-names.ts";
import type { BulkName, CarrierReceipt, LaterReceipt, ParkedReceipt, PartName } from "../port.ts";
import {
  type BulkRow,
  isRejected,
  type MessageChange,
  type MessageRow,
  type NewMessageRow,
  type NewReportRow,
  type PartRow,
  type ReportRow,
  type WalletRow,
  walletOf,
} from "../rows.ts";
import {
  checkPosting,
  type NewPart,
  type NewPosting,
  type NumberOnList,
  type ReadSet,
  type ReplayName,
  type Tables,
  type Wallet,
} from "../tables.ts";
import { type ColumnTypes, insertRows, sendRows, updating } from "./columns.ts";
import type { Session } from "./link.ts";
import type { Partitions } from "./partitions.ts";
import type { ServiceWallets } from "./service-wallets.ts";
import {
  BULK,
  FIND,
  ID,
  LATER,
  LATER_NAME,
  NEW_NAME,
  NEW_PARKED,
  NEW_PART,
  NEW_REPLAY,
  NEW_REPORT,
  POSTING,
  pick,
  REPORT,
  WANTED_KEY,
  WANTED_PART,
  WRITE,
} from "./statements.ts";

/** SQLSTATE numeric_value_out_of_range. */
const OUT_OF_RANGE = "22003";

const partId = ({ carrierId, carrierMessageId }: PartName): string => `${carrierId} ${carrierMessageId}`;
const bulkId = ({ accountId, bulkId }: BulkName): string => `${accountId} ${bulkId}`;
const replayId = ({ accountId, kind, token }: ReplayName): string => `${accountId} ${kind} ${token}`;

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

const idNameOf = (receipt: CarrierReceipt): PartName | null => receiptNames(receipt.carrierId, receipt).byId;

/** Under which a parked receipt is found by phone. */
function phonesOf({ carrierId, to, other = null }: ParkedReceipt): Set<string> {
  return new Set([to, other].filter((phone) => phone !== null).map((phone) => `${carrierId} ${phone}`));
}

/** The part of a list that was not asked for before; `asked` remembers it. */
function fresh<Item>(items: readonly Item[] | undefined, asked: Set<string>, idOf: (item: Item) => string): Item[] {
  if (items === undefined) return [];
  return items.filter((item) => {
    const id = idOf(item);
    if (asked.has(id)) return false;
    asked.add(id);
    return true;
  });
}

interface WorkingWallet extends Wallet {
  balanceMicros: bigint;
}

/** A part's row here: one that is not written yet has no id. */
interface WorkingPart extends PartRow, PartName {
  readonly written: NewPart | null;
}

type FoundPart = PartRow & PartName;

export interface TablesParts {
  readonly session: () => Session;
  readonly partitions: Partitions;
  readonly serviceWallets: ServiceWallets;
}

export class PostgresTables implements Tables {
  readonly #parts: TablesParts;
  /** What was asked for in this transaction, found or not. */
  #asked = new Set<string>();
  #messages = new Map<MessageKey, MessageRow>();
  #changed = new Set<MessageKey>();
  /** In which columns any of them differs from what is stored. */
  #changedColumns = new Set<string>();
  #newMessages: NewMessageRow[] = [];
  #names = new Set<string>();
  #freedNames: { account_id: number; client_message_id: string; message_key: string }[] = [];
  #optOuts = new Set<string>();
  #optOutLists = new Set<number>();
  #pieces = new Map<string, WorkingPart[]>();
  #newPieces = new Set<WorkingPart>();
  #gonePieces: number[] = [];
  #parked = new Map<string, ParkedReceipt[]>();
  #parkedPhones = new Map<string, ParkedReceipt[]>();
  #newParked = new Set<ParkedReceipt>();
  #unparked: number[] = [];
  #newLater: object[] = [];
  #goneLater: object[] = [];
  #wallets = new Map<number, WorkingWallet>();
  #walletsById = new Map<number, WorkingWallet>();
  #postings: NewPosting[] = [];
  #bulks = new Map<string, BulkRow>();
  #newBulks: BulkRow[] = [];
  #bulkChanges = new Map<string, Partial<BulkRow>>();
  #replays = new Map<string, { bodyHash: string; answer: string }[]>();
  #newReplays: object[] = [];
  #reports = new Map<string, ReportRow>();
  #waiting = new Set<string>();
  #followers = new Map<string, string[]>();
  #newReports: NewReportRow[] = [];
  #reportChanges = new Map<string, Partial<ReportRow>>();
  #goneReports = new Set<string>();

  constructor(parts: TablesParts) {
    this.#parts = parts;
  }

  /** Forgets all rows: another transaction begins. */
  begin(): void {
    this.#asked = new Set();
    this.#messages = new Map();
    this.#names = new Set();
    this.#optOuts = new Set();
    this.#optOutLists = new Set();
    this.#pieces = new Map();
    this.#parked = new Map();
    this.#parkedPhones = new Map();
    this.#wallets = new Map();
    this.#walletsById = new Map();
    this.#bulks = new Map();
    this.#replays = new Map();
    this.#reports = new Map();
    this.#waiting = new Set();
    this.#followers = new Map();
    this.#nothingToWrite();
  }

  #nothingToWrite(): void {
    this.#changed = new Set();
    this.#changedColumns = new Set();
    this.#newMessages = [];
    this.#freedNames = [];
    this.#newPieces = new Set();
    this.#gonePieces = [];
    this.#newParked = new Set();
    this.#unparked = [];
    this.#newLater = [];
    this.#goneLater = [];
    this.#postings = [];
    this.#newBulks = [];
    this.#bulkChanges = new Map();
    this.#newReplays = [];
    this.#newReports = [];
    this.#reportChanges = new Map();
    this.#goneReports = new Set();
  }

  /** The names under which a part or a receipt could have come to another node while this transaction was under way. */
  get namesToMatch(): PartName[] {
    const parts = [...this.#newPieces].map(({ carrierId, carrierMessageId }) => ({ carrierId, carrierMessageId }));
    return [...parts, ...[...this.#newParked].flatMap(allReceiptNames)];
  }

  // --- Reading -----------------------------------------------------------------------------------------------------------

  async load(needs: ReadSet): Promise<void> {
    const { partitions } = this.#parts;
    const homeless = (needs.newKeys ?? []).filter((key) => !partitions.covers(key));
    if (homeless.length > 0) await partitions.ensure(homeless);
    await Promise.all([
      this.#loadMessages(needs.messages ?? []),
      this.#loadParts([...(needs.parts ?? []), ...(needs.receipts ?? []).flatMap((each) => idNameOf(each) ?? [])]),
      this.#loadParked(needs.parked ?? []),
      this.#loadWallets(needs.wallets ?? []),
      this.#loadNames(needs),
      this.#loadBulks(needs.bulks ?? [], false),
      this.#loadBulks(needs.lockedBulks ?? [], true),
      this.#loadReplays(needs),
      this.#loadReports(needs),
    ]);
    // Receipts that are found by no id are rare, and so are parked ones: only for those the parts of their phones.
    const lost = (needs.receipts ?? []).filter((receipt) => !this.#isFound(receipt));
    const parked = [...this.#parked.values(), ...this.#parkedPhones.values()].flat();
    await this.#loadParts([...lost, ...parked].flatMap(allReceiptNames));
    await this.#loadFurther(needs);
  }

  #isFound(receipt: CarrierReceipt): boolean {
    const name = idNameOf(receipt);
    const parts = name === null ? [] : (this.#pieces.get(partId(name)) ?? []);
    return parts.some(({ key }) => {
      const row = this.#messages.get(key);
      return row === undefined || isAboutPhone(receipt, row.recipient);
    });
  }

  /** What depends on the messages that were read. */
  async #loadFurther(needs: ReadSet): Promise<void> {
    const messages = [...this.#messages.values()];
    const bulks = messages.filter((row) => row.bulk_version !== null);
    const reports = messages.flatMap((row) => (row.intermediate === 1 ? (row.last_report_id ?? []) : []));
    await Promise.all([
      this.#loadBulks(
        bulks.map((row) => ({ accountId: row.account_id, bulkId: row.bulk_id })),
        false,
      ),
      needs.refunds === true ? this.#loadWallets(messages.map((row) => row.account_id)) : null,
      this.#loadWaiting(reports),
    ]);
  }

  async #loadMessages(keys: readonly MessageKey[]): Promise<void> {
    const wanted = fresh(keys, this.#asked, (key) => `message ${key}`).map((key) => ({ wanted_key: key }));
    const { rows } = await sendRows<MessageRow>(this.#parts.session(), FIND.messages, WANTED_KEY, wanted);
    this.cache(rows);
  }

  /** Parts come and go under the lock of their message: so first the messages, locked, and then the parts as they are now. */
  async #loadParts(names: readonly PartName[]): Promise<void> {
    const wanted = fresh(names, this.#asked, (name) => `part ${partId(name)}`);
    const session = this.#parts.session();
    const sent = wanted.map(wantedPart);
    const [messages, parts] = await Promise.all([
      sendRows<MessageRow>(session, FIND.messagesOfParts, WANTED_PART, sent),
      sendRows<FoundPart>(session, FIND.parts, WANTED_PART, sent),
    ]);
    this.cache(messages.rows);
    const found = await this.#withMessages(wanted, parts.rows);
    for (const part of found) append(this.#pieces, partId(part), { ...part, written: null });
  }

  /** A part that was written between the two statements has no message here yet. One whose message has left the store has none for good. */
  async #withMessages(
    names: readonly PartName[],
    parts: readonly FoundPart[],
    tried = new Set<MessageKey>(),
  ): Promise<readonly FoundPart[]> {
    const missing = parts.map(({ key }) => key).filter((key) => !this.#messages.has(key) && !tried.has(key));
    if (missing.length === 0) return parts;
    for (const key of missing) tried.add(key);
    const session = this.#parts.session();
    const wanted = missing.map((key) => ({ wanted_key: key }));
    const [messages, again] = await Promise.all([
      sendRows<MessageRow>(session, FIND.messages, WANTED_KEY, wanted),
      sendRows<FoundPart>(session, FIND.parts, WANTED_PART, names.map(wantedPart)),
    ]);
    this.cache(messages.rows);
    return this.#withMessages(names, again.rows, tried);
  }

  async #loadParked(names: readonly PartName[]): Promise<void> {
    const wanted = fresh(names, this.#asked, (name) => `parked ${partId(name)}`);
    const phones = wanted.filter(({ carrierMessageId }) => carrierMessageId.startsWith(UNKNOWN_PREFIX));
    const toPhone = phones.map((name) => ({
      ...name,
      carrierMessageId: name.carrierMessageId.slice(UNKNOWN_PREFIX.length),
    }));
    const session = this.#parts.session();
    const [byId, byPhone] = await Promise.all([
      sendRows<ParkedReceipt>(session, FIND.parked, WANTED_PART, wanted.map(wantedPart)),
      sendRows<ParkedReceipt>(session, FIND.parkedForPhone, WANTED_PART, toPhone.map(wantedPart)),
    ]);
    // One that is found in several ways is still one.
    const found = [...byId.rows, ...byPhone.rows].toSorted((one, other) => one.id - other.id);
    for (const receipt of fresh(found, this.#asked, ({ id }) => `parked receipt ${id}`)) this.#keepParked(receipt);
  }

  #keepParked(receipt: ParkedReceipt): void {
    append(this.#parked, partId(receipt), receipt);
    for (const phone of phonesOf(receipt)) append(this.#parkedPhones, phone, receipt);
  }

  async #loadWallets(accountIds: readonly number[]): Promise<void> {
    const wanted = fresh(accountIds, this.#asked, (id) => `wallet ${id}`).map((id) => ({ wanted_key: id }));
    const session = this.#parts.session();
    const { rows } = await sendRows<WalletRow & { accountId: number }>(session, FIND.wallets, WANTED_KEY, wanted);
    for (const row of rows) {
      const wallet: WorkingWallet = walletOf(row);
      this.#wallets.set(row.accountId, wallet);
      this.#walletsById.set(row.id, wallet);
    }
    await this.#parts.serviceWallets.ensure(rows.map(({ currency }) => currency));
  }

  async #loadNames({ names, numbers }: ReadSet): Promise<void> {
    const session = this.#parts.session();
    const wantedNames = fresh(names, this.#asked, (name) => `name ${name.accountId} ${name.clientMessageId}`);
    const wantedNumbers = fresh(numbers, this.#asked, ({ list, number }) => `number ${list} ${number}`);
    const [taken, optOuts] = await Promise.all([
      sendRows<{ accountId: number; clientMessageId: string }>(
        session,
        FIND.names,
        { wanted_account: "bigint", wanted_name: "text" },
        wantedNames.map((name) => ({ wanted_account: name.accountId, wanted_name: name.clientMessageId })),
      ),
      sendRows<NumberOnList>(
        session,
        FIND.optOuts,
        { wanted_list: "bigint", wanted_number: "text" },
        wantedNumbers.map(({ list, number }) => ({ wanted_list: list, wanted_number: number })),
      ),
    ]);
    for (const { accountId, clientMessageId } of taken.rows) this.#names.add(`${accountId} ${clientMessageId}`);
    for (const { list, number } of optOuts.rows) {
      this.#optOutLists.add(list);
      this.#optOuts.add(`${list} ${number}`);
    }
  }

  async #loadBulks(names: readonly BulkName[], locked: boolean): Promise<void> {
    const wanted = fresh(names, this.#asked, (name) => `bulk ${bulkId(name)}${locked ? " locked" : ""}`);
    const { rows } = await sendRows<BulkRow>(
      this.#parts.session(),
      locked ? `${FIND.bulks} FOR UPDATE OF bulk` : FIND.bulks,
      { wanted_account: "bigint", wanted_bulk: "text" },
      wanted.map((name) => ({ wanted_account: name.accountId, wanted_bulk: name.bulkId })),
    );
    for (const row of rows) {
      const id = bulkId({ accountId: row.account_id, bulkId: row.bulk_id });
      this.#bulks.set(id, { ...row, ...this.#bulkChanges.get(id) });
    }
  }

  async #loadReplays({ replays }: ReadSet): Promise<void> {
    const wanted = fresh(replays, this.#asked, (name) => `replay ${replayId(name)} ${name.bodyHash}`);
    const { rows } = await sendRows<ReplayName & { answer: string }>(
      this.#parts.session(),
      FIND.replays,
      { wanted_account: "bigint", wanted_kind: "text", wanted_token: "text", wanted_hash: "text" },
      wanted.map(({ accountId, kind, token, bodyHash }) => ({
        wanted_account: accountId,
        wanted_kind: kind,
        wanted_token: token,
        wanted_hash: bodyHash,
      })),
    );
    for (const row of rows) append(this.#replays, replayId(row), { bodyHash: row.bodyHash, answer: row.answer });
  }

  async #loadReports({ reports, leaders }: ReadSet): Promise<void> {
    const session = this.#parts.session();
    const wanted = fresh(reports, this.#asked, (id) => `report ${id}`).map((id) => ({ wanted_key: id }));
    const [whole] = await Promise.all([
      sendRows<ReportRow>(session, FIND.reports, WANTED_KEY, wanted),
      this.#loadFollowers(leaders ?? []),
    ]);
    for (const row of whole.rows) this.#reports.set(row.id, row);
  }

  async #loadFollowers(ids: readonly string[]): Promise<void> {
    const wanted = fresh(ids, this.#asked, (id) => `leader ${id}`).map((id) => ({ wanted_key: id }));
    const session = this.#parts.session();
    // First the lock: whoever adds a follower shares it until the follower can be seen.
    const locked = sendRows(session, FIND.leaders, WANTED_KEY, wanted);
    const { rows } = await sendRows<ReportRow & { after_id: string }>(session, FIND.followers, WANTED_KEY, wanted);
    await locked;
    for (const row of rows) {
      this.#reports.set(row.id, row);
      append(this.#followers, row.after_id, row.id);
    }
    // Behind one that went out as part of another there may be more.
    const empty = rows.filter(({ items }) => items === "[]").map(({ id }) => id);
    if (empty.length > 0) await this.#loadFollowers(empty);
  }

  async #loadWaiting(ids: readonly string[]): Promise<void> {
    const wanted = fresh(ids, this.#asked, (id) => `waiting ${id}`).map((id) => ({ wanted_key: id }));
    const { rows } = await sendRows<{ id: string }>(this.#parts.session(), FIND.waiting, WANTED_KEY, wanted);
    for (const { id } of rows) if (!this.#goneReports.has(id)) this.#waiting.add(id);
  }

  /** Other nodes claim and release too: it has to be looked for every time. */
  nextWaiting(): null {
    return null;
  }

  claimedUpTo(): void {}

  cache(rows: readonly MessageRow[]): MessageRow[] {
    return rows.map((row) => {
      const known = this.#messages.get(row.key);
      if (known !== undefined) return known;
      this.#messages.set(row.key, row);
      return row;
    });
  }

  // --- The commands' side ------------------------------------------------------------------------------------------------

  message(key: MessageKey): MessageRow | undefined {
    return this.#messages.get(key);
  }

  insertMessage(row: NewMessageRow): void {
    this.#newMessages.push(row);
    if (row.client_message_id !== null && !isRejected(row.status_id)) {
      this.#names.add(`${row.account_id} ${row.client_message_id}`);
    }
  }

  changeMessage(row: MessageRow, change: MessageChange): MessageRow {
    const known = this.#messages.get(row.key) ?? row;
    const changed = { ...known, ...change };
    this.#messages.set(row.key, changed);
    this.#changed.add(row.key);
    for (const column of Object.keys(change) as (keyof MessageChange)[]) {
      if (changed[column] !== known[column]) this.#changedColumns.add(column);
    }
    const { account_id, client_message_id, status_id, key } = changed;
    if (client_message_id !== null && isRejected(status_id) && !isRejected(row.status_id)) {
      this.#freedNames.push({ account_id, client_message_id, message_key: key });
    }
    return changed;
  }

  isNamed(accountId: number, clientMessageId: string): boolean {
    return this.#names.has(`${accountId} ${clientMessageId}`);
  }

  hasOptOuts(list: number): boolean {
    return this.#optOutLists.has(list);
  }

  isOptedOut({ list, number }: NumberOnList): boolean {
    return this.#optOuts.has(`${list} ${number}`);
  }

  parts(name: PartName): readonly PartRow[] {
    return this.#pieces.get(partId(name)) ?? [];
  }

  insertPart(part: NewPart): void {
    const { carrierId, carrierMessageId, messageKey, counts, submittedAtMs } = part;
    const piece: WorkingPart = {
      id: null,
      key: messageKey,
      counts: counts ? 1 : 0,
      submittedAtMs,
      carrierId,
      carrierMessageId,
      written: part,
    };
    append(this.#pieces, partId(part), piece);
    this.#newPieces.add(piece);
  }

  deletePart(part: PartRow): void {
    const piece = part as WorkingPart;
    const id = partId(piece);
    this.#pieces.set(
      id,
      this.#pieces.get(id)!.filter((other) => other !== piece),
    );
    if (!this.#newPieces.delete(piece)) this.#gonePieces.push(piece.id!);
  }

  anyParked(): boolean {
    return this.#parked.size + this.#parkedPhones.size > 0;
  }

  parked(name: PartName): ParkedReceipt[] {
    return (this.#parked.get(partId(name)) ?? []).slice(-MAX_SAME_ID);
  }

  parkedForPhone(carrierId: string, phone: string): ParkedReceipt[] {
    return (this.#parkedPhones.get(`${carrierId} ${phone}`) ?? []).slice(-MAX_SAME_ID);
  }

  park(receipt: Omit<ParkedReceipt, "id">): ParkedReceipt {
    const parked: ParkedReceipt = { ...receipt, id: 0 };
    this.#newParked.add(parked);
    this.#keepParked(parked);
    return parked;
  }

  unpark(receipt: ParkedReceipt): void {
    remove(this.#parked, partId(receipt), receipt);
    for (const phone of phonesOf(receipt)) remove(this.#parkedPhones, phone, receipt);
    if (!this.#newParked.delete(receipt)) this.#unparked.push(receipt.id);
  }

  insertLater(later: LaterReceipt): void {
    this.#newLater.push(laterRow(later));
  }

  deleteLater(later: LaterReceipt): void {
    this.#goneLater.push(laterRow(later));
  }

  wallet(accountId: number): Wallet {
    const wallet = this.#wallets.get(accountId);
    if (wallet === undefined) throw new Error(`account ${accountId} has no wallet`);
    return { ...wallet };
  }

  serviceWallet(name: "payments" | "revenue", currency: string): number {
    return this.#parts.serviceWallets.idOf(name, currency);
  }

  post(posting: NewPosting): void {
    this.#moveInMemory(posting);
    this.#postings.push(posting);
  }

  #moveInMemory(posting: NewPosting): void {
    const { from, to, amountMicros } = posting;
    const source = this.#walletsById.get(from);
    const target = this.#walletsById.get(to);
    checkPosting(posting, target);
    if (source !== undefined) source.balanceMicros -= amountMicros;
    if (target !== undefined) target.balanceMicros += amountMicros;
  }

  async postNumbered(posting: NewPosting): Promise<number> {
    this.#moveInMemory(posting);
    const session = this.#parts.session();
    const { rows } = await sendRows<{ id: number }>(session, WRITE.postNumbered, POSTING, [postingRow(posting)]);
    await this.#move(session, [posting]);
    return rows[0]!.id;
  }

  bulk(accountId: number, id: string): BulkRow | undefined {
    return this.#bulks.get(bulkId({ accountId, bulkId: id }));
  }

  insertBulk(bulk: BulkRow): void {
    this.#newBulks.push(bulk);
    this.#bulks.set(bulkId({ accountId: bulk.account_id, bulkId: bulk.bulk_id }), bulk);
  }

  changeBulk(bulk: BulkRow, change: Partial<BulkRow>): void {
    const id = bulkId({ accountId: bulk.account_id, bulkId: bulk.bulk_id });
    this.#bulks.set(id, { ...(this.#bulks.get(id) ?? bulk), ...change });
    this.#bulkChanges.set(id, { ...this.#bulkChanges.get(id), ...change });
  }

  replay(name: ReplayName): string | undefined {
    return this.#replays.get(replayId(name))?.find(({ bodyHash }) => bodyHash === name.bodyHash)?.answer;
  }

  hasOtherReplay(name: ReplayName): boolean {
    return this.#replays.get(replayId(name))?.some(({ bodyHash }) => bodyHash !== name.bodyHash) === true;
  }

  insertReplay(name: ReplayName, answer: string, atMs: number): void {
    const { accountId: account_id, kind, token, bodyHash: body_hash } = name;
    this.#newReplays.push({ account_id, kind, token, body_hash, answer, at_ms: atMs });
    append(this.#replays, replayId(name), { bodyHash: name.bodyHash, answer });
  }

  report(id: string): ReportRow | undefined {
    return this.#goneReports.has(id) ? undefined : this.#reports.get(id);
  }

  reportWaits(id: string): boolean {
    return this.#waiting.has(id);
  }

  insertReport(row: NewReportRow): void {
    this.#newReports.push(row);
  }

  changeReport(id: string, change: Partial<ReportRow>): void {
    this.#reportChanges.set(id, { ...this.#reportChanges.get(id), ...change });
    const known = this.#reports.get(id);
    if (known !== undefined) this.#reports.set(id, { ...known, ...change });
    if (change.dead_at_ms != null) this.#waiting.delete(id);
  }

  deleteReport(id: string): void {
    this.#goneReports.add(id);
    this.#reportChanges.delete(id);
    this.#waiting.delete(id);
  }

  followers(id: string): ReportRow[] {
    return (this.#followers.get(id) ?? []).flatMap((follower) => this.report(follower) ?? []);
  }

  // --- Writing -----------------------------------------------------------------------------------------------------------

  async flush(): Promise<void> {
    const session = this.#parts.session();
    const send = (text: string, types: ColumnTypes, rows: readonly object[]) => sendRows(session, text, types, rows);
    const named = this.#newMessages.filter((row) => row.client_message_id !== null && !isRejected(row.status_id));
    const changing = WRITE.changeMessages.with((column) => this.#changedColumns.has(column));
    const sent: Promise<unknown>[] = [
      insertRows(session, WRITE.insertMessages, this.#newMessages),
      send(
        WRITE.insertNames,
        NEW_NAME,
        named.map(({ key, ...row }) => ({ ...row, message_key: key })),
      ),
      send(
        changing.text,
        changing.types,
        [...this.#changed].map((key) => this.#messages.get(key)!),
      ),
      send(WRITE.freeNames, NEW_NAME, this.#freedNames),
      send(
        WRITE.insertParts,
        NEW_PART,
        [...this.#newPieces].map(({ written }) => partRow(written!)),
      ),
      send(
        WRITE.deleteParts,
        ID,
        this.#gonePieces.map((id) => ({ id })),
      ),
      send(WRITE.park, NEW_PARKED, [...this.#newParked].map(parkedRow)),
      send(
        WRITE.unpark,
        ID,
        this.#unparked.map((id) => ({ id })),
      ),
      // One that was recorded in this same transaction may have to go.
      send(WRITE.insertLater, LATER, this.#newLater),
      send(WRITE.deleteLater, LATER_NAME, this.#goneLater),
      insertRows(session, WRITE.post, this.#postings.map(postingRow)),
      this.#postings.length === 0 ? Promise.resolve() : this.#move(session, this.#postings),
      ...this.#sendBulks(session),
      send(WRITE.insertReplays, NEW_REPLAY, this.#newReplays),
      send(WRITE.insertReports, NEW_REPORT, this.#newReports),
      ...changesByColumns(
        "report",
        ["id"],
        REPORT,
        [...this.#reportChanges].map(([id, change]) => ({ ...change, id })),
      ).map(({ text, types, rows }) => send(text, types, rows)),
      send(
        WRITE.deleteReports,
        ID,
        [...this.#goneReports].map((id) => ({ id })),
      ),
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

  #sendBulks(session: Session): Promise<unknown>[] {
    const fresh = new Set(this.#newBulks.map((row) => bulkId({ accountId: row.account_id, bulkId: row.bulk_id })));
    const inserted = [...fresh].map((id) => this.#bulks.get(id)!);
    const changes = [...this.#bulkChanges].filter(([id]) => !fresh.has(id));
    const rows = changes.map(([id, change]) => {
      const { account_id, bulk_id } = this.#bulks.get(id)!;
      return { ...change, account_id, bulk_id };
    });
    return [
      sendRows(session, WRITE.insertBulks, BULK, inserted),
      ...changesByColumns("bulk", ["account_id", "bulk_id"], BULK, rows).map(({ text, types, rows }) =>
        sendRows(session, text, types, rows),
      ),
    ];
  }
}

/** Rows that change the same columns are changed together, and no column that they do not name. */
function changesByColumns(
  table: string,
  key: readonly string[],
  types: ColumnTypes,
  rows: readonly object[],
): { text: string; types: ColumnTypes; rows: object[] }[] {
  const groups = new Map<string, { types: ColumnTypes; rows: object[] }>();
  for (const row of rows) {
    const columns = Object.keys(types).filter((column) => column in row);
    const group = groups.get(columns.join());
    if (group === undefined) groups.set(columns.join(), { types: pick(types, columns), rows: [row] });
    else group.rows.push(row);
  }
  return [...groups.values()].map((group) => ({ ...group, text: updating(table, key, group.types) }));
}

function wantedPart({ carrierId, carrierMessageId }: PartName): object {
  return { wanted_carrier: carrierId, wanted_id: carrierMessageId };
}

function partRow({ carrierId, carrierMessageId, messageKey, counts, submittedAtMs, expiresAtMs }: NewPart): object {
  return {
    carrier_id: carrierId,
    carrier_message_id: carrierMessageId,
    message_key: messageKey,
    counts: counts ? 1 : 0,
    submitted_at_ms: submittedAtMs,
    expires_at_ms: expiresAtMs,
  };
}

function parkedRow(receipt: ParkedReceipt): object {
  const { carrierId, carrierMessageId, outcome, errorId, atMs, mccMnc, to, other, repeated } = receipt;
  const { why, times, submittedAtMs, octets, messageKey } = receipt;
  return {
    carrier_id: carrierId,
    carrier_message_id: carrierMessageId,
    outcome,
    error_id: errorId,
    at_ms: atMs,
    mcc_mnc: mccMnc,
    recipient: to,
    other_address: other ?? null,
    repeated,
    why,
    times,
    submitted_at_ms: submittedAtMs ?? null,
    octets: octets ?? null,
    message_key: messageKey,
  };
}

function laterRow({ messageKey, carrierId, carrierMessageId, outcome, errorId, atMs }: LaterReceipt): object {
  return {
    message_key: messageKey,
    carrier_id: carrierId,
    carrier_message_id: carrierMessageId,
    outcome,
    error_id: errorId,
    at_ms: atMs,
  };
}

function postingRow(posting: NewPosting): object {
  const { atMs, kind, from, to, amountMicros, messageKey, partCount, description, actorId } = posting;
  return {
    at_ms: atMs,
    kind,
    from_wallet: from,
    to_wallet: to,
    amount_micros: amountMicros,
    message_key: messageKey ?? null,
    part_count: partCount ?? null,
    description: description ?? null,
    actor_id: actorId ?? null,
  };
}
