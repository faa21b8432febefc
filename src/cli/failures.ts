/** `heliograph message failures`: why an account's messages fail. */
import type { Command } from "commander";
import { type FailureReason, failuresOf, reasonWords } from "../admin/failures.ts";
import { systemClock } from "../runtime/clock.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import { findError } from "../sms/errors.ts";
import { statusById } from "../sms/statuses.ts";
import { type Column, counted, type JsonOption, shownAsJson, showTable } from "./show.ts";
import { accountNamed, type CommonOptions, jsonCommand, momentOf, onStore, say } from "./support.ts";

interface FailuresOptions extends CommonOptions, JsonOption {
  readonly account: string;
  readonly since?: string;
  readonly until?: string;
}

const DAY_MS = 24 * 60 * 60_000;

export function failuresCommand(): Command {
  return jsonCommand(
    "failures",
    "Say why an account's messages fail: how many of a time for which reason, and the latest of each.",
    "heliograph message failures --account ACME --since 2026-11-01",
  )
    .requiredOption("--account <key>", "whose messages")
    .option("--since <time>", "sent at this time or later: a day, or a moment (default: a day before --until)")
    .option("--until <time>", "sent at this time or before (default: now)")
    .action(showFailures);
}

async function showFailures(options: FailuresOptions): Promise<void> {
  const untilMs = options.until === undefined ? systemClock.now() : momentOf(options.until, "--until");
  const sinceMs = options.since === undefined ? untilMs - DAY_MS : momentOf(options.since, "--since");
  const found = await onStore(options, async (store) => {
    const { id: accountId } = await accountNamed(store, options.account);
    return failuresOf((search) => store.findMessages(search), { accountId, sinceMs, untilMs });
  });
  const { examined: messages, failed, isWhole: complete } = found;
  const reasons = found.reasons.map(shown);
  if (shownAsJson(options, { account: options.account, messages, failed, complete, reasons })) return;
  if (reasons.length > 0) showTable(COLUMNS, reasons);
  const looked = complete ? "" : "the newest ";
  say(`Of ${looked}${counted(messages, "message")} ${failed === 0 ? "none" : failed} failed.`);
}

function shown(reason: FailureReason) {
  const { statusId, errorId, count, latest } = reason;
  return {
    reason: reasonWords(reason),
    status: statusById(statusId).name,
    error: errorId === 0 ? null : (findError(errorId)?.name ?? `error ${errorId}`),
    count,
    latest: latest.map(({ key, atMs, to }) => ({ id: key, at: formatDateTime(atMs), to })),
  };
}

const COLUMNS: readonly Column<ReturnType<typeof shown>>[] = [
  { title: "COUNT", of: ({ count }) => count, right: true },
  { title: "REASON", of: ({ reason }) => reason },
  { title: "STATUS", of: ({ status }) => status },
  { title: "ERROR", of: ({ error }) => error ?? "" },
  { title: "LATEST", of: ({ latest }) => latest[0]?.at ?? "" },
  { title: "MESSAGE", of: ({ latest }) => latest[0]?.id ?? "" },
];
