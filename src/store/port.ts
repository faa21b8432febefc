/**
 * The store port: everything that must survive a power cut, as commands and reads in the words of the domain. Every method takes and
 * returns plain data, so that it can stand on another thread, and resolves only after the commit that holds its effects.
 * SQLite is behind it on one machine; the contract test (test/store/contract.ts) says what any engine must do.
 */

import type { CallbackPolicy, ReportAttempt, ReportFailure } from "../message/callback.ts";
import type { IncomingPart } from "../message/incoming.ts";
import type { Event } from "../message/life.ts";
import type {
  Content,
  IncomingFacts,
  MessageKey,
  PartsTaken,
  QueuedMessage,
  ReportBatch,
  ReportFacts,
} from "../message/message.ts";
import type { Receipt } from "../message/receipt.ts";
import type { Role } from "../runtime/roles.ts";
import type { LaterReceipt, ParkedReceipt } from "./schema/receipts.ts";

export type { LaterReceipt, ParkedReceipt, WhyParked } from "./schema/receipts.ts";

// --- Accepting -----------------------------------------------------------------------------------------------------------

export interface NewMessage {
  /** Which of the acceptance's contents it carries. */
  readonly content: number;
  readonly to: string;
  readonly clientMessageId: string | null;
  readonly carrierId: string | null;
  readonly pricePerPartMicros: bigint;
  /** Set when it is already known that it cannot go: the status that says why. */
  readonly rejectedStatusId: number | null;
}

/** Lets a request that comes again be answered as the first time. */
export interface ReplayGuard {
  /** The Idempotency-Key header, if there is one. */
  readonly key: string | null;
  /** Whether the bulkId is the client's own, and so guards too. */
  readonly bulk: boolean;
  /** Tells the same request from another one under the same key. */
  readonly bodyHash: string;
}

export interface Acceptance {
  readonly accountId: number;
  readonly bulkId: string;
  readonly replay: ReplayGuard | null;
  readonly receivedAtMs: number;
  /** The messages' keys are this one and the ones that follow it (nthId), in order. */
  readonly firstKey: MessageKey;
  readonly contents: readonly Content[];
  readonly messages: readonly NewMessage[];
}

export type AcceptanceOutcome =
  /** One status id a message, in order. After a replay bulkId and firstKey are those of the first time. */
  | {
      kind: "accepted";
      bulkId: string;
      firstKey: MessageKey;
      statusIds: number[];
      replayed: boolean;
      /** Of a replay: the parts of each message as they were charged, whatever its text would take today. */
      partCounts?: number[];
    }
  /** The Idempotency-Key was used for another request. */
  | { kind: "conflict" };

// --- Delivering ----------------------------------------------------------------------------------------------------------

export interface SubmittedMessage {
  readonly key: MessageKey;
  readonly carrierId: string;
  /** The parts that the carrier took, in order; at least one. */
  readonly parts: readonly SubmittedPart[];
  /** Why it refused another part of the message, if it did: the message cannot arrive whole. */
  readonly refusedErrorId: number | null;
  readonly atMs: number;
}

export interface SubmittedPart {
  readonly carrierMessageId: string;
  /** Whether the message waits for this part's receipt. Some carriers send one for the first or the last part only. */
  readonly counts: boolean;
}

/** A message whose carrier did not take it whole. */
export interface HandedAgain {
  readonly key: MessageKey;
  /** The link died before an answer: counted. */
  readonly unknown: boolean;
  /** What the carrier has of it by now. */
  readonly taken: PartsTaken | null;
}

/** A message that waits in the store until it is due, and why. */
export interface Postponed {
  readonly key: MessageKey;
  readonly dueAtMs: number;
  readonly event: "window closed" | "put off";
}

/** The name that a carrier gave to a part. */
export interface PartName {
  readonly carrierId: string;
  readonly carrierMessageId: string;
}

export interface ReceivedReceipts {
  /**
   * How many were parked, and how many of those were about another phone than the message with their id, or could be about several messages of one
   * id.
   */
  readonly unmatched: number;
  readonly foreign: number;
  readonly doubtful: number;
  /** How many came after the last word about their part, and say something else: they were recorded beside its message. */
  readonly later: number;
  /** How many have come before: they were applied then, or are parked already. */
  readonly repeated: number;
  /** Places of those without the mark of a receipt that are none: no part of their phone waits for them, or nobody knows which. */
  readonly strangers: readonly number[];
}

/** A receipt that matched no message when it came. */
export interface CarrierReceipt extends Receipt {
  readonly carrierId: string;
}

/** So many are recorded beside one message. */
export const MAX_LATER_RECEIPTS = 10;

/** The end of a message that no carrier took. */
export interface Ending {
  readonly key: MessageKey;
  readonly event: Extract<Event, "refused" | "gave up" | "no route" | "validity over">;
  readonly errorId: number;
  readonly atMs: number;
}

/** Something that could not be recorded as it was said, kept aside. */
export interface Quarantined {
  readonly id: number;
  readonly atMs: number;
  /** Which command refused it. */
  readonly command: string;
  /** What it is about: a message's key, or what else names it. */
  readonly subject: string;
  readonly reason: string;
  /** JSON, cut off at a bound; what was in the journal is whole. */
  readonly detail: string;
}

export interface OutstandingRow {
  readonly rowId: number;
  readonly carrierMessageId: string;
  readonly to: string;
  readonly submittedAtMs: number;
  readonly expiresAtMs: number;
}

/** Where a round through the parts stands: behind which row, and up to which one, for others come while it is made. */
export interface SweepCursor {
  readonly afterPart: number;
  readonly upToPart: number;
}

export const SWEEP_START: SweepCursor = { afterPart: 0, upToPart: 0 };

/** Where a pass over the old messages stands: behind which message, and behind which message from a phone. */
export interface PurgeCursor {
  readonly message: MessageKey;
  readonly incoming: MessageKey;
}

export const PURGE_START: PurgeCursor = { message: "0", incoming: "0" };

/** How long a report that is not pushed waits to be fetched. */
export const REPORT_FETCH_MS = 48 * 3_600_000;

/** What a commit has for delivery on this node. It arrives in the order of the commits. */
export interface Feed {
  readonly messages: readonly QueuedMessage[];
  readonly reports: readonly ReportBatch[];
  /** Lanes of which some messages stayed in the store, to be claimed when there is room. */
  readonly overflowed: readonly LaneName[];
  /** The earliest time at which a message scheduled by this commit is due. */
  readonly earliestDueAtMs: number | null;
  /** Reports wait in the store that nobody has in memory. */
  readonly reportsWait?: boolean;
}

export interface LaneName {
  readonly accountId: number;
  readonly carrierId: string;
}

// --- Nodes -----------------------------------------------------------------------------------------------------------------

export { ROLES, type Role } from "../runtime/roles.ts";

/** The nodes that share this store, as they are now. */
export interface Cluster {
  /** How many nodes there are for each role, this one included. */
  readonly nodes: Readonly<Record<Role, number>>;
  /** Whether this node is the one that makes the rounds which one node alone has to make. */
  readonly leads: boolean;
}

/** What a node would do with a carrier's connections. */
export interface BindClaim {
  readonly carrierId: string;
  /** How many connections the carrier allows, for all nodes together. */
  readonly binds: number;
  /** Those that this node had and has closed. */
  readonly closed: readonly number[];
}

export interface BindShare {
  readonly carrierId: string;
  /** The connections that this node may have: numbers from 0 to `binds` - 1. */
  readonly slots: readonly number[];
  /** How many of them it has to close and give back, because others have fewer. */
  readonly excess: number;
}

// --- Bulks -----------------------------------------------------------------------------------------------------------------

export const BULK_STATUSES = ["PENDING", "PAUSED", "PROCESSING", "CANCELED", "FINISHED", "FAILED"] as const;
export type BulkStatus = (typeof BULK_STATUSES)[number];

export interface BulkName {
  readonly accountId: number;
  readonly bulkId: string;
}

export interface Bulk {
  readonly sendAtMs: number;
  /** Null where no message of the bulk was ever scheduled: then its messages have to be looked through (`lookThroughBulk`). */
  readonly status: BulkStatus | null;
}

export type BulkChange =
  | { kind: "changed" }
  | { kind: "unknown" }
  /** None of its messages waits for its time, or ever did. */
  | { kind: "not scheduled" }
  /** Its status does not allow this. */
  | { kind: "refused"; status: BulkStatus };

// --- Messages from phones --------------------------------------------------------------------------------------------------

export interface IncomingOutcome {
  /** Messages to a number that is nobody's. */
  readonly unmatched: number;
}

export interface UnmatchedIncoming extends Omit<IncomingFacts, "currency"> {
  readonly carrierId: string;
}

/** Which dead letters; what is null does not matter. */
export interface DeadLetterFilter {
  readonly accountKey: string | null;
  readonly url: string | null;
}

export interface DeadLetter {
  readonly id: string;
  readonly accountKey: string;
  readonly url: string;
  readonly itemCount: number;
  readonly attempts: number;
  readonly deadAtMs: number;
  readonly reason: string;
  /** The last tries, oldest first. */
  readonly history: readonly ReportAttempt[];
}

// --- Tracking --------------------------------------------------------------------------------------------------------------

/** Which messages, by their names; null where it does not matter. Of a client's own messageId, rejected messages have it too. */
export interface MessageNames {
  readonly bulkIds: readonly string[] | null;
  readonly messageIds: readonly string[] | null;
}

export interface ReportFetch extends MessageNames {
  readonly accountId: number;
  readonly limit: number;
  readonly nowMs: number;
  /** Reports that have waited since before this are not handed out any more. */
  readonly sinceMs: number;
  /** What is not confirmed by then is handed out again. */
  readonly againAtMs: number;
}

/** Null means: whatever it is. */
export interface LogFilter extends MessageNames {
  readonly from: string | null;
  readonly to: string | null;
  readonly statusIds: readonly number[] | null;
  readonly mcc: string | null;
  readonly mnc: string | null;
  /** Both are times of sending, and both are included. */
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** A place in the logs of an account: by time, and by key where the time is the same. */
export interface LogPosition {
  readonly atMs: number;
  readonly key: MessageKey;
}

/** Rows of the logs that one call looks at: under 2 ms, as measured with a filter that matches none of them. */
export const LOG_PAGE_ROWS = 2_000;

export interface LogQuery extends LogFilter {
  readonly accountId: number;
  readonly limit: number;
  /** Where the last page ended. */
  readonly after: LogPosition | null;
}

export interface LoggedMessage extends Omit<ReportFacts, "doneAtMs"> {
  readonly key: MessageKey;
  /** Null for a message that is still on its way. */
  readonly doneAtMs: number | null;
  readonly text: string;
}

// --- Who, and money --------------------------------------------------------------------------------------------------------

export type AccountKind = "client" | "reseller" | "operator";

/** What an account may do at most, where it differs from the service's settings. */
export interface AccountLimits {
  readonly requestsPerSecond?: number;
  readonly messagesPerSecond?: number;
  readonly connections?: number;
  readonly destinationsPerRequest?: number;
}

/** What an API key may be used for. */
export const SCOPES = ["send", "track", "balance", "manage"] as const;
export type Scope = (typeof SCOPES)[number];

/** Who came with a password or a session. */
export interface User {
  readonly username: string;
  /** Whether a second factor is in force for it. */
  readonly secondFactor: boolean;
}

export interface Account {
  readonly id: number;
  /** The public name, as in `accountKey`. */
  readonly key: string;
  readonly kind: AccountKind;
  readonly parentId: number | null;
  readonly currency: string;
  readonly ratePlanId: string;
  readonly defaultSender: string | null;
  /** Senders that it may use; null for any. */
  readonly allowedSenders: readonly string[] | null;
  /** Networks that it may be used from; null for any. */
  readonly allowedAddresses: readonly string[] | null;
  readonly limits: AccountLimits;
  readonly suspended: boolean;
  /** What the caller may do in its name; null for all. */
  readonly scopes: readonly Scope[] | null;
  /** Which of its users was found by a login or a session; null for whatever was found otherwise. */
  readonly user: User | null;
  /** The API key with which the caller came; null for a password or a session. */
  readonly apiKey: ApiKeyBounds | null;
  /** Whether the caller came with a password that a reseller has set, and that the client has not changed since. */
  readonly passwordOfReseller: boolean;
}

/** Until when and from where an API key is good. */
export interface ApiKeyBounds {
  readonly id: string;
  /** Null for one that does not end by itself. */
  readonly expiresAtMs: number | null;
  /** Networks; null for any. */
  readonly allowedAddresses: readonly string[] | null;
}

/** Nothing of how a caller came. */
type PlainAccount = Omit<Account, "scopes" | "user" | "apiKey" | "passwordOfReseller">;

/** An account as whoever manages it sees it. */
export interface ManagedAccount extends PlainAccount {
  /** Grows with every change. */
  readonly version: number;
  readonly parentKey: string | null;
  readonly usernames: readonly string[];
  readonly balanceMicros: bigint;
  readonly creditLimitMicros: bigint;
  /** Whom to tell when the balance goes below an amount. */
  readonly alert: { readonly belowMicros: bigint; readonly url: string } | null;
  readonly retryMinutes: readonly number[] | null;
  readonly createdAtMs: number;
  readonly retiredAtMs: number | null;
}

/** What is not named stays as it is. */
export interface AccountChange {
  readonly ratePlanId?: string;
  readonly defaultSender?: string | null;
  readonly allowedSenders?: readonly string[] | null;
  readonly allowedAddresses?: readonly string[] | null;
  readonly limits?: AccountLimits;
  readonly alert?: ManagedAccount["alert"];
  readonly retryMinutes?: readonly number[] | null;
  readonly creditLimitMicros?: bigint;
  readonly suspended?: boolean;
  /** For good: its keys and sessions end, and nobody can use it any more. */
  readonly retired?: true;
}

export type AccountChangeOutcome =
  | { kind: "changed"; account: ManagedAccount }
  | { kind: "unknown" }
  /** Somebody has changed it since that version. */
  | { kind: "outdated"; account: ManagedAccount }
  /** It owes more than the new credit limit allows. */
  | { kind: "owes more" };

/** Who makes a change, for the audit. */
export interface Actor {
  /** An account's key, or "command line". */
  readonly name: string;
  /** Where the request came from. */
  readonly address: string | null;
}

/** Whose accounts somebody may manage: those of one reseller, or null for all. */
export interface Tenant {
  readonly resellerId: number | null;
}

export interface AuditEntry {
  readonly id: number;
  readonly atMs: number;
  readonly actor: string;
  readonly address: string | null;
  readonly action: string;
  readonly kind: string;
  readonly subject: string;
  /** JSON, without secrets. */
  readonly before: string | null;
  readonly after: string | null;
}

export interface Posting {
  readonly id: number;
  readonly atMs: number;
  readonly kind: "charge" | "refund" | "funds";
  /** What the account's balance changed by. */
  readonly amountMicros: bigint;
  readonly messageKey: MessageKey | null;
  readonly partCount: number | null;
  readonly description: string | null;
}

/** A place among an account's postings. */
export interface PostingPosition {
  readonly atMs: number;
  readonly id: number;
}

/** An account's postings from a time on, and before another. */
export interface PostingRange {
  readonly accountId: number;
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly after: PostingPosition | null;
  readonly limit: number;
}

export interface NewAccount {
  readonly key: string;
  readonly kind: AccountKind;
  readonly parentKey: string | null;
  readonly currency: string;
  readonly ratePlanId: string;
  readonly defaultSender: string | null;
  readonly creditLimitMicros: bigint;
  readonly openingBalanceMicros: bigint;
  readonly callbackSecret: string;
  /** Its own retry schedule for reports, if it has one. */
  readonly retryMinutes?: readonly number[];
  readonly allowedSenders?: readonly string[] | null;
  readonly allowedAddresses?: readonly string[] | null;
  readonly limits?: AccountLimits;
  readonly alert?: ManagedAccount["alert"];
  readonly username: string;
  readonly passwordHash: string;
  /** Whether a reseller makes it, and so knows its password. */
  readonly byReseller?: boolean;
  readonly by?: Actor;
  readonly atMs: number;
}

export type AccountCreation =
  | { kind: "created"; account: Account }
  | { kind: "key taken" }
  | { kind: "username taken" }
  /** The name is in the namespace of a reseller whose client it is not. */
  | { kind: "name reserved"; field: "key" | "username"; resellerKey: string }
  /** A new reseller's namespace has an account in it that is not its client. */
  | { kind: "namespace taken"; accountKey: string }
  | { kind: "unknown parent" };

export interface Login {
  readonly account: Account;
  readonly passwordHash: string;
}

export interface SecondFactor {
  /** In base32. */
  readonly secret: string;
  /** Also tells this one from another that the user begins later. */
  readonly begunAtMs: number;
  /** Null while it is not in force yet. */
  readonly confirmedAtMs: number | null;
  /** The last time step of which a code was taken. */
  readonly lastStep: number;
  /** Recovery codes that were not used yet. */
  readonly recoveryCodes: number;
}

/** What shows that somebody has the second factor. Each is taken once. */
export type FactorProof =
  | { readonly kind: "code"; readonly begunAtMs: number; readonly step: number }
  | { readonly kind: "recovery code"; readonly codeHash: string };

/** What the audit says of logins: a session was opened, a second factor was wrong, wrong ones have to wait. */
export type LoginAction = "open" | "wrongCode" | "wait";

export interface LoginEvent {
  readonly action: LoginAction;
  /** Who logs in, or says so; null where wrong ones are counted whoever the user is. */
  readonly username: string | null;
  readonly address: string;
  /** More about it, without secrets. */
  readonly facts: Readonly<Record<string, string>>;
}

/** What may be seen of an API key. */
export interface ApiKey extends ApiKeyBounds {
  readonly accountKey: string;
  readonly name: string | null;
  readonly scopes: readonly Scope[] | null;
  readonly createdAtMs: number;
  /** Noted at most once a minute; null for one that was never used. */
  readonly usedAtMs: number | null;
}

export interface NewApiKey {
  readonly id: string;
  readonly keyHash: string;
  readonly accountKey: string;
  readonly name: string | null;
  readonly scopes?: readonly Scope[] | null;
  readonly expiresAtMs?: number | null;
  readonly allowedAddresses?: readonly string[] | null;
  /** The id of the API key with which it was made, for the audit. */
  readonly madeWith?: string | null;
  readonly by?: Actor;
  readonly atMs: number;
}

export interface Funding {
  readonly resellerId: number;
  readonly accountKey: string;
  readonly amountMicros: bigint;
  /** The currency of the amount, or null for the account's own. */
  readonly currency: string | null;
  /** Units of the account's currency for one unit of `currency`, in micros, by account currency. */
  readonly ratesMicros: Readonly<Record<string, bigint>>;
  readonly description: string;
  readonly replay: ReplayGuard | null;
  readonly atMs: number;
}

export type FundingOutcome =
  | { kind: "posted"; transactionId: number }
  | { kind: "unknown account" }
  | { kind: "below zero" }
  | { kind: "too large" }
  | { kind: "nothing left" } // so little that it is nothing in the account's currency
  | { kind: "no rate"; currency: string }
  | { kind: "conflict" };

export interface Balance {
  readonly balanceMicros: bigint;
  readonly currency: string;
}

/** Found wrong by `verifyLedger`; empty when all is well. */
export type LedgerFault = string;

// --- What the operator sets ------------------------------------------------------------------------------------------------

export type Purpose = "sandbox" | "production";

export interface CatalogueItem {
  readonly kind: "carrier" | "route" | "ratePlan" | "exchangeRate" | "number";
  readonly id: string;
  /** Grows with every change; 1 for one that is new. */
  readonly version?: number;
  /** JSON, understood by catalogue/. Only that of a number (its id) is read here too: whose it is is decided where its messages are kept. */
  readonly body: string;
}

// --- Secrets -----------------------------------------------------------------------------------------------------------------

/** How far a look through all secrets has come. */
export interface SecretCursor {
  readonly kind: number;
  readonly key: string;
}

/** Secrets that are sealed with one key; null for those that are not sealed. */
export interface SecretCount {
  readonly keyId: string | null;
  readonly count: number;
}

// --- The port ----------------------------------------------------------------------------------------------------------------

export interface Store {
  /** Writes the messages and their charge, decides each one's status, and hands on to delivery what may go now. */
  accept(input: Acceptance): Promise<AcceptanceOutcome>;

  /** Moves scheduled messages whose time has come into their lanes, and lets a page of messages follow what was changed of their bulk. */
  claimDue(input: { nowMs: number; limit: number }): Promise<{ more: boolean; nextDueAtMs: number | null }>;
  /** Brings overflowed messages of a lane into memory, oldest first. */
  claimLane(input: LaneName & { limit: number }): Promise<{ claimed: number; more: boolean }>;
  /** `awaited`: somebody waits for it, and it should not be gathered with others for long. */
  submitted(input: { messages: readonly SubmittedMessage[]; awaited?: boolean }): Promise<void>;
  /** Messages on their way to one carrier go to another: the first is down or gone. */
  reroute(input: { messages: readonly { key: MessageKey; carrierId: string }[] }): Promise<void>;
  /** Messages go back to wait until they are due: for the next opening of their window, or because their carrier put them off. */
  postpone(input: { messages: readonly Postponed[] }): Promise<void>;
  /** Messages that were handed to their carrier and have to be handed over again, or the rest of them. */
  again(input: { messages: readonly HandedAgain[] }): Promise<void>;
  finish(input: { endings: readonly Ending[] }): Promise<void>;
  /** Takes receipts in; those that match no message are kept, unless they only look like receipts. */
  received(input: { carrierId: string; receipts: readonly Receipt[] }): Promise<ReceivedReceipts>;
  /** Looks for parked receipts of these parts: on another node they may have come while the part was being written. */
  matchParked(input: { names: readonly PartName[] }): Promise<void>;
  /** Receipts that matched no message, newest first, and how many there are. */
  parkedReceipts(input: { limit: number }): Promise<{ count: number; receipts: ParkedReceipt[] }>;
  /** What carriers said of a message after their last word, oldest first. */
  laterReceipts(input: { messageKey: MessageKey }): Promise<LaterReceipt[]>;
  /** Parts that the carrier took and has not said the last word about, by row, after `afterRow`. */
  outstanding(input: { carrierId: string; afterRow: number; limit: number }): Promise<OutstandingRow[]>;
  /**
   * Ends what has waited too long: messages in the backlog past their validity, and parts whose receipt never came. Of the parts one page is
   * looked at, and the answer says where the next one begins.
   */
  sweep(input: {
    nowMs: number;
    receiptWaitMs: number;
    limit: number;
    cursor: SweepCursor;
  }): Promise<{ cursor: SweepCursor; more: boolean }>;
  /** Gives up ownership of what this node has not handed to a carrier, a page of it, so that the next start finds it at once. */
  handBack(input: { limit: number }): Promise<{ more: boolean }>;
  /** The same for some messages, which another node is to send. */
  release(input: { keys: readonly MessageKey[] }): Promise<void>;

  cluster(): Promise<Cluster>;
  /** Which of the carriers' connections this node may have. Asked again and again: nodes come and go. */
  shareBinds(input: { claims: readonly BindClaim[] }): Promise<BindShare[]>;

  /** Null where the account has no such bulk. */
  bulk(input: BulkName): Promise<Bulk | null>;
  /** A page of a bulk's messages: whether any has not got its last word, and whether any was sent. `lastKey` is null on the last page. */
  lookThroughBulk(
    input: BulkName & { afterKey: MessageKey; limit: number },
  ): Promise<{ unfinished: boolean; sent: boolean; lastKey: MessageKey | null }>;
  /** Messages that still wait go at another time, and their validity counts from then. They follow in pages, with `claimDue`. */
  moveBulk(input: BulkName & { sendAtMs: number; nowMs: number }): Promise<BulkChange>;
  /** Pauses, resumes or calls off what still waits. Nothing goes against it from this commit on; refunds follow in pages, with `claimDue`. */
  setBulkStatus(input: BulkName & { status: BulkStatus }): Promise<BulkChange>;

  /** Keeps what phones sent, part by part; what is whole with it becomes a message of the number's account. */
  incoming(input: { carrierId: string; parts: readonly IncomingPart[]; nowMs: number }): Promise<IncomingOutcome>;
  /**
   * Long messages whose missing parts have not come for `waitMs` become messages as they are. Those that were made messages so long
   * ago are forgotten: until then a part that comes again is known.
   */
  sweepIncoming(input: {
    nowMs: number;
    waitMs: number;
    limit: number;
  }): Promise<IncomingOutcome & { readonly more: boolean }>;
  /**
   * An account's messages that are not pushed, oldest first, and how many more there are, to a bound. Nobody else gets them until `againAtMs`;
   * whoever has them for good confirms them by their ids.
   */
  fetchIncoming(input: {
    accountId: number;
    limit: number;
    nowMs: number;
    againAtMs: number;
  }): Promise<{ messages: IncomingFacts[]; pending: number }>;
  confirmIncoming(input: { keys: readonly string[] }): Promise<void>;
  /** Messages that no account gets, newest first, and how many there are. */
  unmatchedIncoming(input: { limit: number }): Promise<{ count: number; messages: UnmatchedIncoming[] }>;

  /**
   * Last reports of messages without a URL to push them to, oldest first. Nobody else gets them until `againAtMs`; whoever has them for
   * good confirms them by their keys.
   */
  fetchReports(input: ReportFetch): Promise<{ keys: MessageKey[]; reports: ReportFacts[] }>;
  confirmReports(input: { keys: readonly MessageKey[] }): Promise<void>;
  /** An account's messages, newest first. A page may have fewer than there are, or none: `next` says where to go on, if there may be more. */
  logs(input: LogQuery): Promise<{ messages: LoggedMessage[]; next: LogPosition | null }>;

  dueReports(input: { nowMs: number; limit: number }): Promise<{ batches: ReportBatch[]; more: boolean }>;
  reportsDelivered(input: { ids: readonly string[] }): Promise<void>;
  reportsFailed(input: { failures: readonly ReportFailure[] }): Promise<void>;
  /** Not tried, for want of room: handed out again by dueReports from then on. */
  reportsReleased(input: { releases: readonly { id: string; dueAtMs: number }[] }): Promise<void>;
  /** Batches that were never tried become one, under the id of the first. */
  mergeReports(input: { ids: readonly string[] }): Promise<void>;
  callbackPolicy(input: { accountId: number }): Promise<CallbackPolicy>;
  /** Gives the account a new signing secret; the one before it stays good until it is dropped. */
  rotateCallbackSecret(input: {
    accountKey: string;
    secret: string;
    by?: Actor;
    atMs?: number;
  }): Promise<"done" | "unknown account">;
  dropOldCallbackSecret(input: { accountKey: string; by?: Actor; atMs?: number }): Promise<"done" | "unknown account">;
  /** Dead letters, newest first, from before `beforeId` on. */
  deadLetters(input: DeadLetterFilter & { beforeId: string | null; limit: number }): Promise<DeadLetter[]>;
  /** Sends dead letters again, as if for the first time, at most `limit` of them, oldest first. */
  replayDeadLetters(
    input: (DeadLetterFilter | { ids: readonly string[] }) & { nowMs: number; limit: number },
  ): Promise<{ replayed: number }>;

  createAccount(input: NewAccount): Promise<AccountCreation>;
  findLogin(input: { username: string }): Promise<Login | null>;
  countAccounts(input: { kind: AccountKind }): Promise<number>;
  /** The login goes into the audit with it, unless that is left out. */
  createSession(input: {
    tokenHash: string;
    accountId: number;
    username: string;
    /** Whether a second factor was shown: without it the session ends when one is put in force. */
    withFactor: boolean;
    nowMs: number;
    event: LoginEvent | null;
  }): Promise<void>;
  /** The session's account, if it is alive, and notes that it was used. */
  findSession(input: { tokenHash: string; nowMs: number; idleMs: number; longestMs: number }): Promise<Account | null>;
  endSession(input: { tokenHash: string }): Promise<void>;
  /** Null for a user who has none, and has not begun with one. */
  secondFactor(input: { username: string }): Promise<SecondFactor | null>;
  /** A new secret for a user; in force once it is confirmed. */
  beginSecondFactor(input: {
    username: string;
    secret: string;
    by: Actor;
    atMs: number;
  }): Promise<"begun" | "in force" | "unknown user">;
  /** Puts it in force, and ends the user's sessions but for the one that did so. */
  confirmSecondFactor(input: {
    username: string;
    begunAtMs: number;
    step: number;
    recoveryHashes: readonly string[];
    keepTokenHash: string | null;
    by: Actor;
    atMs: number;
  }): Promise<"confirmed" | "outdated">;
  /** Takes a code or a recovery code, if nobody has before, on whichever node. */
  useSecondFactor(input: { username: string; proof: FactorProof }): Promise<"taken" | "refused">;
  /** Takes it away: for a proof, or without one for whoever has lost everything, whose sessions end with it. */
  removeSecondFactor(input: {
    username: string;
    proof: FactorProof | null;
    by: Actor;
    atMs: number;
  }): Promise<"removed" | "refused" | "none">;
  /** Writes into the audit what opened no session. */
  noteLogin(input: LoginEvent & { atMs: number }): Promise<void>;
  /** Deletes what the audit says of logins before a time, a page at a time. */
  purgeLoginEvents(input: { beforeMs: number; limit: number }): Promise<{ more: boolean }>;
  createApiKey(input: NewApiKey): Promise<"created" | "taken" | "unknown account">;
  /** The key's account, unless the key has expired, and notes that it was used. */
  findApiKey(input: { keyHash: string; nowMs: number }): Promise<Account | null>;
  /** Those of one account, or of all in a tenant. */
  apiKeys(input: { accountKey: string | null } & Partial<Tenant>): Promise<ApiKey[]>;
  revokeApiKey(input: { id: string; by?: Actor; atMs?: number } & Partial<Tenant>): Promise<"revoked" | "unknown key">;

  /** Accounts by key, from behind `afterKey` on; null where it does not matter. */
  accounts(
    input: Tenant & { kind: AccountKind | null; suspended: boolean | null; afterKey: string | null; limit: number },
  ): Promise<ManagedAccount[]>;
  account(input: Tenant & { key: string }): Promise<ManagedAccount | null>;
  changeAccount(
    input: Tenant & { key: string; version: number | null; change: AccountChange; by: Actor; atMs: number },
  ): Promise<AccountChangeOutcome>;
  /** Gives an account's user another password and ends the account's sessions. In a tenant it is the reseller who knows the password. */
  setPassword(
    input: Tenant & { username: string; passwordHash: string; by: Actor; atMs: number },
  ): Promise<"done" | "unknown user">;
  /** Ends all sessions of an account. */
  endSessions(
    input: Tenant & { accountKey: string; by: Actor; atMs: number },
  ): Promise<{ ended: number } | "unknown account">;
  /** Newest first, from before `beforeId` on. A reseller sees what was changed of its clients. Logins are told for the kind "login" alone. */
  audit(
    input: Tenant & {
      kind: string | null;
      subject: string | null;
      actor: string | null;
      beforeId: number | null;
      limit: number;
    },
  ): Promise<AuditEntry[]>;

  balance(input: { accountId: number }): Promise<Balance>;
  fund(input: Funding): Promise<FundingOutcome>;
  verifyLedger(): Promise<LedgerFault[]>;
  /** An account's postings in the order of time. */
  postings(input: PostingRange): Promise<Posting[]>;
  /** What its postings come to, a page at a time: `next` says where to go on. */
  turnover(input: PostingRange): Promise<{ amountMicros: bigint; next: PostingPosition | null }>;

  /** An accountKey of null is the service's own list. */
  optOut(input: {
    accountKey: string | null;
    number: string;
    by?: Actor;
    atMs: number;
  }): Promise<"added" | "unknown account">;
  optIn(input: {
    accountKey: string | null;
    number: string;
    by?: Actor;
    atMs?: number;
  }): Promise<"removed" | "unknown account">;
  /** A list's numbers in order, from behind `after` on. */
  optOuts(input: {
    accountKey: string | null;
    after: string;
    limit: number;
  }): Promise<{ number: string; atMs: number }[] | "unknown account">;

  /** What the data is for: whoever comes first says so, and it stays. Sandbox accounts have known passwords. */
  claimPurpose(input: { purpose: Purpose }): Promise<Purpose>;
  /** Null for data that nobody has set up yet. */
  purpose(): Promise<Purpose | null>;
  /** Grows with every change of accounts or catalogue. */
  changeCounter(): Promise<number>;
  catalogue(): Promise<CatalogueItem[]>;
  /** Replaces the whole catalogue. */
  putCatalogue(input: { items: readonly CatalogueItem[]; by?: Actor; atMs?: number }): Promise<void>;
  /** Writes one item: a new one where `version` is 0, else over that version. */
  putItem(
    input: Pick<CatalogueItem, "kind" | "id" | "body"> & { version: number; by: Actor; atMs: number },
  ): Promise<{ kind: "written"; version: number } | { kind: "outdated"; version: number }>;
  deleteItem(
    input: Pick<CatalogueItem, "kind" | "id"> & { version: number | null; by: Actor; atMs: number },
  ): Promise<"deleted" | "unknown" | "outdated">;

  /** With which keys a page of the store's secrets is sealed. */
  secretKeys(input: {
    after: SecretCursor | null;
    limit: number;
  }): Promise<{ counts: SecretCount[]; next: SecretCursor | null }>;
  /** Seals those of a page that are not sealed with the newest key. Those whose key is lost are made anew if so wished, and named. */
  sealSecrets(input: {
    after: SecretCursor | null;
    limit: number;
    renewLost: boolean;
  }): Promise<{ sealed: number; lost: string[]; next: SecretCursor | null }>;

  /**
   * Deletes messages that ended before a time, and messages from phones that came before it: a page of them, or whole days. What has yet to be
   * fetched stays. What they cost stays in the ledger. The answer says where the next page begins.
   */
  purgeMessages(input: {
    beforeMs: number;
    nowMs: number;
    limit: number;
    cursor: PurgeCursor;
  }): Promise<{ cursor: PurgeCursor; more: boolean }>;
  /** Deletes replay answers and sessions that nobody can use any more, a page at a time. */
  purgeExpired(input: {
    nowMs: number;
    replayMs: number;
    sessionMs: number;
    limit: number;
  }): Promise<{ more: boolean }>;

  /**
   * Drops receipts and messages from phones that matched nothing: those of before a time, and the oldest of each while there are more than
   * `keepRows`. A page at a time, oldest first.
   */
  dropUnmatched(input: {
    beforeMs: number;
    keepRows: number;
    limit: number;
  }): Promise<{ readonly count: number; readonly more: boolean }>;

  /** Keeps aside what no other command takes. The oldest go when there are too many. */
  quarantine(input: { items: readonly Omit<Quarantined, "id">[] }): Promise<void>;
  /** What is kept aside, newest first, and how much there is; `promised` are those of them that were in the journal. */
  quarantined(input: { limit: number }): Promise<{ count: number; promised: number; items: Quarantined[] }>;
}

export type CommandName = keyof Store;
export type CommandInput<Name extends CommandName> = Parameters<Store[Name]>[0];
export type CommandOutput<Name extends CommandName> = Awaited<ReturnType<Store[Name]>>;

/** What an engine has to give: every command as a synchronous or asynchronous step inside a transaction. */
export type CommandHandlers = {
  [Name in CommandName]: (input: CommandInput<Name>) => CommandOutput<Name> | Promise<CommandOutput<Name>>;
};

/** The store cannot be reached now; the same call may work later. */
export class StoreUnavailable extends Error {}

/** The schema is older than this program's, and somebody works with it as it is. */
export class MigrationRefused extends Error {
  constructor(who: string) {
    super(
      `its schema is older than this version's, and ${who}: use the version that runs on it, or stop that first and then start this one (or run "heliograph migrate")`,
    );
  }
}
