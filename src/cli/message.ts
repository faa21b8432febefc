/** `heliograph message list`: messages as the store has them. What is known of one is in message-show.ts. */
import { Command } from "commander";
import { searchLogs } from "../admin/log-search.ts";
import { ALL_MESSAGES } from "../admin/messages.ts";
import { carriedOf } from "../message/fields.ts";
import { formatMicros } from "../money/amounts.ts";
import { systemClock } from "../runtime/clock.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import { plainPhone } from "../sms/addresses.ts";
import { errorById } from "../sms/errors.ts";
import { statusById } from "../sms/statuses.ts";
import type { LoggedMessage } from "../store/port/tracking.ts";
import { failuresCommand } from "./failures.ts";
import { showCommand } from "./message-show.ts";
import { type Column, counted, showList } from "./show.ts";
import { accountNamed, jsonCommand, LIMIT, type LimitOptions, limitOf, momentOf, onStore } from "./support.ts";

interface ListOptions extends LimitOptions {
  readonly account: string;
  readonly text?: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly bulk?: string;
  readonly since?: string;
  readonly until?: string;
}

/** What messages say is shown to whoever asks for it, and to nobody by the way. */
function shown(message: LoggedMessage, withText: boolean) {
  const status = statusById(message.statusId);
  return {
    messageId: message.messageId,
    bulkId: message.bulkId,
    from: message.from,
    to: message.to,
    ...(withText ? { text: message.text } : {}),
    parts: message.smsCount,
    sentAt: formatDateTime(message.sentAtMs),
    doneAt: message.doneAtMs === null ? null : formatDateTime(message.doneAtMs),
    status: status.name,
    final: status.final,
    error: message.errorId === 0 ? null : errorById(message.errorId).name,
    pricePerPart: formatMicros(message.pricePerPartMicros),
    price: formatMicros(message.pricePerPartMicros * BigInt(message.smsCount)),
    currency: message.currency,
    mccMnc: message.mccMnc,
    ...carriedOf(message),
  };
}

type Shown = ReturnType<typeof shown>;

const COLUMNS: readonly Column<Shown>[] = [
  // When it was sent or, until then, received: the order of the list.
  { title: "TIME", of: ({ sentAt }) => sentAt },
  { title: "MESSAGE", of: ({ messageId }) => messageId },
  { title: "FROM", of: ({ from }) => from },
  { title: "TO", of: ({ to }) => to },
  { title: "PARTS", of: ({ parts }) => parts, right: true },
  { title: "PRICE", of: ({ price }) => price, right: true },
  { title: "STATUS", of: ({ status }) => status },
  { title: "ERROR", of: ({ error }) => error ?? "" },
];
const TEXT: Column<Shown> = { title: "TEXT", of: ({ text }) => JSON.stringify(text) };

export function messageCommand(): Command {
  const list = jsonCommand(
    "list",
    "Show an account's messages, newest first. What they say is left out, in both outputs, unless --text asks for it.",
    "heliograph message list --account ACME --to 41793026727",
    "heliograph message list --account ACME --since 2026-11-01 --until 2026-11-02 --limit 500 --json",
  )
    .requiredOption("--account <key>", "whose messages")
    .option("--from <sender>", "only those of a sender")
    .option("--to <number>", "only those to a number")
    .option("--bulk <id>", "only those of a bulk")
    .option("--since <time>", "sent at this time or later: a day, or a moment, in UTC unless it has an offset")
    .option("--until <time>", "sent at this time or before")
    .option("--text", "show what they say, too: as a column, and as a field with --json")
    .addOption(LIMIT)
    .action(listMessages);

  return new Command("message")
    .description("Messages, as the store has them.")
    .addCommand(list)
    .addCommand(showCommand())
    .addCommand(failuresCommand());
}

async function listMessages(options: ListOptions): Promise<void> {
  const { since, until, from = null, bulk } = options;
  const to = options.to === undefined ? null : plainPhone(options.to);
  const limit = limitOf(options);
  const range = {
    ...(since === undefined ? {} : { sinceMs: momentOf(since, "--since") }),
    ...(until === undefined ? {} : { untilMs: momentOf(until, "--until") }),
  };
  const messages = await onStore(options, async (store) => {
    const { id: accountId } = await accountNamed(store, options.account);
    const bulkIds = bulk === undefined ? null : [bulk];
    const query = { ...ALL_MESSAGES, ...range, accountId, limit, from, to, bulkIds };
    return searchLogs({ page: store.logs, query, nowMs: systemClock.now() });
  });
  const more = messages.length === limit ? ' There may be more: see "--limit".' : "";
  const lastLine =
    messages.length === 0 ? "There are no such messages." : `${counted(messages.length, "message")}.${more}`;
  const withText = options.text === true;
  const rows = messages.map((message) => shown(message, withText));
  showList(options, withText ? [...COLUMNS, TEXT] : COLUMNS, rows, lastLine);
}
