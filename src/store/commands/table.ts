/** All commands of the port, for an engine that gives them its tables. */
import { acceptCommands } from "./accept.ts";
import { accountCommands } from "./accounts.ts";
import { apiKeyCommands } from "./api-keys.ts";
import { auditCommands } from "./audit.ts";
import { Bulks } from "./bulks.ts";
import { callbackCommands } from "./callbacks.ts";
import { catalogueCommands } from "./catalogue.ts";
import { claimingCommands } from "./claiming.ts";
import { deadLetterCommands } from "./dead-letters.ts";
import { endings } from "./endings.ts";
import type { CommandTable } from "./entry.ts";
import { incomingCommands } from "./incoming.ts";
import { ledgerCommands } from "./ledger.ts";
import { loginEventCommands } from "./login-events.ts";
import { logCommands } from "./logs.ts";
import { matching } from "./matching.ts";
import { optOutCommands } from "./opt-outs.ts";
import type { CommandParts } from "./parts.ts";
import { pullCommands } from "./pull.ts";
import { quarantineCommands } from "./quarantine.ts";
import { receiptCommands } from "./receipts.ts";
import { Repeats } from "./repeats.ts";
import { reportCommands } from "./reports.ts";
import { secondFactorCommands } from "./second-factor.ts";
import { secretCommands } from "./secrets.ts";
import { sessionCommands } from "./sessions.ts";
import { statementCommands } from "./statements.ts";
import { submittingCommands, taking } from "./submitting.ts";
import { sweepingCommands } from "./sweeping.ts";
import { unmatchedCommands } from "./unmatched.ts";

/** What each engine does in its own way. */
export type OwnCommands = Pick<CommandTable, "cluster" | "shareBinds" | "purgeMessages">;

export function commandTable(parts: CommandParts, own: OwnCommands): CommandTable {
  const bulks = new Bulks(parts);
  const repeats = new Repeats(parts.sql, parts.unit, parts.now);
  const ends = endings(parts);
  const matches = matching(parts, repeats, ends);
  const takes = taking(parts, bulks, ends, matches);
  return {
    ...acceptCommands(parts, bulks),
    ...claimingCommands(parts, bulks, ends, takes),
    ...submittingCommands(parts, ends, takes),
    ...receiptCommands(parts, repeats, matches),
    ...sweepingCommands(parts, ends, matches, takes),
    ...bulks.commands(),
    ...incomingCommands(parts),
    ...pullCommands(parts),
    ...logCommands(parts),
    ...reportCommands(parts),
    ...deadLetterCommands(parts),
    ...ledgerCommands(parts),
    ...accountCommands(parts),
    ...sessionCommands(parts),
    ...optOutCommands(parts),
    ...callbackCommands(parts),
    ...secondFactorCommands(parts),
    ...loginEventCommands(parts),
    ...apiKeyCommands(parts),
    ...auditCommands(parts),
    ...catalogueCommands(parts),
    ...statementCommands(parts),
    ...secretCommands(parts),
    ...quarantineCommands(parts),
    ...unmatchedCommands(parts),
    ...own,
  };
}
