/** All commands of the port, for an engine that gives them its tables. */
import type { CommandHandlers } from "../port.ts";
import { acceptCommand } from "./accept.ts";
import { accountCommands } from "./accounts.ts";
import { apiKeyCommands } from "./api-keys.ts";
import { auditCommands } from "./audit.ts";
import { Bulks } from "./bulks.ts";
import { catalogueCommands } from "./catalogue.ts";
import { deadLetterCommands } from "./dead-letters.ts";
import { deliveryCommands } from "./delivery.ts";
import { incomingCommands } from "./incoming.ts";
import { ledgerCommands } from "./ledger.ts";
import { loginEventCommands } from "./login-events.ts";
import { logCommands } from "./logs.ts";
import { managingCommands } from "./managing.ts";
import type { CommandParts } from "./parts.ts";
import { pullCommands } from "./pull.ts";
import { quarantineCommands } from "./quarantine.ts";
import { reportCommands } from "./reports.ts";
import { secondFactorCommands } from "./second-factor.ts";
import { secretCommands } from "./secrets.ts";
import { statementCommands } from "./statements.ts";
import { unmatchedCommands } from "./unmatched.ts";

/** What each engine does in its own way. */
export type OwnCommands = Pick<CommandHandlers, "cluster" | "shareBinds" | "purgeMessages">;

export function allCommands(parts: CommandParts, own: OwnCommands): CommandHandlers {
  const bulks = new Bulks(parts);
  return {
    accept: acceptCommand(parts, bulks),
    ...deliveryCommands(parts, bulks),
    ...bulks.commands(),
    ...incomingCommands(parts),
    ...pullCommands(parts),
    ...logCommands(parts),
    ...reportCommands(parts),
    ...deadLetterCommands(parts),
    ...ledgerCommands(parts),
    ...accountCommands(parts),
    ...secondFactorCommands(parts),
    ...loginEventCommands(parts),
    ...apiKeyCommands(parts),
    ...managingCommands(parts),
    ...auditCommands(parts),
    ...catalogueCommands(parts),
    ...statementCommands(parts),
    ...secretCommands(parts),
    ...quarantineCommands(parts),
    ...unmatchedCommands(parts),
    ...own,
  };
}
