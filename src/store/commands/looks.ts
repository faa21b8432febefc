/** Commands that only read: they need no place among those that write, and keep nobody from writing. */
import type { CommandName } from "../port.ts";

export const LOOKS: ReadonlySet<CommandName> = new Set([
  "parkedReceipts",
  "outstanding",
  "bulk",
  "lookThroughBulk",
  "unmatchedIncoming",
  "logs",
  "callbackPolicy",
  "deadLetters",
  "findLogin",
  "countAccounts",
  "apiKeys",
  "accounts",
  "account",
  "audit",
  "postings",
  "turnover",
  "optOuts",
  "balance",
  "verifyLedger",
  "purpose",
  "changeCounter",
  "catalogue",
  "cluster",
  "quarantined",
]);
