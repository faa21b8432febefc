/** `heliograph receipt list`: receipts from carriers that match no message, for finding out why. */
import { Command } from "commander";
import { formatDateTime } from "../schedule/date-time.ts";
import { errorById } from "../sms/errors.ts";
import {
  CommandFault,
  type CommonOptions,
  requireData,
  say,
  settingsOf,
  withStore,
  withStoreOptions,
} from "./support.ts";

interface ListOptions extends CommonOptions {
  readonly limit: string;
}

export function receiptCommand(): Command {
  const list = withStoreOptions(new Command("list").description("Show receipts that match no message, newest first."))
    .option("--limit <number>", "how many", "50")
    .action(async (options: ListOptions) => {
      if (!/^[1-9]\d{0,3}$/.test(options.limit)) throw new CommandFault("--limit must be a number from 1 to 9999");
      const settings = settingsOf(options);
      requireData(settings);
      const { count, receipts } = await withStore(settings, (store) =>
        store.parkedReceipts({ limit: Number(options.limit) }),
      );
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
