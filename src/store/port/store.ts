/**
 * The store port: everything that must survive a power cut, as commands and reads in the words of the domain. Every method takes and
 * returns plain data, so that it can stand on another thread, and resolves only after the commit that holds its effects.
 * SQLite is behind it on one machine; the contract test (test/store/contract.ts) says what any engine must do.
 */

import type { CallbackPolicy, ReportFailure } from "../../message/callback.ts";
import type { IncomingPart } from "../../message/incoming.ts";
import type { IncomingFacts, MessageKey, ReportBatch, ReportFacts } from "../../message/message.ts";
import type { Receipt } from "../../message/receipt.ts";
import type {
  Account,
  AccountChange,
  AccountChangeOutcome,
  AccountCreation,
  AccountKind,
  Actor,
  AuditEntry,
  Made,
  ManagedAccount,
  NewAccount,
  Tenant,
} from "./accounts.ts";
import type { Bulk, BulkChange, BulkName, BulkStatus } from "./bulks.ts";
import type { CatalogueItem, Purpose } from "./catalogue.ts";
import type { ApiKey, FactorProof, Login, LoginEvent, NewApiKey, SecondFactor } from "./credentials.ts";
import type {
  Ending,
  HandedAgain,
  LaneName,
  Postponed,
  PurgeCursor,
  SubmittedMessage,
  SweepCursor,
} from "./delivery.ts";
import type { IncomingOutcome, UnmatchedIncoming } from "./incoming.ts";
import type { Acceptance, AcceptanceOutcome } from "./messages.ts";
import type { Balance, Funding, FundingOutcome, LedgerFault, Posting, PostingPosition, PostingRange } from "./money.ts";
import type { BindClaim, BindShare, Cluster } from "./nodes.ts";
import type { Quarantined } from "./quarantine.ts";
import type { LaterReceipt, OutstandingRow, ParkedReceipt, PartName, ReceivedReceipts } from "./receipts.ts";
import type { DeadLetter, DeadLetterFilter, ReportFetch } from "./reports.ts";
import type { SecretCount, SecretCursor } from "./secrets.ts";
import type { LoggedMessage, LogPosition, LogQuery } from "./tracking.ts";

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
  rotateCallbackSecret(
    input: Partial<Made> & { accountKey: string; secret: string },
  ): Promise<"done" | "unknown account">;
  dropOldCallbackSecret(input: Partial<Made> & { accountKey: string }): Promise<"done" | "unknown account">;
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
  findSession(input: { tokenHash: string; nowMs: number; idleMs: number; maxMs: number }): Promise<Account | null>;
  endSession(input: { tokenHash: string }): Promise<void>;
  /** Null for a user who has none, and has not begun with one. */
  secondFactor(input: { username: string }): Promise<SecondFactor | null>;
  /** A new secret for a user; in force once it is confirmed. */
  beginSecondFactor(input: Made & { username: string; secret: string }): Promise<"begun" | "in force" | "unknown user">;
  /** Puts it in force, and ends the user's sessions but for the one that did so. */
  confirmSecondFactor(
    input: Made & {
      username: string;
      begunAtMs: number;
      step: number;
      recoveryHashes: readonly string[];
      keepTokenHash: string | null;
    },
  ): Promise<"confirmed" | "outdated">;
  /** Takes a code or a recovery code, if nobody has before, on whichever node. */
  useSecondFactor(input: { username: string; proof: FactorProof }): Promise<"taken" | "refused">;
  /** Takes it away: for a proof, or without one for whoever has lost everything, whose sessions end with it. */
  removeSecondFactor(
    input: Made & { username: string; proof: FactorProof | null },
  ): Promise<"removed" | "refused" | "none">;
  /** Writes into the audit what opened no session. */
  noteLogin(input: LoginEvent & { atMs: number }): Promise<void>;
  /** Deletes what the audit says of logins before a time, a page at a time. */
  purgeLoginEvents(input: { beforeMs: number; limit: number }): Promise<{ more: boolean }>;
  createApiKey(input: NewApiKey): Promise<"created" | "taken" | "unknown account">;
  /** The key's account, unless the key has expired, and notes that it was used. */
  findApiKey(input: { keyHash: string; nowMs: number }): Promise<Account | null>;
  /** Those of one account, or of all in a tenant. */
  apiKeys(input: { accountKey: string | null } & Partial<Tenant>): Promise<ApiKey[]>;
  revokeApiKey(input: Partial<Made> & { id: string } & Partial<Tenant>): Promise<"revoked" | "unknown key">;

  /** Accounts by key, from behind `afterKey` on; null where it does not matter. */
  accounts(
    input: Tenant & { kind: AccountKind | null; suspended: boolean | null; afterKey: string | null; limit: number },
  ): Promise<ManagedAccount[]>;
  account(input: Tenant & { key: string }): Promise<ManagedAccount | null>;
  changeAccount(
    input: Tenant & Made & { key: string; version: number | null; change: AccountChange },
  ): Promise<AccountChangeOutcome>;
  /** Gives an account's user another password and ends the account's sessions. In a tenant it is the reseller who knows the password. */
  setPassword(input: Tenant & Made & { username: string; passwordHash: string }): Promise<"done" | "unknown user">;
  /** Ends all sessions of an account. */
  endSessions(input: Tenant & Made & { accountKey: string }): Promise<{ ended: number } | "unknown account">;
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
  optIn(input: Partial<Made> & { accountKey: string | null; number: string }): Promise<"removed" | "unknown account">;
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
  putCatalogue(input: Partial<Made> & { items: readonly CatalogueItem[] }): Promise<void>;
  /** Writes one item: a new one where `version` is 0, else over that version. */
  putItem(
    input: Pick<CatalogueItem, "kind" | "id" | "body"> & Made & { version: number },
  ): Promise<{ kind: "written"; version: number } | { kind: "outdated"; version: number }>;
  deleteItem(
    input: Pick<CatalogueItem, "kind" | "id"> & Made & { version: number | null },
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
