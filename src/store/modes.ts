/**
 * The commands of the store by their names, and how each of them runs:
 *
 *      read               changes nothing, so it waits for nobody
 *      search             the same of what may look at very many rows: searches take turns with requests of many messages (group.ts)
 *      long read          the same for all there is: it may take longer than a lookup
 *      grouped            shares a transaction. It says before it runs what it will read, so that an engine far from its data loads that for a
 *                         whole group at once
 *      own transaction    finds its rows by searching: it waits for its turn, and then has a transaction for itself
 *      concurrent         has a transaction for itself that waits for nobody: it touches nothing that delivery knows of
 *      touch              the same, and it writes no more than when something was last used: its answer stands where nothing can be written
 *      many transactions  makes its own, and waits for nobody
 *
 * SQLite has one writer, so there everything that writes shares a transaction. Threads that only pass calls on need no more than this file. A
 * new command has its types in port/store.ts, its line here, and its function in a file of commands/; without one of them nothing compiles.
 */
import { PIN_MODES } from "../pins/commands.ts";
import type { CommandName } from "./port/store.ts";

export type CommandMode =
  | "read"
  | "search"
  | "long read"
  | "grouped"
  | "own transaction"
  | "concurrent"
  | "touch"
  | "many transactions";

export const COMMAND_MODES = {
  accept: "grouped",
  claimDue: "own transaction",
  claimLane: "own transaction",
  submitted: "grouped",
  reroute: "grouped",
  postpone: "grouped",
  again: "grouped",
  finish: "grouped",
  received: "grouped",
  matchParked: "grouped",
  parkedReceipts: "read",
  laterReceipts: "read",
  link: "read",
  clicked: "own transaction",
  purgeLinks: "concurrent",
  endConversion: "own transaction",
  outstanding: "read",
  sweep: "own transaction",
  handBack: "own transaction",
  release: "grouped",
  cluster: "read",
  nodes: "read",
  backlog: "read",
  shareBinds: "own transaction",
  bulk: "read",
  lookThroughBulk: "read",
  listedBulks: "search",
  listedBulk: "read",
  countBulk: "read",
  moveBulk: "own transaction",
  setBulkStatus: "own transaction",
  incoming: "own transaction",
  sweepIncoming: "own transaction",
  fetchIncoming: "own transaction",
  confirmIncoming: "own transaction",
  listedIncoming: "search",
  unmatchedIncoming: "read",
  fetchReports: "own transaction",
  searchReports: "search",
  confirmReports: "own transaction",
  logs: "search",
  findMessages: "search",
  countMessages: "search",
  messageLife: "search",
  replayReport: "own transaction",
  keepTrace: "concurrent",
  purgeTrace: "concurrent",
  dueReports: "own transaction",
  reportsDelivered: "grouped",
  reportsFailed: "grouped",
  reportsReleased: "grouped",
  mergeReports: "grouped",
  callbackPolicy: "read",
  rotateCallbackSecret: "own transaction",
  dropOldCallbackSecret: "own transaction",
  deadLetters: "search",
  replayDeadLetters: "own transaction",
  retryReports: "own transaction",
  reportHosts: "read",
  waitingReports: "read",
  failedReport: "read",
  createAccount: "own transaction",
  findLogin: "read",
  countAccounts: "read",
  createSession: "concurrent",
  findSession: "touch",
  endSession: "concurrent",
  secondFactor: "read",
  beginSecondFactor: "own transaction",
  confirmSecondFactor: "own transaction",
  useSecondFactor: "concurrent",
  removeSecondFactor: "own transaction",
  noteLogin: "concurrent",
  purgeLoginEvents: "concurrent",
  createApiKey: "own transaction",
  findApiKey: "touch",
  apiKeyOwner: "read",
  apiKeys: "read",
  revokeApiKey: "own transaction",
  accounts: "read",
  account: "read",
  accountKey: "read",
  changeAccount: "own transaction",
  setPassword: "own transaction",
  endSessions: "own transaction",
  changeSubscriptions: "own transaction",
  profile: "read",
  changeProfile: "own transaction",
  audit: "read",
  balance: "read",
  fund: "own transaction",
  moveFunds: "own transaction",
  verifyLedger: "long read",
  checkWallets: "read",
  postings: "search",
  balanceBehind: "read",
  turnover: "search",
  turnoverSteps: "search",
  sentCosts: "search",
  sentTraffic: "search",
  optOut: "own transaction",
  optIn: "own transaction",
  optOuts: "read",
  optedOut: "read",
  claimPurpose: "own transaction",
  purpose: "read",
  changeCounter: "read",
  catalogue: "read",
  putCatalogue: "own transaction",
  putItem: "own transaction",
  deleteItem: "own transaction",
  noteCarriers: "concurrent",
  carrierNotes: "read",
  reconnectCarrier: "own transaction",
  noteCarrierTry: "own transaction",
  reconnects: "read",
  purgeMessages: "many transactions",
  purgeExpired: "own transaction",
  purgeListedBulks: "own transaction",
  fillIn: "own transaction",
  moveSessions: "concurrent",
  waitingUntil: "read",
  secretKeys: "read",
  sealSecrets: "own transaction",
  dropUnmatched: "own transaction",
  quarantine: "own transaction",
  quarantined: "read",
  discard: "own transaction",
  ...PIN_MODES,
} as const satisfies Record<CommandName, CommandMode>;

export const COMMAND_NAMES = Object.keys(COMMAND_MODES) as CommandName[];

export const READS: ReadonlySet<CommandMode> = new Set(["read", "search", "long read"]);
