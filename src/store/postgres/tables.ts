/**
 * The tables on PostgreSQL. What a group of commands needs is read before they run, in one round trip (further ones where what was read leads to
 * more). What they changed is written after, with the commit, in another. In between the rows are in memory (loaded-rows.ts), and this transaction has
 * locks on those that another node could change.
 */
import type { Session } from "../../drivers/postgres/link.ts";
import type { MessageKey } from "../../message/message.ts";
import { isAboutPhone, UNKNOWN_PREFIX } from "../../message/receipt.ts";
import { append } from "../../runtime/lazy.ts";
import { allReceiptNames, idName, nameKey } from "../part-names.ts";
import type { BulkName } from "../port/bulks.ts";
import type { CarrierReceipt, PartName } from "../port/receipts.ts";
import type { BulkRow, ReplayName, ReplayRow } from "../schema/bulk.ts";
import type { NumberOnList, OptOutTable, ReadSet, ReplayTable, Tables } from "../tables.ts";
import { Found } from "./found.ts";
import { LoadedMessages } from "./loaded-messages.ts";
import { LoadedParts } from "./loaded-parts.ts";
import { LoadedReceipts } from "./loaded-receipts.ts";
import { LoadedReports } from "./loaded-reports.ts";
import { LoadedRows, rowId } from "./loaded-rows.ts";
import { LoadedWallets } from "./loaded-wallets.ts";
import type { OwnedMessages } from "./owned-messages.ts";
import type { Partitions } from "./partitions.ts";
import type { ServiceWallets } from "./service-wallets.ts";
import { FIND, WRITES } from "./statements.ts";

const idNameOf = ({ carrierId, carrierMessageId }: CarrierReceipt): PartName | null =>
  idName(carrierId, carrierMessageId);

/** What a transaction has named anew. */
export interface NewNames {
  /** Ids that carriers gave to parts: nearly none has a receipt. */
  readonly ids: readonly PartName[];
  /** Names of receipts, and what stands for the phone of a part without an id. */
  readonly others: readonly PartName[];
}

export const NO_NAMES: NewNames = { ids: [], others: [] };

/** How a transaction comes by its rows. */
export interface Locking {
  /** It waits for the locks of others also where it has some itself. */
  readonly isPatient: boolean;
  /** It keeps others from the wallets that it reads; else they may change before its end, and it goes by what must still hold then. */
  readonly locksWallets: boolean;
}

export class PostgresTables implements Tables {
  readonly #session: () => Session;
  readonly #partitions: Partitions;
  readonly #found: Found;
  readonly messages: LoadedMessages;
  readonly parts: LoadedParts;
  readonly receipts: LoadedReceipts;
  readonly wallets: LoadedWallets;
  readonly bulks = new LoadedRows(WRITES.bulk);
  readonly replays: LoadedReplays;
  readonly reports: LoadedReports;
  readonly optOuts: LoadedOptOuts;
  /** This transaction has locks that others may wait for, or is about to. */
  #locks = false;
  #isPatient = false;

  constructor(session: () => Session, partitions: Partitions, wallets: ServiceWallets, owned: OwnedMessages) {
    this.#session = session;
    this.#partitions = partitions;
    const found = new Found(session);
    this.#found = found;
    this.messages = new LoadedMessages(session, found, owned);
    this.parts = new LoadedParts(session, found, this.messages);
    this.receipts = new LoadedReceipts(found);
    this.wallets = new LoadedWallets(session, found, wallets);
    this.replays = new LoadedReplays(found);
    this.reports = new LoadedReports(found);
    this.optOuts = new LoadedOptOuts(found);
  }

  /** Forgets all rows: another transaction begins, which waits for locks only as long as it has none itself, unless it is patient. */
  begin({ isPatient, locksWallets }: Locking): void {
    const { messages, parts, receipts, wallets, bulks, replays, reports, optOuts } = this;
    for (const known of [this.#found, messages, parts, receipts, wallets, bulks, replays, reports, optOuts])
      known.clear();
    this.#isPatient = isPatient;
    messages.isPatient = isPatient;
    wallets.locks = locksWallets;
    this.#locks = false;
  }

  async flush(): Promise<void> {
    const { messages, parts, receipts, wallets, bulks, replays, reports } = this;
    // Money comes last: a wallet that many charge is locked until the commit.
    const written = [messages, parts.rows, receipts, bulks, replays.rows, reports.rows, wallets];
    await Promise.all(written.flatMap((table) => table.flush(this.#session())));
  }

  /** The names under which a part or a receipt could have come to another node while this transaction was under way. */
  get namesToMatch(): NewNames {
    const parts = this.parts.rows.inserted.map(({ carrierId, carrierMessageId }) => ({ carrierId, carrierMessageId }));
    const isUnknown = ({ carrierMessageId }: PartName): boolean => carrierMessageId.startsWith(UNKNOWN_PREFIX);
    return {
      ids: parts.filter((name) => !isUnknown(name)),
      others: [...parts.filter(isUnknown), ...this.receipts.rows.inserted.flatMap(allReceiptNames)],
    };
  }

  async load(wanted: ReadSet): Promise<void> {
    const { parts = [], newParts = [], receipts = [], newKeys = [] } = wanted;
    const isFirst = !this.#locks;
    const { messages, parked, wallets, lockedBulks, reports, leaders } = wanted;
    const locked = [messages, parts, receipts, parked, wallets, lockedBulks, reports, leaders];
    this.#locks ||= !this.#isPatient && locked.some((rows) => rows !== undefined && rows.length > 0);
    const homeless = newKeys.filter((key) => !this.#partitions.covers(key));
    if (homeless.length > 0) await this.#partitions.ensure(homeless);
    await Promise.all([
      this.messages.load(wanted.messages),
      this.messages.loadOwn(wanted.ownMessages),
      this.parts.load([...parts, ...receipts.flatMap((receipt) => idNameOf(receipt) ?? [])]),
      this.receipts.load(wanted.parked, isFirst),
      // Bulks are locked before wallets, here as where a bulk has its turn.
      this.#loadBulks(wanted.bulks, wanted.lockedBulks),
      this.wallets.load(wanted.wallets, wanted.serviceWallets),
      this.messages.loadNames(wanted.names),
      this.optOuts.load(wanted.numbers),
      this.replays.load(wanted.replays),
      this.reports.load(wanted.reports),
      this.reports.loadFollowers(wanted.leaders),
    ]);
    if (this.#locks) this.messages.waitNoMore();
    // Receipts that are found by no id are rare, and so are parked ones: only for those the parts of their phones.
    const coming = new Map(newParts.map((part) => [nameKey(part), part.key]));
    const lost = receipts.filter((receipt) => !this.#isFound(receipt, coming));
    await this.parts.load([...lost, ...this.receipts.all].flatMap(allReceiptNames));
    await this.#loadFurther(wanted);
  }

  #isFound(receipt: CarrierReceipt, coming: ReadonlyMap<string, MessageKey>): boolean {
    const name = idNameOf(receipt);
    if (name === null) return false;
    const comingKey = coming.get(nameKey(name));
    const comingRow = comingKey === undefined ? undefined : this.messages.get(comingKey);
    if (comingRow !== undefined && isAboutPhone(receipt, comingRow.recipient)) return true;
    return this.parts.named(name).some(({ key }) => {
      const row = this.messages.get(key);
      return row === undefined || isAboutPhone(receipt, row.recipient);
    });
  }

  /** What depends on the messages that were read. */
  async #loadFurther({ refunds }: ReadSet): Promise<void> {
    const messages = this.messages.all;
    const followers = messages.filter((row) => row.bulk_version !== null);
    const bulks = followers.map((row) => ({ accountId: row.account_id, bulkId: row.bulk_id }));
    await Promise.all([
      this.#loadBulks(bulks),
      refunds === true ? this.wallets.load(messages.map((row) => row.account_id)) : null,
      this.reports.loadWaiting(messages.flatMap((row) => (row.intermediate === 1 ? (row.last_report_id ?? []) : []))),
    ]);
  }

  async #loadBulks(names: readonly BulkName[] = [], locked: readonly BulkName[] = []): Promise<void> {
    const found = await Promise.all([
      this.#found.find<BulkRow>(FIND.bulks, names),
      this.#found.find<BulkRow>(FIND.lockedBulks, locked),
    ]);
    for (const row of found.flat()) this.bulks.refresh(row);
  }
}

class LoadedReplays implements ReplayTable {
  readonly #found: Found;
  readonly rows = new LoadedRows(WRITES.replay);
  readonly #byName = new Map<string, ReplayRow[]>();

  constructor(found: Found) {
    this.#found = found;
  }

  clear(): void {
    this.rows.clear();
    this.#byName.clear();
  }

  async load(names: readonly ReplayName[] = []): Promise<void> {
    for (const row of await this.#found.find<ReplayRow>(FIND.replays, names)) append(this.#byName, replayId(row), row);
  }

  answer(name: ReplayName): string | undefined {
    return this.#byName.get(replayId(name))?.find(({ bodyHash }) => bodyHash === name.bodyHash)?.answer;
  }

  hasOther(name: ReplayName): boolean {
    return this.#byName.get(replayId(name))?.some(({ bodyHash }) => bodyHash !== name.bodyHash) === true;
  }

  insert(row: ReplayRow): void {
    this.rows.insert(row);
    append(this.#byName, replayId(row), row);
  }
}

const replayId = ({ accountId, kind, token }: ReplayName): string => rowId(accountId, kind, token);

class LoadedOptOuts implements OptOutTable {
  readonly #found: Found;
  readonly #lists = new Set<number>();
  readonly #numbers = new Set<string>();

  constructor(found: Found) {
    this.#found = found;
  }

  clear(): void {
    this.#lists.clear();
    this.#numbers.clear();
  }

  async load(numbers: readonly NumberOnList[] = []): Promise<void> {
    for (const { list, number } of await this.#found.find<NumberOnList>(FIND.optOuts, numbers)) {
      this.#lists.add(list);
      this.#numbers.add(rowId(list, number));
    }
  }

  any(list: number): boolean {
    return this.#lists.has(list);
  }

  has({ list, number }: NumberOnList): boolean {
    return this.#numbers.has(rowId(list, number));
  }
}
