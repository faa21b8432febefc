/** `heliograph receipt list`: receipts from carriers that match no message, for finding out why. */
import { Command } from "commander";
import { formatDateTime } from "../schedule/date-time.ts";
import { errorById } from "../sms/errors.ts";
import { type CommonOptions, limitOf, onStore, say, withStoreOptions } from "./support.ts";

interface ListOptions extends CommonOptions {
  readonly limit: string;
}

export function receiptCommand(): Command {
  const list = withStoreOptions(new Command("list").description("Show receipts that match no message, newest first."))
    .option("--limit <number>", "how many", "50")
    .action(async (options: ListOptions) => {
      const { count, receipts } = await onStore(options, (store) => store.parkedReceipts({ limit: limitOf(options) }));
      for (const { atMs, carrierId, carrierMessageId, to, outcome, errorId } of receipts) {
        const error = errorId === 0 ? "" : errorById(errorId).name;
        say([formatDateTime(atMs), carrierId, carrierMessageId, to ?? "-", outcome, error].join("  ").trimEnd());
      }
      say(
        count === 0
          ? "Every receipt has found its message."
          : `${count} ${count === 1 ? "receipt has" : "receipts have"} found no message.`,
      );
    });
  return new Command("receipt").description("Receipts from carriers.").addCommand(list);
}
