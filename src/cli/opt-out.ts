/** `heliograph opt-out add|remove NUMBER`: numbers that want no messages, of one account or of the whole service. */
import { Command } from "commander";
import { systemClock } from "../runtime/clock.ts";
import { isDestination } from "../sms/addresses.ts";
import { CommandFault, type CommonOptions, onStore, say, withStoreOptions } from "./support.ts";

interface OptOutOptions extends CommonOptions {
  readonly account?: string;
}

export function optOutCommand(): Command {
  const change = (name: "add" | "remove", description: string): Command =>
    withStoreOptions(new Command(name).description(description))
      .argument("<number>", "in international form without a plus sign")
      .option("--account <key>", "the list of one account (default: the service's own)")
      .action(async (number: string, options: OptOutOptions) => {
        if (!isDestination(number)) throw new CommandFault(`"${number}" is not a phone number of 4 to 15 digits`);
        const list = { accountKey: options.account ?? null, number };
        const done = await onStore(options, (store) =>
          name === "add" ? store.optOut({ ...list, atMs: systemClock.now() }) : store.optIn(list),
        );
        if (done === "unknown account") throw new CommandFault(`there is no account ${options.account}`);
        say(
          `${number} is ${name === "add" ? "on" : "off"} the list${options.account === undefined ? "" : ` of ${options.account}`}.`,
        );
      });
  return new Command("opt-out")
    .description("Numbers that want no messages.")
    .addCommand(change("add", "Send nothing more to a number."))
    .addCommand(change("remove", "Send to a number again."));
}
