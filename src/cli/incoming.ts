/** `heliograph incoming list`: messages from phones that no account gets, for finding out whose they are. */
import { Command } from "commander";
import { formatDateTime } from "../schedule/date-time.ts";
import { type CommonOptions, limitOf, onStore, say, withStoreOptions } from "./support.ts";

interface ListOptions extends CommonOptions {
  readonly limit: string;
}

export function incomingCommand(): Command {
  const list = withStoreOptions(
    new Command("list").description("Show messages to numbers that are nobody's, newest first."),
  )
    .option("--limit <number>", "how many", "50")
    .action(async (options: ListOptions) => {
      const { count, messages } = await onStore(options, (store) =>
        store.unmatchedIncoming({ limit: limitOf(options) }),
      );
      for (const { receivedAtMs, carrierId, from, to, text } of messages) {
        // As JSON: what a phone sent may hold line breaks, and what a terminal takes for commands.
        say([formatDateTime(receivedAtMs), carrierId, `${from} to ${to}`, JSON.stringify(text)].join("  "));
      }
      say(
        count === 0
          ? "Every message from a phone has found its account."
          : `${count} ${count === 1 ? "message was" : "messages were"} to numbers that are nobody's.`,
      );
    });
  return new Command("incoming").description("Messages from phones.").addCommand(list);
}
