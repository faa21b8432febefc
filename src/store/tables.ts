/**
 * The rows that the busy commands read and write, one at a time and in order, as if they were all in memory:
 *
 *      SQLite       reads a row when it is asked for, keeps what was changed in memory and a journal, and writes it to its table later
 *      PostgreSQL   loads what a group of commands needs before they run, and writes what they changed after, in a few statements
 *
 * So the decisions are made once, in commands/, and neither engine pays for the other.
 */
import type { MessageKey } from "../message/message.ts";
import type { ServiceWallet } from "../money/postings.ts";
import type { BulkName } from "./port/bulks.ts";
import type { LaneName } from "./port/delivery.ts";
import type { CarrierReceipt, PartName } from "./port/receipts.ts";
import type { BulkChange, BulkRow, ReplayName, ReplayRow } from "./schema/bulk.ts";
import type { MessageChange, MessageRow, NewMessageRow, NewPartRow, PartRow } from "./schema/message.ts";
import type { LaterReceipt, NewParkedReceipt, ParkedReceipt } from "./schema/receipts.ts";
import type { NewReportRow, ReportChange, ReportRow } from "./schema/report.ts";
import type { Awaitable } from "./sql.ts";
import type { BalanceRange, NewPosting, Wallet } from "./wallet.ts";

export interface NumberOnList {
  /** The account whose list it is; 0 for the service's own. */
  readonly list: number;
  readonly number: string;
}

/** What is to be read before a command can run. What depends on it (a message's bulk, its account's wallet) comes along. */
export interface ReadSet {
  readonly messages?: readonly MessageKey[];
  /** Messages that were handed to delivery. They are this node's, unless it was told of before. */
  readonly ownMessages?: readonly MessageKey[];
  /** Parts, with their messages. */
  readonly parts?: readonly PartName[];
  /** Receipts whose parts are wanted: by their ids, and for want of those by their phones. */
  readonly receipts?: readonly CarrierReceipt[];
  readonly parked?: readonly PartName[];
  /** Parts that will be written, with the keys of their messages. */
  readonly newParts?: readonly (PartName & { readonly key: MessageKey })[];
  readonly wallets?: readonly number[];
  /** Which of the service's own wallets are wanted with them, in their currencies; payments and revenue unless it is said. */
  readonly serviceWallets?: readonly ServiceWallet[];
  readonly names?: readonly { accountId: number; clientMessageId: string }[];
  readonly numbers?: readonly NumberOnList[];
  readonly bulks?: readonly BulkName[];
  /** Bulks that nobody may change before this transaction ends. */
  readonly lockedBulks?: readonly BulkName[];
  readonly replays?: readonly ReplayName[];
  /** Whether a charge of these messages may be given back. */
  readonly refunds?: boolean;
  /** Report batches, whole. */
  readonly reports?: readonly string[];
  /** Report batches of which only those that wait for them are wanted. */
  readonly leaders?: readonly string[];
  /** Keys of messages that will be written. */
  readonly newKeys?: readonly MessageKey[];
}

export interface Tables {
  /** Reads what is needed and not there yet. */
  load(wanted: ReadSet): Awaitable<void>;
  /** Writes what was changed so far, so that a statement of SQL sees it. */
  flush(): Awaitable<void>;
  readonly messages: MessageTable;
  readonly parts: PartTable;
  readonly receipts: ReceiptTable;
  readonly wallets: WalletTable;
  readonly bulks: BulkTable;
  readonly replays: ReplayTable;
  readonly reports: ReportTable;
  readonly optOuts: OptOutTable;
}

export interface MessageTable {
  get(key: MessageKey): MessageRow | undefined;
  insert(fresh: NewMessageRow): void;
  /** Returns the row as it is then. */
  change(row: MessageRow, change: MessageChange): MessageRow;
  /** Rows that a statement of SQL has read and locked, as they are now. */
  cache(rows: readonly MessageRow[]): MessageRow[];
  /** Whether the account has a message of that name which was not rejected. */
  isNamed(accountId: number, clientMessageId: string): boolean;
  /** So many messages of a lane that wait for an owner, those that came first, for whoever claims them all; null where only a search can tell. */
  nextWaiting(lane: LaneName, count: number): MessageRow[] | null;
}

/** Parts that may have one id and still be told apart. A message has no more parts than that. */
export const MAX_SAME_ID = 100;

export interface PartTable {
  /** The parts of that name, oldest first. Where there are more than MAX_SAME_ID, some of them, and more than that. */
  named(name: PartName): readonly PartRow[];
  insert(fresh: NewPartRow): void;
  delete(part: PartRow): void;
}

/** Receipts that no part waits for. */
export interface ReceiptTable {
  /** Whether any receipt of the carrier is parked. */
  anyParked(carrierId: string): boolean;
  /** Parked receipts by id, or by either of their phones: the newest MAX_SAME_ID, oldest first. */
  parked(name: PartName): ParkedReceipt[];
  parkedForPhone(carrierId: string, phone: string): ParkedReceipt[];
  /** Returns it as it can be taken away again. */
  park(receipt: NewParkedReceipt): ParkedReceipt;
  unpark(receipt: ParkedReceipt): void;
  /** Records a receipt beside its message, once, and unless there are too many. */
  insertLater(later: LaterReceipt): void;
  /** It was another message's after all. */
  deleteLater(later: LaterReceipt): void;
}

export interface WalletTable {
  ofAccount(accountId: number): Wallet;
  /** What was decided by a balance, as the wallet has it, holds for any that is within these. Told before what comes of it is posted. */
  relyOn(wallet: Wallet, within: BalanceRange): void;
  /** Its id. */
  ofService(name: ServiceWallet, currency: string): number;
  post(posting: NewPosting): void;
  /** The same, for who has to know the posting's number. */
  postNumbered(posting: NewPosting): Awaitable<number>;
}

export interface BulkTable {
  get(accountId: number, bulkId: string): BulkRow | undefined;
  insert(bulk: BulkRow): void;
  change(bulk: BulkRow, change: BulkChange): void;
}

export interface ReplayTable {
  /** What was answered to this very request. */
  answer(name: ReplayName): string | undefined;
  /** Whether the key was used for another request. */
  hasOther(name: ReplayName): boolean;
  insert(row: ReplayRow): void;
}

export interface ReportTable {
  get(id: string): ReportRow | undefined;
  /** Whether a batch is neither settled nor dead. */
  waits(id: string): boolean;
  insert(fresh: NewReportRow): void;
  change(id: string, change: ReportChange): void;
  delete(id: string): void;
  /** Batches that wait for this one. */
  followers(id: string): ReportRow[];
}

export interface OptOutTable {
  /** Whether there is anybody on the list, of those who may be asked for. */
  any(list: number): boolean;
  has(entry: NumberOnList): boolean;
}

export function laneOf(row: MessageRow): LaneName {
  return { accountId: row.account_id, carrierId: row.carrier_id };
}
