/** The rules that an engine is given: all commands of the port over its tables, and what is written when they have run. */
import { LiveTap } from "../events/live.ts";
import type { CommandParts } from "../store/command-parts.ts";
import type { CommandTable, OwnCommands, Rules } from "../store/command-table.ts";
import { acceptCommands } from "./accept.ts";
import { accountCommands } from "./accounts.ts";
import { apiKeyCommands } from "./api-keys.ts";
import { auditCommands } from "./audit.ts";
import { backlogCommands } from "./backlog.ts";
import { bulkListCommands } from "./bulk-lists.ts";
import { Bulks } from "./bulks.ts";
import { callbackCommands } from "./callbacks.ts";
import { carrierCommands } from "./carriers.ts";
import { catalogueCommands } from "./catalogue.ts";
import { claimingCommands } from "./claiming.ts";
import { conversionCommands } from "./conversions.ts";
import { deadLetterCommands } from "./dead-letters.ts";
import { discardingCommands } from "./discarding.ts";
import { endings } from "./endings.ts";
import { FinishedCounts } from "./finished.ts";
import { fundsCommands } from "./funds.ts";
import { incomingCommands } from "./incoming.ts";
import { ledgerCommands } from "./ledger.ts";
import { linkCommands } from "./links.ts";
import { LiveNews } from "./live-news.ts";
import { loginEventCommands } from "./login-events.ts";
import { logCommands } from "./logs.ts";
import { messageLifeCommands } from "./message-life.ts";
import { messageSearchCommands } from "./message-search.ts";
import { optOutCommands } from "./opt-outs.ts";
import { pinApplicationCommands } from "./pin-applications.ts";
import { pinCommands } from "./pins.ts";
import { profileCommands } from "./profiles.ts";
import { pullCommands } from "./pull.ts";
import { quarantineCommands } from "./quarantine.ts";
import { Matches } from "./receipts/matches.ts";
import { receiptCommands } from "./receipts/received.ts";
import { Repeats } from "./receipts/repeats.ts";
import { unmatchedCommands } from "./receipts/unmatched.ts";
import { reportHostCommands } from "./report-hosts.ts";
import { flushReports, reportCommands } from "./reports.ts";
import { secondFactorCommands } from "./second-factor.ts";
import { secretCommands } from "./secrets.ts";
import { sentCostCommands } from "./sent-costs.ts";
import { sessionCommands } from "./sessions.ts";
import { statementCommands } from "./statements.ts";
import { submittingCommands, taking } from "./submitting.ts";
import { subscriptionCommands } from "./subscriptions.ts";
import { sweepingCommands } from "./sweeping.ts";
import { traceCommands } from "./trace.ts";
import { travellingCommands } from "./travelling.ts";
import { upgradedCommands } from "./upgraded.ts";

function commandTable(
  parts: CommandParts,
  own: OwnCommands,
  { finished, live }: { readonly finished: FinishedCounts; readonly live: LiveTap },
): CommandTable {
  const hearers = { finished, news: new LiveNews(live, parts.unit) };
  const bulks = new Bulks(parts);
  const repeats = new Repeats(parts.sql, parts.unit, parts.now);
  const ends = endings(parts, hearers);
  const beginMatches = (): Matches => new Matches(parts, repeats, ends);
  const takes = taking(parts, bulks, ends, hearers.news);
  return {
    ...acceptCommands(parts, bulks, hearers),
    ...linkCommands(parts),
    ...conversionCommands(parts),
    ...claimingCommands(parts, bulks, takes, beginMatches),
    ...submittingCommands(parts, bulks, ends, takes, beginMatches),
    ...receiptCommands(parts, repeats, beginMatches),
    ...sweepingCommands(parts, takes, beginMatches),
    ...bulks.commands(),
    ...bulkListCommands(parts),
    ...incomingCommands(parts, hearers.news),
    ...pullCommands(parts),
    ...logCommands(parts),
    ...messageSearchCommands(parts),
    ...messageLifeCommands(parts, ends),
    ...traceCommands(parts),
    ...reportCommands(parts),
    ...deadLetterCommands(parts),
    ...reportHostCommands(parts),
    ...upgradedCommands(parts),
    ...ledgerCommands(parts),
    ...fundsCommands(parts),
    ...accountCommands(parts),
    ...subscriptionCommands(parts),
    ...profileCommands(parts),
    ...sessionCommands(parts),
    ...travellingCommands(parts),
    ...optOutCommands(parts),
    ...pinApplicationCommands(parts),
    ...pinCommands(parts),
    ...callbackCommands(parts),
    ...secondFactorCommands(parts),
    ...loginEventCommands(parts),
    ...apiKeyCommands(parts),
    ...auditCommands(parts),
    ...catalogueCommands(parts),
    ...carrierCommands(parts),
    ...statementCommands(parts),
    ...sentCostCommands(parts),
    ...secretCommands(parts),
    ...quarantineCommands(parts),
    ...unmatchedCommands(parts),
    ...discardingCommands(parts, ends),
    ...backlogCommands(parts),
    ...own,
  };
}

/** The rules, with what they count of messages that come to an end, and with somebody who hears what becomes of them. */
export function rulesHeard(finished: FinishedCounts, live: LiveTap): Rules {
  return { commandTable: (parts, own) => commandTable(parts, own, { finished, live }), flushReports };
}

/** For whoever counts nothing and hears nothing. */
export const RULES = rulesHeard(new FinishedCounts(), LiveTap.none());
