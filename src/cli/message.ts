/** `heliograph message list|show`: messages as the store has them, for whoever is asked where one is. */

import { Command } from "commander";
import { ALL_MESSAGES, messagesNamed, type OperatedMessage } from "../admin/messages.ts";
import { CARRIED_NAMES, carriedOf } from "../message/carried.ts";
import { formatMicros } from "../money/amounts.ts";
import { systemClock } from "../runtime/clock.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import { errorById } from "../sms/errors.ts";
import { statusById } from "../sms/statuses.ts";
import { searchLogs } from "../store/log-search.ts";
import type { LaterReceipt } from "../store/port/receipts.ts";
import type { Store } from "../store/port/store.ts";
import type { LoggedMessage } from "../store/port/tracking.ts";
import { withExample } from "./example.ts";
import { type Cell, type Column, counted, type JsonOption, showFields, showJson, showList, withJson } from "./show.ts";
import {
  accountNamed,
  allAccounts,
  CommandFault,
  type CommonOptions,
  limitOf,
  momentOf,
  onStore,
  say,
  withStoreOptions,
} from "./support.ts";

interface ListOptions extends CommonOptions, JsonOption {
  readonly account: string;
  readonly limit: string;
  readonly from?: string;
  readonly to?: string;
  readonly bulk?: string;
  readonly since?: string;
  readonly until?: string;
}

function shown(message: LoggedMessage) {
  const status = statusById(message.statusId);
  return {
    messageId: message.messageId,
    bulkId: message.bulkId,
    from: message.from,
    to: message.to,
    text: message.text,
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

/** "callbackData" → "Callback data" */
function wordsOf(name: string): string {
  return name
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/^./, (letter) => letter.toUpperCase());
}

function shownLater({ carrierId, carrierMessageId, outcome, errorId, atMs }: LaterReceipt) {
  return {
    receivedAt: formatDateTime(atMs),
    carrier: carrierId,
    carrierMessageId,
    outcome,
    error: errorId === 0 ? null : errorById(errorId).name,
  };
}

const COLUMNS: readonly Column<Shown>[] = [
  { title: "SENT", of: ({ sentAt }) => sentAt },
  { title: "MESSAGE", of: ({ messageId }) => messageId },
  { title: "FROM", of: ({ from }) => from },
  { title: "TO", of: ({ to }) => to },
  { title: "PARTS", of: ({ parts }) => parts, right: true },
  { title: "PRICE", of: ({ price }) => price, right: true },
  { title: "STATUS", of: ({ status }) => status },
  { title: "ERROR", of: ({ error }) => error ?? "" },
];

export function messageCommand(): Command {
  const list = withExample(
    withJson(
      withStoreOptions(
        new Command("list").description("Show an account's messages, newest first, without their text."),
      ),
    ),
    "heliograph message list --account ACME --to 41793026727",
    "heliograph message list --account ACME --since 2026-11-01 --until 2026-11-02 --limit 500 --json",
  )
    .requiredOption("--account <key>", "whose messages")
    .option("--from <sender>", "only those of a sender")
    .option("--to <number>", "only those to a number")
    .option("--bulk <id>", "only those of a bulk")
    .option("--since <time>", "sent at this time or later: a day, or a moment with its offset")
    .option("--until <time>", "sent at this time or before")
    .option("--limit <number>", "how many", "50")
    .action(listMessages);

  const show = withExample(
    withJson(
      withStoreOptions(
        new Command("show").description(
          "Show one message: what it says, when it was sent and done, what became of it and what it cost.",
        ),
      ),
    ),
    "heliograph message show 1234567890123456789 --account ACME",
  )
    .argument("<id>", "the messageId that the client has")
    .option("--account <key>", "whose it is (default: look at all accounts)")
    .action(showMessage);

  return new Command("message").description("Messages, as the store has them.").addCommand(list).addCommand(show);
}

async function listMessages(options: ListOptions): Promise<void> {
  const { since, until, from = null, to = null, bulk } = options;
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
  showList(options, COLUMNS, messages.map(shown), lastLine);
}

interface Found extends OperatedMessage {
  readonly account: string;
  /** Dead letters of its account from after it was sent: one of them may be its report. */
  readonly deadLetters: number;
}

const MAX_LETTERS = 1_000;

async function find(store: Store, id: string, accountKey: string | undefined): Promise<Found[]> {
  const accounts = accountKey === undefined ? allAccounts(store) : [await accountNamed(store, accountKey)];
  const found: Found[] = [];
  for await (const { id: accountId, key: account } of accounts) {
    const named = await messagesNamed(store, { accountId, messageId: id, nowMs: systemClock.now() });
    for (const { message, later } of named) {
      const letters = await store.deadLetters({ accountKey: account, url: null, beforeId: null, limit: MAX_LETTERS });
      const deadLetters = letters.filter(({ deadAtMs }) => deadAtMs >= message.sentAtMs).length;
      found.push({ account, message, deadLetters, later });
    }
  }
  return found;
}

async function showMessage(id: string, options: CommonOptions & JsonOption & { account?: string }): Promise<void> {
  const found = await onStore(options, (store) => find(store, id, options.account));
  if (found.length === 0)
    throw new CommandFault(
      `there is no message ${id}${options.account === undefined ? "" : ` of ${options.account}`}, or it was deleted after store.retentionDays`,
    );
  if (options.json === true) {
    showJson(
      found.map(({ account, message, deadLetters, later }) => ({
        account,
        ...shown(message),
        deadLetters,
        laterReceipts: later.map(shownLater),
      })),
    );
    return;
  }
  for (const [index, one] of found.entries()) {
    if (index > 0) say("");
    showFields(fieldsOf(one));
  }
}

function laterLine(receipt: LaterReceipt): string {
  const { receivedAt, carrier, carrierMessageId, outcome, error } = shownLater(receipt);
  return `${outcome}${error === null ? "" : ` (${error})`} of ${carrierMessageId} from ${carrier} at ${receivedAt}`;
}

function fieldsOf({ account, message, deadLetters, later }: Found): Record<string, Cell> {
  const { description, groupName } = statusById(message.statusId);
  const one = shown(message);
  return {
    Message: one.messageId,
    Bulk: one.bulkId,
    Account: account,
    From: one.from,
    To: one.to,
    Text: JSON.stringify(one.text),
    Parts: one.parts,
    Sent: one.sentAt,
    Done: one.doneAt ?? "not yet",
    Status: `${one.status} (${groupName}: ${description})`,
    Error: one.error ?? "none",
    Price: `${one.price} ${one.currency} (${one.pricePerPart} a part)`,
    Network: one.mccMnc,
    ...Object.fromEntries(CARRIED_NAMES.map((name) => [wordsOf(name), one[name]])),
    "Dead letters":
      deadLetters === 0
        ? "none since"
        : `${counted(deadLetters, "report")} of the account since: see "heliograph report dead"`,
    ...(later.length === 0 ? {} : { "After its end": `the carrier said ${later.map(laterLine).join(", ")}` }),
  };
}
