/** `heliograph receipt list`: receipts from carriers that match no message, for finding out why. */
import { Command } from "commander";
import { formatDateTime } from "../schedule/date-time.ts";
import { errorById } from "../sms/errors.ts";
import type { ParkedReceipt } from "../store/port.ts";
import { withExample } from "./example.ts";
import { type Column, type JsonOption, showList, withJson } from "./show.ts";
import { type CommonOptions, limitOf, onStore, withStoreOptions } from "./support.ts";

interface ListOptions extends CommonOptions, JsonOption {
  readonly limit: string;
}

function shown({ atMs, carrierId, carrierMessageId, to, outcome, errorId }: ParkedReceipt) {
  return {
    receivedAt: formatDateTime(atMs),
    carrier: carrierId,
    carrierMessageId,
    to: to ?? null,
    outcome,
    error: errorId === 0 ? null : errorById(errorId).name,
  };
}

const COLUMNS: readonly Column<ReturnType<typeof shown>>[] = [
  { title: "RECEIVED", of: ({ receivedAt }) => receivedAt },
  { title: "CARRIER", of: ({ carrier }) => carrier },
  { title: "ID", of: ({ carrierMessageId }) => carrierMessageId },
  { title: "TO", of: ({ to }) => to },
  { title: "OUTCOME", of: ({ outcome }) => outcome },
  { title: "ERROR", of: ({ error }) => error ?? "" },
];

export function receiptCommand(): Command {
  const list = withExample(
    withJson(
      withStoreOptions(
        new Command("list").description(
          "Show receipts that match no message, newest first. If there are many, receiptIds of the carrier is the first thing to look at.",
        ),
      ),
    ),
    "heliograph receipt list --limit 20",
  )
    .option("--limit <number>", "how many", "50")
    .action(async (options: ListOptions) => {
      const { count, receipts } = await onStore(options, (store) => store.parkedReceipts({ limit: limitOf(options) }));
      showList(
        options,
        COLUMNS,
        receipts.map(shown),
        count === 0
          ? "Every receipt has found its message."
          : `${count} ${count === 1 ? "receipt has" : "receipts have"} found no message.`,
      );
    });
  return new Command("receipt").description("Receipts from carriers.").addCommand(list);
}
