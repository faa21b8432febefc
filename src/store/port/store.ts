/**
 * The store port: everything that must survive a power cut, as commands and reads in the words of the domain. Every method takes and
 * returns plain data, so that it can stand on another thread, and resolves only after the commit that holds its effects.
 * SQLite is behind it on one machine; the contract test (test/store/contract.ts) says what any engine must do.
 */
import type { TraceNote } from "../../events/trace.ts";
import type { IncomingPart } from "../../message/incoming.ts";
import type { Click } from "../../message/links.ts";
import type { IncomingFacts, MessageKey, ReportFacts } from "../../message/message.ts";
import type { Profile } from "../../message/profile.ts";
import type { ParkedFilter } from "../../message/receipt.ts";
import type { SubscriptionChange, SubscriptionOutcome } from "../../message/subscription.ts";
import type {
  BalanceBehind,
  Posting,
  PostingPosition,
  PostingRange,
  SentCost,
  SentPosition,
  SentRange,
  SentTraffic,
  Totalling,
  TrafficRange,
  TurnoverStep,
} from "../../money/postings.ts";
import type { PinStore } from "../../pins/commands.ts";
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
import type { Bulk, BulkChangeOutcome, BulkCount, BulkName, BulkPosition, BulkStatus, ListedBulk } from "./bulks.ts";
import type { CarrierStore } from "./carriers.ts";
import type { CatalogueItem, Purpose } from "./catalogue.ts";
import type { ApiKey, FactorProof, Login, LoginEvent, NewApiKey, NewSession, SecondFactor } from "./credentials.ts";
import type {
  Ending,
  HandedAgain,
  HandedAgainAnswer,
  LaneName,
  Postponed,
  PurgeCursor,
  SubmittedMessage,
  SweepCursor,
  Swept,
} from "./delivery.ts";
import type { IncomingOutcome, ListedIncoming, UnmatchedIncoming } from "./incoming.ts";
import type { MessageLife } from "./message-life.ts";
import type { MessageCounts, MessagePage, MessageSearch } from "./message-search.ts";
import type { Acceptance, AcceptanceOutcome } from "./messages.ts";
import type { Balance, Funding, FundingOutcome, FundsMove, FundsMoveOutcome } from "./money.ts";
import type { Backlog, BindClaim, BindShare, Cluster, ClusterFacts } from "./nodes.ts";
import type { OptedOut } from "./opt-outs.ts";
import type { AsideKind, HeldFate, NewQuarantined, QuarantineCounts, Quarantined } from "./quarantine.ts";
import type {
  CarrierReceipts,
  LaterReceipt,
  OutstandingRow,
  ParkedReceipt,
  PartName,
  ReceivedReceipts,
} from "./receipts.ts";
import type {
  DeadLetter,
  DeadLetterFilter,
  PullPosition,
  PullSearch,
  ReportDetail,
  ReportFetch,
  ReportHost,
  ReportStore,
  WaitingReport,
} from "./reports.ts";
import type { SecretCount, SecretCursor } from "./secrets.ts";
import type { LoggedMessage, LogPosition, LogQuery } from "./tracking.ts";

export interface Store extends CarrierStore, PinStore, ReportStore {
  /** Writes the messages and their charge, decides each one's status, and hands on to delivery what may go now. */
  accept(input: Acceptance): Promise<AcceptanceOutcome>;
  /** Where a short link leads. */
  link(input: { code: string }): Promise<{ target: string } | null>;
  /** Counts clicks, and tells clients of the first ones of each link. */
  clicked(input: { clicks: readonly Click[] }): Promise<void>;
  /** Deletes the links of messages from before a time that are deleted, a page at a time; `next` says where to go on. */
  purgeLinks(input: { beforeMs: number; after: MessageKey; limit: number }): Promise<{ next: MessageKey | null }>;
  /** Notes that a message brought what it was sent for. Null unless that was wished for. */
  endConversion(input: { accountId: number; messageId: string; atMs: number }): Promise<{ processKey: string } | null>;

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
  again(input: { messages: readonly HandedAgain[] }): Promise<HandedAgainAnswer>;
  finish(input: { endings: readonly Ending[] }): Promise<void>;
  /** Takes receipts in; those that match no message are kept, unless they only look like receipts. */
  received(input: CarrierReceipts): Promise<ReceivedReceipts>;
  /** Looks for parked receipts of these parts: on another node they may have come while the part was being written. */
  matchParked(input: { names: readonly PartName[] }): Promise<void>;
  /** Receipts that matched no message, newest first (of one carrier, or of before a time, if given), and how many there are in all. */
  parkedReceipts(input: ParkedFilter & { limit: number }): Promise<{ count: number; receipts: ParkedReceipt[] }>;
  /** What carriers said of a message after their last word, oldest first. */
  laterReceipts(input: { messageKey: MessageKey }): Promise<LaterReceipt[]>;
  /** Parts that the carrier took and has not said the last word about, by row, after `afterRow`. */
  outstanding(input: { carrierId: string; afterRow: number; limit: number }): Promise<OutstandingRow[]>;
  /**
   * Ends what has waited too long: messages in the backlog past their validity, and parts whose receipt never came. Of the parts one page is
   * looked at.
   */
  sweep(input: { nowMs: number; receiptWaitMs: number; limit: number; cursor: SweepCursor }): Promise<Swept>;
  /** Gives up ownership of what this node has not handed to a carrier, a page of it, so that the next start finds it at once. */
  handBack(input: { limit: number }): Promise<{ more: boolean }>;
  /** The same for some messages, which another node is to send. */
  release(input: { keys: readonly MessageKey[] }): Promise<void>;

  cluster(): Promise<Cluster>;
  /** The nodes one by one; with `storage`, what the data takes, which is looked up on the disk; with `replication`, the standbys of the database. */
  nodes(input: { storage?: boolean; replication?: boolean }): Promise<ClusterFacts>;
  /** What waits, each counted up to `limit`; with `held`, also what nodes have, or had when they died. What came in the last seconds may be missing. */
  backlog(input: { nowMs: number; limit: number; held?: boolean }): Promise<Backlog>;
  /** Which of the carriers' connections this node may have. Asked again and again: nodes come and go. */
  shareBinds(input: { claims: readonly BindClaim[] }): Promise<BindShare[]>;

  /** Null where the account has no such bulk. */
  bulk(input: BulkName): Promise<Bulk | null>;
  /** A page of a bulk's messages: whether any has not got its last word, and whether any was sent. `lastKey` is null on the last page. */
  lookThroughBulk(
    input: BulkName & { afterKey: MessageKey; limit: number },
  ): Promise<{ unfinished: boolean; sent: boolean; lastKey: MessageKey | null }>;
  /** An account's bulks, newest first, from before a place on: those with scheduled messages, and those of many that were sent at once. */
  listedBulks(input: { accountId: number; before: BulkPosition | null; limit: number }): Promise<ListedBulk[]>;
  /** One of them, or any other that has a message. */
  listedBulk(input: BulkName): Promise<ListedBulk | null>;
  /** What became of a page of a bulk's messages, from behind a key on. What happened in the last seconds may be missing. */
  countBulk(input: BulkName & { afterKey: MessageKey; limit: number }): Promise<BulkCount>;
  /** Messages that still wait go at another time, and their validity counts from then. They follow in pages, with `claimDue`. */
  moveBulk(input: BulkName & { sendAtMs: number; nowMs: number }): Promise<BulkChangeOutcome>;
  /** Pauses, resumes or calls off what still waits. Nothing goes against it from this commit on; refunds follow in pages, with `claimDue`. */
  setBulkStatus(input: BulkName & { status: BulkStatus }): Promise<BulkChangeOutcome>;

  /** Keeps what phones sent, part by part; what is whole with it becomes a message of the number's account. */
  incoming(input: { carrierId: string; parts: readonly IncomingPart[]; nowMs: number }): Promise<IncomingOutcome>;
  /**
   * Long messages whose missing parts have not come for `waitMs` become messages as they are. Those that were made messages so long
   * ago are forgotten: until then a part that comes again is known. `waits` says whether there are others of either kind.
   */
  sweepIncoming(input: {
    nowMs: number;
    waitMs: number;
    limit: number;
  }): Promise<IncomingOutcome & { readonly more: boolean; readonly waits: boolean }>;
  /**
   * An account's messages that are not pushed, oldest first, and how many more there are, to a bound. Nobody else gets them until `againAtMs`;
   * whoever has them for good confirms them by their ids.
   */
  fetchIncoming(
    input: Pick<ReportFetch, "accountId" | "limit" | "nowMs" | "againAtMs" | "platform">,
  ): Promise<{ messages: IncomingFacts[]; pending: number }>;
  confirmIncoming(input: { keys: readonly string[] }): Promise<void>;
  /** An account's messages from phones, newest first, from before a key on, whether they were fetched or not. They stay as they are. */
  listedIncoming(input: { accountId: number; beforeKey: string | null; limit: number }): Promise<ListedIncoming[]>;
  /** Messages that no account gets, newest first, and how many there are. */
  unmatchedIncoming(input: { limit: number }): Promise<{ count: number; messages: UnmatchedIncoming[] }>;

  /**
   * Last reports of messages without a URL to push them to, oldest first. Nobody else gets them until `againAtMs`; whoever has them for
   * good confirms them by their keys.
   */
  fetchReports(input: ReportFetch): Promise<{ keys: MessageKey[]; reports: ReportFacts[] }>;
  /** Which reports a filter matches, of a bounded number; `next` says where to go on. */
  searchReports(input: PullSearch): Promise<{ keys: MessageKey[]; next: PullPosition | null }>;
  confirmReports(input: { keys: readonly MessageKey[] }): Promise<void>;
  /** An account's messages, newest first. A page may have fewer than there are, or none: `next` says where to go on, if there may be more. */
  logs(input: LogQuery): Promise<{ messages: LoggedMessage[]; next: LogPosition | null }>;
  /** Messages by any filter, newest first, of one account or of all. It looks at a bounded number of rows, and says where to go on. */
  findMessages(input: MessageSearch): Promise<MessagePage>;
  /** Of the newest messages, how many failed, are tried again, are stuck, wait for their time. */
  countMessages(input: Pick<MessageSearch, "accountId" | "stuckBeforeMs" | "overdueBeforeMs">): Promise<MessageCounts>;
  /** All that is known of a message, by its key; of an account's also by its client's name. Null where the account has no such message. */
  messageLife(input: { accountId: number | null; messageId: string }): Promise<MessageLife | null>;
  /**
   * Pushes a message's report once more: a dead letter lives again, one that waits for its next try goes now, and of a message whose
   * report was taken there is a new one. One that is being pushed, or waits for another, is on its way: there is never a second beside it.
   */
  replayReport(input: {
    accountId: number;
    key: MessageKey;
    reportIds: readonly string[];
    nowMs: number;
  }): Promise<"replayed" | "hastened" | "sent anew" | "on its way" | "nothing to replay">;
  /** Notes steps of messages, for people. */
  keepTrace(input: { notes: readonly TraceNote[] }): Promise<void>;
  /** Deletes steps that were noted before a time, a page at a time. */
  purgeTrace(input: { beforeMs: number; limit: number }): Promise<{ more: boolean }>;

  /** Gives the account a new signing secret; the one before it stays good until it is dropped. */
  rotateCallbackSecret(
    input: Partial<Made> & { accountKey: string; secret: string },
  ): Promise<"done" | "unknown account">;
  dropOldCallbackSecret(input: Partial<Made> & { accountKey: string }): Promise<"done" | "unknown account">;
  /** Dead letters, newest first, from before `beforeId` on. */
  deadLetters(input: DeadLetterFilter & { beforeId: string | null; limit: number }): Promise<DeadLetter[]>;
  /**
   * Sends dead letters again, as if for the first time, at most `limit` of them, oldest first, from behind `afterId` on. By their ids, of one account
   * or of all. `next` says where to go on, if there may be more: a letter that dies again at once is behind that.
   */
  replayDeadLetters(
    input: (
      | (DeadLetterFilter & { afterId?: string | null })
      | { ids: readonly string[]; accountKey: string | null }
    ) & {
      nowMs: number;
      limit: number;
    },
  ): Promise<{ replayed: number; next: string | null }>;
  /** Reports that failed are tried again now: of a host, from behind `afterId` on, or by their ids. */
  retryReports(
    input: (
      | { accountKey: string; host: string; afterId: string | null }
      | { ids: readonly string[]; accountKey: string | null }
    ) & { nowMs: number; limit: number },
  ): Promise<{ retried: number; next: string | null }>;
  /** The hosts that do not take reports: an account's, or everybody's. What happened in the last seconds may be missing, here and below. */
  reportHosts(input: { accountKey: string | null; limit: number }): Promise<ReportHost[]>;
  /** Those that failed and are tried again, newest first, from before `beforeId` on. */
  waitingReports(input: {
    accountKey: string;
    host: string;
    beforeId: string | null;
    limit: number;
  }): Promise<WaitingReport[]>;
  /** One that failed, of an account or of any; null if there is none, or it was taken meanwhile. */
  failedReport(input: { accountKey: string | null; id: string }): Promise<ReportDetail | null>;

  createAccount(input: NewAccount): Promise<AccountCreation>;
  findLogin(input: { username: string }): Promise<Login | null>;
  countAccounts(input: { kind: AccountKind }): Promise<number>;
  /** The login goes into the audit with it, unless that is left out. */
  createSession(input: NewSession): Promise<void>;
  /** The session's account, if it is alive, and notes that it was used, unless it is only looked at. */
  findSession(input: {
    tokenHash: string;
    nowMs: number;
    idleMs: number;
    maxMs: number;
    lookOnly?: boolean;
  }): Promise<Account | null>;
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
  /** The key's account, and notes that the key was used. One that has expired is found with its end, and not noted. */
  findApiKey(input: { keyHash: string; nowMs: number }): Promise<Account | null>;
  /** Whose key has this id, which may be seen, and what it is called; null for none. */
  apiKeyOwner(input: { id: string }): Promise<{ readonly accountId: number; readonly name: string | null } | null>;
  /** Those of one account, or of all in a tenant. */
  apiKeys(input: { accountKey: string | null } & Partial<Tenant>): Promise<ApiKey[]>;
  revokeApiKey(input: Partial<Made> & { id: string } & Partial<Tenant>): Promise<"revoked" | "unknown key">;

  /** Accounts by key, from behind `afterKey` on; null where it does not matter. */
  accounts(
    input: Tenant & { kind: AccountKind | null; suspended: boolean | null; afterKey: string | null; limit: number },
  ): Promise<ManagedAccount[]>;
  account(input: Tenant & { key: string }): Promise<ManagedAccount | null>;
  accountKey(input: { accountId: number }): Promise<string | null>;
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

  changeSubscriptions(input: Made & { accountId: number; change: SubscriptionChange }): Promise<SubscriptionOutcome>;
  /** What an account says of its people, and its key; null where the tenant has no such account. */
  profile(input: Tenant & { accountId: number }): Promise<{ key: string; profile: Profile } | null>;
  changeProfile(input: { accountId: number; change: Profile }): Promise<Profile>;

  balance(input: { accountId: number }): Promise<Balance>;
  fund(input: Funding): Promise<FundingOutcome>;
  moveFunds(input: FundsMove): Promise<FundsMoveOutcome>;
  /** Gives what is wrong; nothing when all is well. */
  verifyLedger(): Promise<string[]>;
  /** What can be seen of the books from the wallets alone. `isWhole`: there are no more wallets than were looked at. */
  checkWallets(input: { limit: number }): Promise<{ faults: string[]; wallets: number; isWhole: boolean }>;
  postings(input: PostingRange): Promise<Posting[]>;
  balanceBehind(input: { accountId: number; place: PostingPosition }): Promise<BalanceBehind>;
  /** What its postings come to, a page at a time: `next` says where to go on. */
  turnover(input: PostingRange): Promise<{ amountMicros: bigint; next: PostingPosition | null }>;
  /** The same by spans of time, in no order. */
  turnoverSteps(input: PostingRange & Totalling): Promise<{ steps: TurnoverStep[]; next: PostingPosition | null }>;
  /** What an account's messages have cost that carriers took, by when they were sent. */
  sentCosts(input: SentRange): Promise<{ costs: SentCost[]; next: SentPosition | null }>;
  /** What carriers took of them, by how their numbers begin. */
  sentTraffic(input: TrafficRange): Promise<{ traffic: SentTraffic[]; next: SentPosition | null }>;

  /** An accountKey of null is the service's own list. */
  optOut(input: {
    accountKey: string | null;
    number: string;
    by?: Actor;
    atMs: number;
  }): Promise<"added" | "unknown account">;
  optIn(input: Partial<Made> & { accountKey: string | null; number: string }): Promise<"removed" | "unknown account">;
  /** A list's numbers in order, from behind `after` on; those alone that begin so where a prefix is given. */
  optOuts(input: {
    accountKey: string | null;
    after: string;
    prefix?: string;
    limit: number;
  }): Promise<{ number: string; atMs: number }[] | "unknown account">;

  /** Which of these numbers, at most `MAX_OPT_OUT_NUMBERS`, want no messages of an account's, and on whose list they stand. */
  optedOut(input: { accountId: number; numbers: readonly string[] }): Promise<OptedOut[]>;

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
  /** Deletes replay answers, sessions and ids of messages from phones that nobody can use any more, a page at a time. */
  purgeExpired(input: {
    nowMs: number;
    replayMs: number;
    sessionMs: number;
    limit: number;
  }): Promise<{ more: boolean }>;

  /** Deletes the rows of bulks that were sent at once before a time, a page at a time. Their messages leave by themselves. */
  purgeListedBulks(input: { beforeMs: number; limit: number }): Promise<{ more: boolean }>;
  /** Fills in what rows of an older version do not have: hosts of reports that failed, and when bulks were made. */
  fillIn(input: { limit: number }): Promise<{ more: boolean }>;
  /** The sandbox's clock is moved by so much, and the people who are logged in do not move with it: their sessions last as long as before. */
  moveSessions(input: { byMs: number }): Promise<void>;
  /** How many scheduled messages and reports wait for a time until then, of an account or of all (null); of the first 10,000 of each. */
  waitingUntil(input: {
    untilMs: number;
    accountId: number | null;
  }): Promise<{ messages: number; reports: number; firstMessageAtMs: number | null }>;

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
  quarantine(input: { items: readonly NewQuarantined[] }): Promise<void>;
  /** What is kept aside, newest first, and how much there is. */
  quarantined(input: { limit: number }): Promise<{ items: Quarantined[] } & QuarantineCounts>;
  /** Deletes what somebody has looked at: what matched nothing, or is kept aside. What holds a message only if it is said what becomes of that. */
  discard(input: Made & { kind: AsideKind; ids: readonly string[]; held?: HeldFate }): Promise<{ discarded: number }>;
}

export type CommandName = keyof Store;

export type CommandInput<Name extends CommandName> = Parameters<Store[Name]>[0];

export type CommandOutput<Name extends CommandName> = Awaited<ReturnType<Store[Name]>>;
