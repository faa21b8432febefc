/** `heliograph audit`: who changed what, and when. */
import { type Command, Option } from "commander";
import { auditFacts } from "../admin/audit-facts.ts";
import { AUDIT_KINDS } from "../commands/audit.ts";
import { formatMicros } from "../money/amounts.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import type { AuditEntry } from "../store/port/accounts.ts";
import { changeLines } from "./changes.ts";
import { printable, showJson } from "./show.ts";
import { EVERYTHING, jsonCommand, LIMIT, type LimitOptions, limitOf, onStore, say, wholeOf } from "./support.ts";

interface AuditOptions extends LimitOptions {
  readonly kind?: string;
  readonly subject?: string;
  readonly actor?: string;
  readonly before?: string;
}

export function auditCommand(): Command {
  return jsonCommand(
    "audit",
    "Show changes of accounts, keys and the catalogue, newest first: who made them, from where, and what was there before and after. Entries are never changed or deleted. Logins are shown with --kind login alone, and leave after [access] loginAuditDays.",
    "heliograph audit --kind account --subject ACME",
    'heliograph audit --actor "command line" --limit 10',
    "heliograph audit --kind funds --subject ACME",
    "heliograph audit --kind login --actor ACME",
  )
    .addOption(
      new Option("--kind <kind>", "only changes of one kind; logins are told for login alone").choices(AUDIT_KINDS),
    )
    .option("--subject <name>", "only changes of one: an account's key, a carrier's id")
    .option("--actor <name>", 'only changes by one: an account\'s key, or "command line"')
    .option("--before <id>", "only entries older than this one")
    .addOption(LIMIT)
    .action(async (options: AuditOptions) => {
      const { kind = null, subject = null, actor = null, before } = options;
      const beforeId = before === undefined ? null : wholeOf(before, "--before", 1, Number.MAX_SAFE_INTEGER);
      const limit = limitOf(options);
      const entries = await onStore(options, (store) =>
        store.audit({ ...EVERYTHING, kind, subject, actor, beforeId, limit }),
      );
      const rows = entries.map(shown);
      if (options.json === true) showJson(rows);
      else for (const row of rows) show(row);
      if (options.json !== true && rows.length === 0) say("There are no such entries.");
    });
}

function shown({ id, atMs, actor, address, action, kind, subject, before, after }: AuditEntry) {
  return {
    id,
    at: formatDateTime(atMs),
    actor,
    address,
    action,
    kind,
    subject,
    before: auditFacts(before, formatMicros),
    after: auditFacts(after, formatMicros),
  };
}

function show({ id, at, actor, address, action, kind, subject, before, after }: ReturnType<typeof shown>): void {
  const from = address === null ? "" : ` (${address})`;
  say(printable(`${id}  ${at}  ${actor}${from}  ${action} ${kind} ${subject}`));
  if (kind === "login" && after !== null) say(printable(`    ${Object.entries(after).flat().join(" ")}`));
  if (action === "create" || before === null || after === null) return;
  for (const line of changeLines(before, after)) say(`    ${line}`);
}
