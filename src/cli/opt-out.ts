/** `heliograph opt-out list|add|remove`: numbers that want no messages, of one account or of the whole service. */
import { Command } from "commander";
import { optOuts, setOptOut } from "../admin/opt-outs.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import { commandLine } from "./operator.ts";
import { type Column, howMany, type JsonOption, showList } from "./show.ts";
import { type CommonOptions, jsonCommand, onStore, say, storeCommand } from "./support.ts";

interface OptOutOptions extends CommonOptions, JsonOption {
  readonly account?: string;
}

const PAGE = 5_000;
const WHOSE = "the list of one account (default: the service's own)";

const COLUMNS: readonly Column<{ number: string; since: string }>[] = [
  { title: "NUMBER", of: ({ number }) => number },
  { title: "SINCE", of: ({ since }) => since },
];

export function optOutCommand(): Command {
  const list = jsonCommand("list", "Show the numbers of a list.", "heliograph opt-out list --account ACME")
    .option("--account <key>", WHOSE)
    .action(listNumbers);
  const change = (name: "add" | "remove", description: string): Command =>
    storeCommand(name, description, `heliograph opt-out ${name} 41793026727 --account ACME`)
      .argument("<number>", "in international form")
      .option("--account <key>", WHOSE)
      .action(async (written: string, options: OptOutOptions) => {
        const change = { number: written, listed: name === "add" };
        const number = await onStore(options, (store) =>
          setOptOut(store, commandLine(), options.account ?? null, change),
        );
        say(
          `${number} is ${name === "add" ? "on" : "off"} the list${options.account === undefined ? "" : ` of ${options.account}`}.`,
        );
      });
  return new Command("opt-out")
    .description("Numbers that want no messages: from one account, or from the whole service.")
    .addCommand(list)
    .addCommand(change("add", "Send nothing more to a number."))
    .addCommand(change("remove", "Send to a number again."));
}

async function listNumbers(options: OptOutOptions): Promise<void> {
  const accountKey = options.account ?? null;
  const rows = await onStore(options, async (store) => {
    const found: { number: string; since: string }[] = [];
    for (let after = ""; ; after = found.at(-1)!.number) {
      const page = await optOuts(store, commandLine(), accountKey, { after, limit: PAGE });
      found.push(...page.map(({ number, atMs }) => ({ number, since: formatDateTime(atMs) })));
      if (page.length < PAGE) return found;
    }
  });
  showList(options, COLUMNS, rows, howMany(rows.length, "number", "Nobody is on the list."));
}
